"""Chinese: normalization, readings with surface tones, phonemes of the voice zh-baker."""

from edged.text.zh.normalize import normalize

__all__ = ["normalize"]
