"""`edged say --explain --json -`: a table of texts, each with the words that are to be said."""

from __future__ import annotations

import io
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from edged.cli import main
from edged.voices import Voices
from tests.daemon.harness import STORE

# What is said, all sentences of a text together, and how many sentences there are.
CASES = {
    "Gate opens at 08:00. Bus leaves 09:05 AM, last one 17:30.": (
        2,
        "gate opens at eight o'clock bus leaves nine oh five a m last one seventeen thirty",
    ),
    "$1,249.05 is due and €1 was paid.": (
        1,
        "one thousand two hundred forty nine dollars and five cents is due and one euro was paid",
    ),
    "Outside it is -0.5 °C, freezer −18 °C.": (
        1,
        "outside it is minus zero point five degrees celsius freezer minus eighteen degrees celsius",
    ),
    "pH is 7.25. Chlorine 1.50 ppm.": (
        2,
        "p h is seven point two five chlorine one point five zero parts per million",
    ),
    "Open 9-5 Mon-Fri; follow the step-by-step guide.": (
        1,
        "open nine to five monday to friday follow the step by step guide",
    ),
    "Call 555-0142 or +1 (202) 555-0199.": (
        1,
        "call five five five zero one four two or plus one two zero two five five five zero one nine nine",
    ),
    "Mail help@example.com or see https://example.com/faq. Thanks.": (
        2,
        "mail help at example dot com or see example dot com slash f a q thanks",
    ),
    "Dr. A. Reed moved to 12 St. Mary St. at 9 a.m. today.": (
        1,
        "doctor a reed moved to twelve saint mary street at nine a m today",
    ),
    "Dinner is ready 🍕👨\u200d👩\u200d👧 👍🏽!": (1, "dinner is ready"),
    "I saw Anne II open Hall Ⅳ on the 24th.": (
        1,
        "i saw anne the second open hall four on the twenty fourth",
    ),
    "Add 1/2 cup of milk and 2 3/4 cups of flour; help is 24/7.": (
        1,
        "add one half cup of milk and two and three quarters cups of flour help is twenty four seven",
    ),
    "换成6.8平方的线": (1, "换成六点八平方的线"),
    "电量剩约15%，湿度60.5%": (1, "电量剩约百分之十五 湿度百分之六十点五"),
    "现在是１９：０５，明早7:00开会。": (1, "现在是十九点零五分 明早七点开会"),
    "今天-5~3℃，第2-4节停课，看read-only说明": (
        1,
        "今天负五到三摄氏度 第二到四节停课 看 read only 说明",
    ),
    "等一等，不对，一共一个，第一不算一点儿": (1, "等一等 不对 一共一个 第一不算一点儿"),
    "请打开App，按OK，Wi-Fi密码在USB里": (1, "请打开 app 按 o k wi fi 密码在 u s b 里"),
    "请〔\ue000〕先生（1920年生）到前台": (1, "请先生 一九二零年生 到前台"),
    'Wait <break time="500ms"/> now <prosody rate="slow">go</prosody>': (2, "wait now go"),
    "……！？。": (0, ""),
    "---": (0, ""),
}


@pytest.fixture
def explained(
    voices: Voices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[int, list[dict[str, Any]]]:
    file = tmp_path / "edged.yaml"
    file.write_text(yaml.safe_dump({"voice": {"store": str(STORE)}, "state_dir": str(tmp_path)}))
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(CASES) + "\n"))
    assert main(["say", "--config", str(file), "--explain", "--json", "-"]) == 0
    found = defaultdict(list)
    for line in capsys.readouterr().out.splitlines():
        sentence = json.loads(line)
        found[sentence.pop("line")].append(sentence)
    return found


def test_every_text_is_read_as_it_should_be(explained: dict[int, list[dict[str, Any]]]) -> None:
    for number, (text, (count, spoken)) in enumerate(CASES.items(), 1):
        assert " ".join(each["spoken"] for each in explained[number]) == spoken, text
        assert len(explained[number]) == count, text


def test_an_object_has_all_there_is_to_know(explained: dict[int, list[dict[str, Any]]]) -> None:
    keys = ["source", "spoken", "lang", "voice", "phonemes", "pinyin", "rules", "warnings"]
    by_text = dict(zip(CASES, (explained[number] for number in range(1, len(CASES) + 1)), strict=True))
    assert all(list(each) == keys for sentences in by_text.values() for each in sentences)
    (tones,) = by_text["等一等，不对，一共一个，第一不算一点儿"]
    assert tones["pinyin"] == "deng3 yi5 deng3 bu2 dui4 yi2 gong4 yi2 ge4 di4 yi1 bu2 suan4 yi4 dianr3"
    assert (tones["lang"], tones["voice"]) == ("zh", "heart")
    (unknown,) = by_text["请〔\ue000〕先生（1920年生）到前台"]
    assert "no reading for U+E000; left out" in unknown["warnings"]
    assert any("no voice for 'zh'" in warning for warning in unknown["warnings"])
    (ready,) = by_text["Dinner is ready 🍕👨\u200d👩\u200d👧 👍🏽!"]
    assert ready["phonemes"].strip()
    assert ready["warnings"] == []
