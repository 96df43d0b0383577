"""Chinese announcements of a wanted length, all different, the same ones at every run."""

from __future__ import annotations

import random
from collections.abc import Iterator

SUBJECTS = (
    "洗衣机",
    "厨房的门",
    "电饭煲",
    "晚饭",
    "车库的门",
    "洗碗机",
    "您叫的出租车",
    "热水壶",
    "客厅的窗户",
    "今天的报纸",
    "烘干机",
    "地下室的暖气",
    "水泵",
    "学校的班车",
    "卧室的灯",
    "打印机",
    "您的包裹",
    "三楼的会议室",
)
PREDICATES = (
    "已经准备好了",
    "刚刚结束",
    "又打开了",
    "需要检查一下",
    "还在运行",
    "提前停了",
    "马上就到",
    "已经关掉了",
    "等了很久",
    "温度太高",
    "暂时连不上",
    "十分钟以后开始",
)
TAILS = ("", "请到楼下看一看", "请大家注意", "请记得带好钥匙", "不用着急", "明天上午再说", "请把它收起来")
PAUSE, STOP = "，", "。"


def sentence(chars: int, tolerance_chars: int, source: random.Random) -> str:
    """Clauses with pauses between them, at most `tolerance_chars` shorter than `chars`, signs counted."""
    while True:
        clauses: list[str] = []
        while len(made := PAUSE.join(clauses) + STOP) < chars - tolerance_chars:
            tail = source.choice(TAILS)
            clauses += [source.choice(SUBJECTS) + source.choice(PREDICATES), *([tail] if tail else [])]
        if len(made) <= chars:
            return made


def sentences(chars: int, tolerance_chars: int, source: random.Random) -> Iterator[str]:
    """Different ones for ever; `chars` of at least 20."""
    seen: set[str] = set()
    while True:
        made = sentence(chars, tolerance_chars, source)
        if made not in seen:
            seen.add(made)
            yield made
