"""Sentences that are mostly numbers, dates, times and units: what is hardest to read. Equal at every run."""

from __future__ import annotations

import random
from collections.abc import Iterator

SEED = 20240229
CHARS = 60
TOLERANCE_CHARS = 6

TEMPLATES = {
    "en": (
        "At {hour}:{minute} PM on {month} {day}, {year}, it was -{few}.{digit} °C outside.",
        "Dr. Reed paid ${thousands}.{minute} on {month} {day} for {many} kWh of power.",
        "Flight BA{many} leaves at {hour}:{minute} from gate {few} on {month} {day}.",
        "The {few}th of {month}: {percent}% humidity, {few}-{many} km/h, {few}.{digit} °F.",
        "Call 555-{four} before {hour}:{minute} a.m., room {many}, {few} 1/2 hours.",
        "Server 192.168.{few}.{day} v{digit}.{few}.{digit} is {percent}% full, {many} GB left.",
        "CO2 is {many} ppm, the pool {few}.{digit} °C and the wind {few} m/s at {hour}:{minute}.",
        "Meter {four}{four} reads {thousands} kWh, up {percent}% since {month} {day}.",
    ),
    "zh": (
        "{year}年{number}月{day}日{hour}:{minute}，室外温度-{few}.{digit}℃，湿度{percent}%，"
        "风速{few}km/h，请您关好窗户，出门注意保暖。",
        "本月用电{many}.{digit}kWh，电费¥{thousands}.{minute}，比上月多{percent}%，"
        "请在{number}月{day}日{hour}:{minute}以前到一楼付清，谢谢大家。",
        "会议改到{number}月{day}日下午{hour}:{minute}，在{few}楼{many}室，共{few}人，"
        "联系电话138{four}{four}，请提前{few}分钟到。",
        "水池温度{few}.{digit}℃，二氧化碳{many}ppm，水位{few}~{many}cm，"
        "{hour}:{minute}开始加热，大约需要{few}.{digit}个小时，请等一等。",
        "{year}年第{few}届运动会有{thousands}人参加，{percent}%是学生，"
        "{number}月{day}日{hour}:{minute}开始，第{few}-{many}号请走东门。",
        "航班CA{many}将于{number}月{day}日{hour}:{minute}起飞，请到{few}号登机口，"
        "行李不超过{few}.{digit}kg，票价¥{thousands}，请准时。",
    ),
}
MONTHS = ("January", "March", "April", "June", "August", "October", "December")


def dense(lang: str) -> Iterator[str]:
    """Different sentences of CHARS characters, give or take TOLERANCE_CHARS, in 'en' or 'zh'."""
    source = random.Random(f"{SEED}{lang}")  # noqa: S311 (no secret)
    seen: set[str] = set()
    while True:
        for template in TEMPLATES[lang]:
            made = template.format(**_values(source))
            if abs(len(made) - CHARS) <= TOLERANCE_CHARS and made not in seen:
                seen.add(made)
                yield made


def _values(source: random.Random) -> dict[str, object]:
    return {
        "hour": source.randint(1, 12),
        "minute": f"{source.randint(1, 59):02}",
        "month": source.choice(MONTHS),
        "number": source.randint(1, 12),
        "day": source.randint(1, 28),
        "year": source.randint(1950, 2049),
        "digit": source.randint(1, 9),
        "few": source.randint(4, 20),
        "many": source.randint(101, 999),
        "four": source.randint(1000, 9999),
        "thousands": f"{source.randint(1000, 99999):,}",
        "percent": source.randint(2, 99),
    }
