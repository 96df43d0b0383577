"""The configuration: every key with its type, unit, default, bounds, and whether it is live.

A section is a frozen dataclass; a field says all about itself in its metadata, so that the loader,
the JSON Schema and `edged check` need no second list. `live` fields apply at the next utterance,
`restart` fields are read once and a reload that changes one says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

DEFAULT_ZONE = "default"
"""The zone whose sound settings are those of `audio`, and which speaks what names no zone."""


def _key(
    default: Any,
    doc: str,
    *,
    live: bool = False,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[Any, ...] | None = None,
    secret: bool = False,
    pattern: str | None = None,
    must: str | None = None,
    content: str | None = None,
) -> Any:
    """One configuration key.

    Bounds are inclusive. `pattern` is a full match on text (on every item of a list), written so
    that Python and ECMA regular expressions agree; `must` says the same in words for the user. A
    secret never appears in the `repr` of its section. `content` is the field beside a key that names a
    file, for what was read from it: compared and taken over with the key.
    """
    return field(
        default=default,
        repr=not secret,
        metadata={
            "doc": doc,
            "live": live,
            "minimum": minimum,
            "maximum": maximum,
            "choices": choices,
            "secret": secret,
            "pattern": pattern,
            "must": must,
            "content": content,
        },
    )


def _chime(priority: str) -> Any:
    return _key(
        None,
        f"Chime before announcements of priority {priority}; default: none.",
        live=True,
        pattern=r"[A-Za-z0-9][\w-]{0,39}",
        must="the name of a chime: letters, digits, - _",
    )


@dataclass(frozen=True, slots=True)
class TlsConfig:
    """Encryption of the connection to the broker."""

    enabled: bool = _key(False, "Encrypt the connection; the port then defaults to 8883.")
    ca_file: str | None = _key(None, "CA certificates in PEM; default: the system's.")
    cert_file: str | None = _key(None, "Client certificate in PEM.")
    key_file: str | None = _key(None, "Key of the client certificate in PEM.")
    insecure: bool = _key(False, "Do not check that the certificate names the broker's host.")


@dataclass(frozen=True, slots=True)
class MqttConfig:
    """The broker, the topics, and how edged signs in."""

    host: str = _key(
        "localhost",
        "Host name or address of the broker.",
        pattern=r"[^\s/@:]+|(?=[^:]*:[^:]*:)[0-9A-Fa-f:.]+(%[A-Za-z0-9_.-]+)?",
        must="a host name or an address alone, without mqtt://, user or port",
    )
    port: int | None = _key(None, "Port; default 1883, with TLS 8883.", minimum=1, maximum=65535)
    protocol: str = _key("auto", "auto tries MQTT 5 first, then 3.1.1.", choices=("auto", "5", "3.1.1"))
    client_id: str | None = _key(
        None,
        "Default: edged-<node>-<hash of the machine id>, unique per machine.",
        pattern=r".{1,128}",
        must="1 to 128 characters",
    )
    username: str | None = _key(None, "User name at the broker.")
    password: str | None = _key(
        None,
        "Password; better password_file, EDGED_MQTT_PASSWORD or the systemd credential mqtt-password.",
        secret=True,
    )
    password_file: str | None = _key(None, "File whose first line is the password.")
    keepalive_s: int = _key(30, "MQTT keep-alive.", minimum=5, maximum=3600)
    base: str | None = _key(
        None,
        "Topic under which all of edged's topics lie; default edged/<node>.",
        pattern=r"(?!\$)[^#+]*[^#+/]",
        must="a topic without # or +, not beginning with $ or ending in /",
    )
    topics: tuple[str, ...] = _key(
        (),
        "More topic filters whose messages are spoken, beside <base>/say and <base>/say/<zone>.",
        pattern=r"(?=.)(([^#+/]*|\+)/)*([^#+/]*|[+#])",
        must="a topic filter: + alone between two /, # alone at the end",
    )
    response_prefix: str = _key(
        "", "MQTT 5 response topics must begin with this; empty: any topic we do not subscribe to."
    )
    max_payload_bytes: int = _key(262144, "Larger messages are refused.", minimum=1024, maximum=16777216)
    rate_limit: float = _key(
        10.0,
        "Messages a second that one topic may bring for long; the rest is dropped and counted. Stops pass.",
        live=True,
        minimum=1,
        maximum=10000,
    )
    rate_burst: int = _key(
        200, "Messages that one topic may bring at once.", live=True, minimum=1, maximum=100000
    )
    tls: TlsConfig = field(default_factory=TlsConfig)


@dataclass(frozen=True, slots=True)
class HomeAssistantConfig:
    """This board as a device in Home Assistant, found over MQTT."""

    enabled: bool = _key(
        True, "Publish the description that Home Assistant finds the board by; off takes it away again."
    )
    prefix: str = _key(
        "homeassistant",
        "Discovery prefix, as in Home Assistant's MQTT settings.",
        pattern=r"(?!\$)[^#+]*[^#+/]",
        must="a topic without # or +, not beginning with $ or ending in /",
    )


@dataclass(frozen=True, slots=True)
class HermesConfig:
    """Rhasspy's protocol: hermes/tts/say is spoken, hermes/tts/sayFinished answers."""

    enabled: bool = _key(False, "Listen to hermes/tts/say.")
    site_id: str = _key(
        "default",
        "Only messages for this siteId are spoken.",
        pattern=r".{1,128}",
        must="1 to 128 characters",
    )


@dataclass(frozen=True, slots=True)
class AudioConfig:
    """The sound device and the way to it."""

    sink: str = _key(
        "alsa",
        "alsa: a sound device. wav: a file. stdout: raw PCM. null: silence in real time.",
        choices=("alsa", "null", "wav", "stdout"),
    )
    device: str | None = _key(
        None,
        "Name or part of the name of the sound device (never a number); default: the system's.",
        pattern=r"(?![0-9]+$).+",
        must="a name or a part of one; numbers of devices change from start to start",
    )
    wav_file: str = _key("edged.wav", "File of the wav sink.")
    rate_hz: int | None = _key(
        None, "Sample rate; default: what the device prefers.", minimum=8000, maximum=192000
    )
    channels: int | None = _key(
        None, "Channels opened; default: 1 where the device takes it, else what it has.", minimum=1, maximum=8
    )
    period_ms: int = _key(12, "Length of a period, the frame stride.", choices=(6, 12, 24))
    latency_ms: int | None = _key(
        None, "Device buffer asked for; default: the device's low latency.", minimum=5, maximum=1000
    )
    buffer_ms: int = _key(700, "Ring between synthesis and device.", minimum=200, maximum=2000)
    lead_in_ms: int = _key(
        200, "Silence before the first announcement on a device just opened.", minimum=0, maximum=3000
    )
    idle_close_s: int = _key(
        0, "Release the device after so long in silence; 0: keep it open.", minimum=0, maximum=86400
    )
    drain_limit_ms: int = _key(
        2000, "Longest wait for the last samples to leave the device.", minimum=100, maximum=10000
    )
    volume: float = _key(1.0, "Loudness, 0 to 1.", live=True, minimum=0.0, maximum=1.0)
    sentence_pause_ms: int = _key(
        180, "Exact silence between two sentences.", live=True, minimum=0, maximum=2000
    )


@dataclass(frozen=True, slots=True)
class ZoneConfig:
    """One more speaker on this board; what is not given here is as under audio."""

    name: str = ""
    """Not a key of its own: what the zone is called under `zones`."""
    sink: str = _key(
        "same", "Kind of sink; same: as under audio.", choices=("same", "alsa", "null", "wav", "stdout")
    )
    device: str | None = _key(
        None,
        "Name or part of the name of the sound device (never a number).",
        pattern=r"(?![0-9]+$).+",
        must="a name or a part of one; numbers of devices change from start to start",
    )
    wav_file: str | None = _key(None, "File of the wav sink.")
    channels: int | None = _key(None, "Channels opened; default: as under audio.", minimum=1, maximum=8)
    volume: float = _key(
        1.0, "Loudness of this zone, on top of audio.volume.", live=True, minimum=0, maximum=1
    )

    def over(self, audio: AudioConfig) -> AudioConfig:
        """The settings of `audio` with those that this zone gives."""
        return replace(
            audio,
            sink=audio.sink if self.sink == "same" else self.sink,
            device=self.device,
            wav_file=self.wav_file or str(Path(audio.wav_file).with_name(f"{self.name}.wav")),
            channels=self.channels or audio.channels,
        )


@dataclass(frozen=True, slots=True)
class ChimeConfig:
    """What sounds before an announcement: ding, dong, gong, alarm, or a WAV file of your own."""

    low: str | None = _chime("low")
    normal: str | None = _chime("normal")
    high: str | None = _chime("high")
    urgent: str | None = _chime("urgent")
    folder: str | None = _key(
        None, "Folder of your own chimes: NAME.wav, 16 bit, at most 10 s, taken before ours.", live=True
    )


@dataclass(frozen=True, slots=True)
class VoiceConfig:
    """The voice that speaks."""

    name: str = _key(
        "heart",
        "Voice that speaks when a message names none.",
        live=True,
        pattern=r"[A-Za-z0-9][\w.-]{0,79}",
        must="the name of a voice: letters, digits, - _ .",
    )
    speed: float = _key(1.0, "Pace, 0.5 slow to 2.0 fast.", live=True, minimum=0.5, maximum=2.0)
    level: str = _key(
        "auto",
        "Precision; auto: the best one of `edged voice measure` on this board, else the voice's first.",
        live=True,
        choices=("auto", "fp32", "fp16", "mixed", "int8"),
    )
    threads: int = _key(1, "onnxruntime threads, at most.", minimum=1, maximum=8)
    keep: int = _key(
        2, "Voices kept in memory, the last used ones; messages may name others.", minimum=1, maximum=8
    )
    store: str | None = _key(None, "Folder of installed voices; default <state_dir>/voices.")


@dataclass(frozen=True, slots=True)
class UserWord:
    """One entry of the user's lexicon: how a word or phrase of a language is said."""

    lang: str
    """Base language: 'en', 'zh', 'de', …"""
    word: str
    """Single spaces, NFC. In small letters it stands for any case."""
    kind: str
    """What `value` is: 'say' (other words for it), 'phonemes' (IPA) or 'pinyin' (with tones as said)."""
    value: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The user's lexicon as it was read; two are equal where their entries are."""

    digest: str = ""
    """Of the entries; '' where there are none."""
    words: tuple[UserWord, ...] = field(default=(), compare=False, repr=False)

    @staticmethod
    def of(words: Iterable[UserWord]) -> Lexicon:
        """A lexicon with its digest made."""
        kept = tuple(words)
        return Lexicon(hashlib.sha256(repr(kept).encode()).hexdigest()[:16] if kept else "", kept)


@dataclass(frozen=True, slots=True)
class TextConfig:
    """From a message's text to sentences."""

    max_chars: int = _key(20000, "Longer messages are refused.", live=True, minimum=100, maximum=1000000)
    lang: str | None = _key(
        None,
        "Language of numbers, signs and words whose script leaves it open; default: the voice's.",
        live=True,
        pattern=r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*",
        must="a language like en, zh or de-de",
    )
    first_unit_chars: int = _key(
        60,
        "A first sentence longer than this is cut at a clause, so that sound starts sooner.",
        live=True,
        minimum=20,
        maximum=400,
    )
    lexicon: str | None = _key(
        None,
        "YAML file of words and phrases that are to be read otherwise, by language; a relative name is "
        "looked for beside this file. It is read again as soon as it is saved.",
        live=True,
        content="words",
    )
    words: Lexicon = Lexicon()


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """Announcements that wait."""

    bound: int = _key(64, "Announcements waiting at most.", minimum=1, maximum=4096)
    ttl_s: float = _key(
        120.0,
        "Seconds after receipt when a message is too old to be spoken.",
        live=True,
        minimum=1,
        maximum=86400,
    )
    dedup_window_s: float = _key(
        600.0,
        "Seconds within which a second message with the same id is a duplicate.",
        live=True,
        minimum=0,
        maximum=86400,
    )
    interrupted: str = _key(
        "resume",
        "What becomes of an announcement that an urgent one interrupts.",
        live=True,
        choices=("resume", "drop"),
    )
    lost_device: str = _key(
        "repeat",
        "What becomes of an announcement that a lost sound device cut: said again whole, or failed.",
        live=True,
        choices=("repeat", "fail"),
    )


@dataclass(frozen=True, slots=True)
class CacheConfig:
    """What is kept of things said again and again: in memory, and on disk only the prerendered phrases."""

    ids_kib: int = _key(256, "Memory for texts already turned into phonemes.", minimum=0, maximum=65536)
    pcm_kib: int = _key(
        4096, "Memory for sound of short repeated announcements; 0: none.", minimum=0, maximum=262144
    )
    pcm_max_chars: int = _key(
        80, "Only announcements up to this length are kept as sound.", live=True, minimum=1, maximum=1000
    )
    phrases: tuple[str, ...] = _key(
        (),
        "Fixed announcements, rendered in idle time and kept on disk, so that they start at once.",
        live=True,
    )
    disk_mib: int = _key(32, "Disk for prerendered phrases; the longest unused go.", minimum=1, maximum=4096)


@dataclass(frozen=True, slots=True)
class PrivacyConfig:
    """What remains of an announcement after it was spoken."""

    wipe: bool = _key(
        False, "Overwrite its samples and tensors in memory, and keep no cache but the phrases you list."
    )


@dataclass(frozen=True, slots=True)
class GovernorConfig:
    """When less is asked of a board that is hot, busy or too slow, and when more again."""

    enabled: bool = _key(True, "Change precision, threads and period by what the board can bear.", live=True)
    soft_c: float = _key(
        75.0,
        "Temperature from which on one level after the other is given up.",
        live=True,
        minimum=30,
        maximum=120,
    )
    hard_c: float = _key(
        85.0,
        "Temperature at which the last level is taken at once, and later nothing is synthesized.",
        live=True,
        minimum=30,
        maximum=125,
    )
    rtf_limit: float = _key(
        0.8,
        "Synthesis time over duration of the sound, mean of a minute.",
        live=True,
        minimum=0.25,
        maximum=1,
    )
    gaps: int = _key(
        3, "Xruns and underfills within a minute that are too many.", live=True, minimum=1, maximum=1000
    )
    pressure_percent: float = _key(
        80.0,
        "Share of ten seconds in which processes wait for a processor that is too much where speech has "
        "little room; 100: never.",
        live=True,
        minimum=16,
        maximum=100,
    )
    calm_s: float = _key(
        60.0, "Time without a cause before a level is taken back.", live=True, minimum=1, maximum=86400
    )
    sysfs: str = _key("/sys", "Where thermal zones and throttling are read.")
    pressure_file: str = _key("/proc/pressure/cpu", "Where the CPU pressure is read.")


@dataclass(frozen=True, slots=True)
class ProcessConfig:
    """The process: memory, processors, priority, stopping, log."""

    memory_lock: bool = _key(True, "Keep touched memory in RAM (mlockall, MCL_ONFAULT).")
    realtime: bool = _key(True, "Ask for SCHED_FIFO for the audio thread.")
    realtime_priority: int = _key(60, "SCHED_FIFO priority of the audio thread.", minimum=1, maximum=98)
    affinity: str = _key(
        "auto",
        "Processors to run on: auto (the fast cluster, one core left to the rest), off, or a list like 2,3.",
        pattern=r"auto|off|[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*",
        must="auto, off, or processor numbers like 2,3 or 4-7",
    )
    drain_limit_s: float = _key(
        8.0, "Longest time that a stop waits for the running announcement.", live=True, minimum=0, maximum=60
    )
    log_level: str = _key(
        "info", "How much is logged.", live=True, choices=("debug", "info", "warning", "error")
    )


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration; every key is optional."""

    node: str | None = _key(
        None,
        "Name of this board in topics; default: the host name.",
        pattern=r"[^/#+]+",
        must="one topic level, without /, # or +",
    )
    profile: str | None = _key(
        None,
        "File of a board (rpi4.yaml, rpi5.yaml, rk3588.yaml, jetson.yaml or your own), beside this one: its "
        "values stand where this file gives none. Watched and taken up as this file is.",
        live=True,
    )
    state_dir: str | None = _key(
        None, "Folder for what outlives a restart; default $STATE_DIRECTORY or ~/.local/state/edged."
    )
    mqtt: MqttConfig = field(default_factory=MqttConfig)
    home_assistant: HomeAssistantConfig = field(default_factory=HomeAssistantConfig)
    hermes: HermesConfig = field(default_factory=HermesConfig)
    audio: AudioConfig = field(default_factory=AudioConfig)
    zones: tuple[ZoneConfig, ...] = field(
        default=(),
        metadata={
            "doc": "More speakers on this board, by name; audio is the one called default. A message to "
            "<base>/say/NAME is for one of them, to <base>/say/all for all.",
            "pattern": r"(?!(?:all|default)$)[A-Za-z0-9][\w-]{0,39}",
            "must": "a name of letters, digits, - and _; all and default are taken",
        },
    )
    chime: ChimeConfig = field(default_factory=ChimeConfig)
    voice: VoiceConfig = field(default_factory=VoiceConfig)
    text: TextConfig = field(default_factory=TextConfig)
    queue: QueueConfig = field(default_factory=QueueConfig)
    cache: CacheConfig = field(default_factory=CacheConfig)
    privacy: PrivacyConfig = field(default_factory=PrivacyConfig)
    governor: GovernorConfig = field(default_factory=GovernorConfig)
    process: ProcessConfig = field(default_factory=ProcessConfig)

    files: tuple[tuple[Path, tuple[int, ...]], ...] = field(default=(), compare=False, repr=False)
    """Not a key: the files that it names (profile, lexicon), each with its identity before it was read."""

    def caches(self) -> CacheConfig:
        """The caches as they are used: none in memory where what was said is wiped."""
        return replace(self.cache, ids_kib=0, pcm_kib=0) if self.privacy.wipe else self.cache

    def speakers(self) -> dict[str, AudioConfig]:
        """The sound settings of each zone by its name, the one of `audio` first."""
        return {DEFAULT_ZONE: self.audio} | {zone.name: zone.over(self.audio) for zone in self.zones}
