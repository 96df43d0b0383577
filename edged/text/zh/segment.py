"""A stretch of Chinese characters -> words, by the most probable division.

Probability of a division: the product of the words' own. Linear in the length of the text: at each
place only the table's words that begin there are tried, and none is longer than LONGEST_WORD.
"""

from __future__ import annotations

from edged.text.zh.table import LONGEST_WORD, Table, Word

_NEVER = 1 << 40


def segment(table: Table, text: str, longest: int = LONGEST_WORD) -> list[Word]:
    """Words of at most `longest` characters that make up `text`; every character is in the table.

    With `longest` one less than a word's length: the inner structure of that word.
    """
    costs = [0] + [_NEVER] * len(text)
    last: list[Word | None] = [None] * (len(text) + 1)
    for start in range(len(text)):
        for key in table.words_from(text, start):
            word = table.word(key)
            end = start + len(key)
            if word is not None and len(key) <= longest and costs[start] + word.cost < costs[end]:
                costs[end] = costs[start] + word.cost
                last[end] = word
    words: list[Word] = []
    end = len(text)
    while end and (word := last[end]) is not None:
        words.append(word)
        end -= len(word.text)
    words.reverse()
    return words
