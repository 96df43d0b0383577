"""Baker's phoneme ids from pinyin with surface tones, so that the voice is tested without a text front end.

`ids("qing3 xian1-sheng1")`: a syllable ends in its tone; what stands between two of them is `-` inside
a word, a space at its end, `/` at a phrase's, `,` at a clause's.
"""

import re

import numpy as np
from numpy.typing import NDArray

SIL, EOS, NONE = 1, 218, 6
BREAKS = {"-": 2, " ": 3, "/": 4, ",": 5}
INITIALS = (
    "b", "c", "ch", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "q", "r", "s", "sh", "t", "x",
    "z", "zh"
)  # fmt: skip
FINALS = (
    "a", "ai", "an", "ang", "ao", "e", "ei", "en", "eng", "er", "i", "ia", "ian", "iang", "iao", "ie",
    "ii", "iii", "in", "ing", "iong", "iou", "o", "ong", "ou", "u", "ua", "uai", "uan", "uang", "uei",
    "uen", "ueng", "uo", "v", "van", "ve", "vn"
)  # fmt: skip
Y = {"yu": "v", "yue": "ve", "yuan": "van", "yun": "vn", "yi": "i", "yin": "in", "ying": "ing", "you": "iou"}
W = {"wu": "u", "wei": "uei", "wen": "uen"}
SHORT = {"iu": "iou", "ui": "uei", "un": "uen"}


def ids(text: str) -> NDArray[np.int64]:
    """int64 [n], silence and end mark included."""
    listed = [SIL]
    for token in re.findall(r"[a-z]+\d|[-/, ]", text):
        listed += [BREAKS[token]] if token in BREAKS else syllable(token[:-1], int(token[-1]))
    return np.array([*listed, SIL, EOS], np.int64)


def syllable(letters: str, tone: int) -> list[int]:
    initial = max((i for i in INITIALS if letters.startswith(i)), key=len, default="")
    final = letters[len(initial) :]
    if final.startswith("y"):
        final = Y.get(final, f"i{final[1:]}")
    elif final.startswith("w"):
        final = W.get(final, f"u{final[1:]}")
    elif initial and initial in "jqx" and final.startswith("u"):
        final = f"v{final[1:]}"
    elif final == "i" and initial in ("zh", "ch", "sh", "r"):
        final = "iii"
    elif final == "i" and initial in ("z", "c", "s"):
        final = "ii"
    final = SHORT.get(final, final)
    return [7 + INITIALS.index(initial) if initial else NONE, 28 + 5 * FINALS.index(final) + tone - 1]


RECEPTION = "qing3 xian1-sheng1/dao4 qian2-tai2"
"""请先生到前台"""

MEETING = (
    "ming2-tian1/shang4-wu3 shi2-dian3/qing3 da4-jia1 dao4 san1-lou2 hui4-yi4-shi4 kai1-hui4,"
    "ji4-de5 dai4-hao3 bi3-ji4-ben3 he2 shang4-yue4 bao4-gao4"
)
"""明天上午十点请大家到三楼会议室开会，记得带好笔记本和上月报告: 30 characters with the comma."""
