"""The two files of a Piper voice: found, checked and read, every fault in one line.

`<name>.onnx` is the network, `<name>.onnx.json` what its phonemes, speakers and sample rate are. Runs
at installation only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from edged.errors import VoiceError

Warn = Callable[[str], None]

ESPEAK, TEXT = "espeak", "text"
_OTHER_TYPES = {
    "pinyin": "it needs a network for Chinese characters (g2pW, 600 MB) that edged does not run",
    "hebrew": "it needs the phonemizer Nakdimon, which edged does not run",
    "japanese": "it needs the phonemizer OpenJTalk, which edged does not run",
    "thai": "it needs the phonemizer TLTK, which edged does not run",
}
_START, _PAD, _END = "^", "_", "$"
_ENGLISH, _ARABIC = "en-us", "ar"

# Of the reference implementation, for files that do not say.
_NOISE_SCALE, _LENGTH_SCALE, _NOISE_W = 0.667, 1.0, 0.8

_RATES_HZ = (8_000, 96_000)
_LARGEST_ID = 2**31 - 1
_SPEAKERS = 100_000
_NAME_CHARS = 100
_SHOWN_CHARS = 20
_LANGUAGE = re.compile("[a-z0-9]+(-[a-z0-9]+)*")
_FILE_LIMIT_BYTES = 8 << 20
"""Of the configuration; that of a voice with a thousand speakers has 50 kB."""


@dataclass(frozen=True, slots=True)
class PiperConfig:
    """What edged uses of the file."""

    file: Path
    sample_rate_hz: int
    language: str
    """As 'en-us'."""
    phoneme_type: str
    espeak_voice: str
    phoneme_ids: Mapping[str, tuple[int, ...]]
    vowel_clusters: tuple[str, ...]
    """Pairs of sounds that are one phoneme in this voice."""
    speakers: tuple[str, ...]
    """Their names in the order of their numbers; empty for one speaker."""
    default_speaker: int
    noise_scale: float
    length_scale: float
    noise_w: float


def find_network(source: Path) -> Path:
    """The network of a voice given as its file or its folder. Raises VoiceError."""
    if source.is_dir():
        found = sorted(source.glob("*.onnx"))
        if len(found) != 1:
            names = ", ".join(f.name for f in found) or "none"
            raise VoiceError(f"{source}: there must be one .onnx file in it; there is: {names}")
        return found[0]
    if source.name.endswith(".onnx.json"):
        return source.with_name(source.name.removesuffix(".json"))
    return source


def content(file: Path) -> bytes:
    """All of a file that was downloaded. Raises VoiceError when it is plainly not what it is named."""
    try:
        read = file.read_bytes()
    except FileNotFoundError as error:
        raise VoiceError(f"{file}: is missing") from error
    except OSError as error:
        raise VoiceError(f"{file}: cannot be read ({error.strerror})") from error
    head = read[:64].lstrip().lower()
    if not head:
        raise VoiceError(f"{file}: is empty; download it again")
    if head.startswith(b"version https://git-lfs"):
        raise VoiceError(f"{file}: is a Git LFS pointer, not the file itself; run 'git lfs pull' beside it")
    if head.startswith((b"<!doctype", b"<html")):
        what = "not JSON, looks like HTML" if file.suffix == ".json" else "looks like HTML, not a network"
        raise VoiceError(f"{file}: {what}; download the file itself, not its web page")
    return read


def read_config(network: Path, warn: Warn) -> PiperConfig:
    """The configuration beside a network. Raises VoiceError for what cannot be spoken or guessed."""
    file = network.with_name(network.name + ".json")
    if not file.exists():
        raise VoiceError(f"{file}: is missing; a Piper voice needs this file beside {network.name}")
    try:
        if file.stat().st_size > _FILE_LIMIT_BYTES:
            raise VoiceError(f"{file}: is larger than {_FILE_LIMIT_BYTES >> 20} MB: not the file of a voice")
        raw = json.loads(content(file))
    except OSError as error:
        raise VoiceError(f"{file}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise VoiceError(f"{file}: not JSON ({str(error).splitlines()[0]}); download it again") from error
    if not isinstance(raw, dict):
        raise VoiceError(f"{file}: not the configuration of a Piper voice (no object)")
    fields = _Fields(file, raw, warn)
    phoneme_type = fields.phoneme_type()
    espeak_voice = fields.espeak_voice() if phoneme_type == ESPEAK else ""
    speakers, default_speaker = fields.speakers()
    noise_scale, length_scale, noise_w = fields.scales()
    return PiperConfig(
        file=file,
        sample_rate_hz=fields.sample_rate_hz(),
        language=fields.language(espeak_voice),
        phoneme_type=phoneme_type,
        espeak_voice=espeak_voice,
        phoneme_ids=fields.phoneme_ids(),
        vowel_clusters=fields.vowel_clusters(),
        speakers=speakers,
        default_speaker=default_speaker,
        noise_scale=noise_scale,
        length_scale=length_scale,
        noise_w=noise_w,
    )


class _Fields:
    """Each value of the file, or the reason why there is none."""

    def __init__(self, file: Path, raw: dict[str, Any], warn: Warn) -> None:
        self._file = file
        self._raw = raw
        self._warn = warn

    def sample_rate_hz(self) -> int:
        rate = self._section("audio").get("sample_rate")
        if not _is_int(rate) or not _RATES_HZ[0] <= rate <= _RATES_HZ[1]:
            raise self._fault("audio.sample_rate", rate, f"a number from {_RATES_HZ[0]} to {_RATES_HZ[1]}")
        return rate

    def phoneme_type(self) -> str:
        value = self._raw.get("phoneme_type")
        plain = value.rpartition(".")[2].lower() if isinstance(value, str) else None
        if plain in _OTHER_TYPES:
            raise VoiceError(f"{self._file}: phoneme_type {plain} is not supported: {_OTHER_TYPES[plain]}")
        if value is None:
            self._warn(f"{self._file}: phoneme_type is missing; taken as {ESPEAK}")
            return ESPEAK
        if plain not in (ESPEAK, TEXT):
            raise self._fault("phoneme_type", value, f"{ESPEAK} or {TEXT}")
        if value != plain:
            self._warn(f"{self._file}: phoneme_type is {value!r}; taken as {plain}")
        return str(plain)

    def espeak_voice(self) -> str:
        voice = self._section("espeak").get("voice")
        if not _is_name(voice):
            raise self._fault("espeak.voice", voice, "the name of a voice of espeak, as 'en-us'")
        if voice == _ARABIC:
            self._warn(f"{self._file}: Arabic is read without the vowel signs that a text leaves out")
        return voice

    def language(self, espeak_voice: str) -> str:
        code = self._section("language").get("code")
        named = code if isinstance(code, str) and code else espeak_voice
        language = named.replace("_", "-").lower() or _ENGLISH
        if not _is_name(language) or not _LANGUAGE.fullmatch(language):
            raise self._fault("language.code", named, "a language, as 'en_US'")
        return language

    def phoneme_ids(self) -> Mapping[str, tuple[int, ...]]:
        raw = self._raw.get("phoneme_id_map")
        if not isinstance(raw, dict) or not raw:
            raise self._fault("phoneme_id_map", raw, "phonemes with their numbers")
        result = {}
        for phoneme, value in raw.items():
            if not _is_text(phoneme):
                raise VoiceError(
                    f"{self._file}: phoneme_id_map.{shown(phoneme)} is no text; download it again"
                )
            ids = value if isinstance(value, list) else [value]
            if not ids or not all(map(_is_int, ids)) or min(ids) < 0 or max(ids) > _LARGEST_ID:
                raise self._fault(f"phoneme_id_map.{shown(phoneme)}", value, "a list of numbers from 0 on")
            result[phoneme] = tuple(ids)
        for needed in (_START, _PAD, _END):
            if needed not in result:
                raise VoiceError(f"{self._file}: phoneme_id_map.{needed} is missing; every sentence needs it")
        return result

    def vowel_clusters(self) -> tuple[str, ...]:
        raw = self._raw.get("vowel_clusters") or []
        if not isinstance(raw, list):
            raise self._fault("vowel_clusters", raw, "a list")
        clusters = tuple(
            "".join(map(str, cluster)) if isinstance(cluster, list) else cluster for cluster in raw
        )
        for cluster in clusters:
            if not _is_name(cluster):
                raise self._fault("vowel_clusters", cluster, "a list of sounds")
        return clusters

    def speakers(self) -> tuple[tuple[str, ...], int]:
        count = self._raw.get("num_speakers", 1)
        named = self._raw.get("speaker_id_map") or {}
        if not _is_int(count) or not 1 <= count <= _SPEAKERS:
            raise self._fault("num_speakers", count, f"a number from 1 to {_SPEAKERS}")
        if not isinstance(named, dict) or not all(_is_int(i) and 0 <= i < count for i in named.values()):
            raise self._fault("speaker_id_map", named, f"names with numbers from 0 to {count - 1}")
        if count == 1:
            return (), 0
        names = {number: name for name, number in named.items()}
        if strange := [name for name in named if not _is_name(name)]:
            raise self._fault("speaker_id_map", strange[0], f"names of at most {_NAME_CHARS} characters")
        default = self._raw.get("default_speaker_id", 0)
        if not _is_int(default) or not 0 <= default < count:
            raise self._fault("default_speaker_id", default, f"a number from 0 to {count - 1}")
        return tuple(names.get(i, str(i)) for i in range(count)), default

    def scales(self) -> tuple[float, float, float]:
        section = self._section("inference")
        result = []
        for name, usual in (
            ("noise_scale", _NOISE_SCALE),
            ("length_scale", _LENGTH_SCALE),
            ("noise_w", _NOISE_W),
        ):
            value = section.get(name, usual)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 <= value <= 10 or (name == "length_scale" and value < 0.1):
                raise self._fault(f"inference.{name}", value, "a number from 0 to 10")
            result.append(float(value))
        return result[0], result[1], result[2]

    def _section(self, name: str) -> dict[str, Any]:
        value = self._raw.get(name, {})
        return value if isinstance(value, dict) else {}

    def _fault(self, key: str, value: object, wanted: str) -> VoiceError:
        said = "is missing" if value is None else f"is {str(value)[:40]!r}"
        return VoiceError(f"{self._file}: {key} {said}; it must be {wanted}")


def shown(phoneme: str) -> str:
    """A phoneme for a message, as it is where it fits on a line."""
    return phoneme if _is_name(phoneme) and len(phoneme) <= _SHOWN_CHARS else repr(phoneme[:_SHOWN_CHARS])


def _is_text(value: str) -> bool:
    """False where there are halves of characters in it, which JSON allows and no file."""
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _is_name(value: object) -> TypeGuard[str]:
    """Some characters on one line."""
    return isinstance(value, str) and 0 < len(value) <= _NAME_CHARS and value.isprintable()


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
