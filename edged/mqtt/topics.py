"""Every topic of this board: what we publish, obey and speak. Pure but for the defaults at the end."""

from __future__ import annotations

import hashlib
import re
import socket
import uuid
from dataclasses import dataclass
from pathlib import Path

from edged.config.model import Config, MqttConfig
from edged.mqtt import filters, hermes

_FOR_MACHINES = re.compile(
    r"homeassistant/.*|hermes/(?!tts/say$).*"
    r"|.*/(event|state|availability|stop|volume/set|voice/set|reload|probe/[^/]*)",
    re.DOTALL,
)
"""What Home Assistant, Rhasspy and every edged publish and obey. Two boards that spoke each other's
topics would answer each other's events for ever."""
_IDENTITY_FILES = (
    "etc/machine-id",
    "var/lib/dbus/machine-id",
    "proc/device-tree/serial-number",  # differs where two boards were flashed from one image
)


@dataclass(frozen=True, slots=True)
class Use:
    """What one topic is for, as people read it."""

    topic: str
    """`<base>`, `<zone>` and the like stand for what differs from board to board."""
    direction: str
    """in: listened to; out: published."""
    qos: int
    """At which it is subscribed or published."""
    retained: bool
    content: str


USES = (
    Use("<base>/say", "in", 1, False, "an announcement: text or JSON"),
    Use("<base>/say/<zone>", "in", 1, False, "the same for one zone; `all`: for every zone"),
    Use("each filter of `mqtt.topics`", "in", 1, False, "an announcement, as on `<base>/say`"),
    Use(
        "<base>/stop",
        "in",
        0,
        False,
        "empty or `all`: everything, the waiting ones too; an id, bare or as JSON",
    ),
    Use(
        "<base>/volume/set",
        "in",
        0,
        False,
        "loudness, 0 to 1; until the next start or reload that changes it",
    ),
    Use("<base>/voice/set", "in", 0, False, "name of the voice that speaks from the next announcement on"),
    Use("<base>/reload", "in", 0, False, "anything: the configuration is read again"),
    Use("<base>/availability", "out", 1, True, "`online` or `offline`; also the last will"),
    Use("<base>/state", "out", 1, True, "JSON, on change, at most once a second"),
    Use("<base>/event", "out", 1, False, "JSON, what became of each announcement, and notices"),
    Use("the response topic of a message", "out", 1, False, "MQTT 5: its events, with its correlation data"),
    Use("<prefix>/status", "in", 0, False, "Home Assistant says `online`: the description is sent again"),
    Use(
        "<prefix>/device/<device>/config",
        "out",
        1,
        True,
        "the description for Home Assistant, JSON; empty: gone",
    ),
    Use(
        "hermes/tts/say",
        "in",
        1,
        False,
        "Rhasspy, where it is on: JSON with `text`, `siteId`, `lang`, `volume`",
    ),
    Use(
        "hermes/tts/sayFinished",
        "out",
        1,
        False,
        "Rhasspy: `siteId`, `id` and `sessionId` as they were asked",
    ),
    Use("hermes/error/tts", "out", 1, False, "Rhasspy: an announcement that did not finish, with `error`"),
    Use(
        "<base>/probe/<command>", "in", 1, False, "between edged's own commands and the broker; never spoken"
    ),
)
"""Every topic there is. The reference is made from it, and the tests compare it with the traffic."""


class Topics:
    """The topics under `base`, and the filters whose messages are spoken.

    `warnings` holds one line for each filter of mqtt.topics that is left out, joined with another,
    or that takes in topics of our own; they are logged at start. `home_assistant` is its discovery
    prefix, and `hermes_say` lets `hermes/tts/say` be spoken; without them neither is listened to.
    """

    def __init__(
        self,
        node: str | None,
        config: MqttConfig,
        *,
        home_assistant: str | None = None,
        hermes_say: bool = False,
    ) -> None:
        self.node = node or default_node()
        self.base = config.base or f"edged/{self.node}"
        self.say = f"{self.base}/say"
        self.availability = f"{self.base}/availability"
        self.state = f"{self.base}/state"
        self.event = f"{self.base}/event"
        self.probe = f"{self.base}/probe"
        self._control = {
            f"{self.base}/stop": "stop",
            f"{self.base}/volume/set": "volume",
            f"{self.base}/voice/set": "voice",
            f"{self.base}/reload": "reload",
        }
        self.hub_status = f"{home_assistant}/status" if home_assistant else None
        """Where Home Assistant says `online` when it has started."""
        self._hub = f"{home_assistant}/" if home_assistant else None
        faults = {each: filters.problem(each) for each in config.topics}
        extra = [each for each in config.topics if faults[each] is None]
        self._addressed = (self.say, f"{self.say}/+", *((hermes.SAY,) if hermes_say else ()))
        self._spoken = (*self._addressed, *extra)
        self.subscribed = filters.disjoint(self._spoken)
        """Filters of what is spoken, subscribed at QoS 1; no topic matches two of them."""
        self.warnings = (
            *(f'mqtt.topics: "{each}" {fault}; left out' for each, fault in faults.items() if fault),
            *self._joined(),
            *self._own_taken_in(extra),
            *_never_spoken(extra),
        )

    @classmethod
    def of(cls, config: Config) -> Topics:
        """Those of a board that is configured so."""
        prefix = config.home_assistant.prefix if config.home_assistant.enabled else None
        return cls(config.node, config.mqtt, home_assistant=prefix, hermes_say=config.hermes.enabled)

    @property
    def control(self) -> tuple[str, ...]:
        """Topics of commands, subscribed at QoS 0."""
        return tuple(self._control)

    def control_of(self, topic: str) -> str | None:
        """Which command a topic gives: stop, volume, voice, reload."""
        return self._control.get(topic)

    def is_own(self, topic: str) -> bool:
        """A topic for machines, that is never spoken even where a configured filter matches it."""
        return (
            topic in (self.availability, self.state, self.event, self.hub_status)
            or topic in self._control
            or topic.startswith(f"{self.probe}/")
        )

    def is_addressed(self, topic: str) -> bool:
        """A message on this topic is for this board, or names the one it is for: `<base>/say`, its
        zones, and Hermes where it is on."""
        return not self.is_own(topic) and any(filters.covers(each, topic) for each in self._addressed)

    def is_for_machines(self, topic: str) -> bool:
        """Taken in by a configured filter, yet nothing for people: topics as other boards have them."""
        of_the_hub = self._hub is not None and topic.startswith(self._hub)
        return not self.is_addressed(topic) and (of_the_hub or _FOR_MACHINES.fullmatch(topic) is not None)

    def is_spoken(self, topic: str) -> bool:
        """A message on this topic is an announcement."""
        if self.is_own(topic) or self.is_for_machines(topic):
            return False
        return any(filters.covers(each, topic) for each in self._spoken)

    def zone_of(self, topic: str) -> str | None:
        """The zone named by `<base>/say/<zone>`."""
        prefix = f"{self.say}/"
        zone = topic[len(prefix) :] if topic.startswith(prefix) else ""
        return zone if zone and "/" not in zone else None

    def response_fault(self, topic: str, prefix: str) -> str | None:
        """Why no response may be published there (it would come back as speech, or stray), or None."""
        if not topic or "+" in topic or "#" in topic or "\0" in topic:
            return "it is no topic name"
        if not topic.startswith(prefix):
            return f'it does not begin with mqtt.response_prefix "{prefix}"'
        heard = (*self._spoken, *self.subscribed)
        own = self.is_own(topic) or topic.startswith(("homeassistant/", "hermes/"))
        own = own or (self._hub is not None and topic.startswith(self._hub))
        if own or any(filters.covers(each, topic) for each in heard):
            return "it is one of the topics listened to or published here"
        return None

    def _joined(self) -> list[str]:
        return [
            f'mqtt.topics: filters overlap, so "{each}" is subscribed and the rest left unspoken; '
            "make them disjoint to receive less"
            for each in self.subscribed
            if each not in self._spoken
        ]

    def _own_taken_in(self, extra: list[str]) -> list[str]:
        own = (self.availability, self.state, self.event, *self._control)
        return [
            f'mqtt.topics: "{each}" also matches {taken}, which is never spoken; narrow the filter'
            for each in extra
            if (taken := next((topic for topic in own if filters.covers(each, topic)), None))
        ]


def _never_spoken(extra: list[str]) -> list[str]:
    return [
        f'mqtt.topics: "{each}" takes topics for machines only, which are never spoken; leave it out'
        for each in extra
        if _FOR_MACHINES.fullmatch(each)
    ]


def default_node() -> str:
    """The host name, made fit for one topic level."""
    return re.sub(r"[/+#\0\s]+", "-", socket.gethostname()) or "board"


def default_client_id(node: str, root: Path = Path("/")) -> str:
    """`edged-<node>-<8 hex digits>`, the same at every start and different on every machine.

    `root` is where /etc and /proc lie. The machine id alone is equal on boards flashed from one
    image, therefore the serial number of the board goes in where there is one; a system without
    either is told by its network card.
    """
    digest = hashlib.sha256(_identity(root).encode()).hexdigest()
    return f"edged-{re.sub(r'[^A-Za-z0-9_-]+', '-', node)[:64]}-{digest[:8]}"


def device_id(base: str, root: Path = Path("/")) -> str:
    """`edged_<12 hex digits>`: this machine among all that bear its name, and this daemon of its daemons.

    A hash of its own: who knows it knows neither the machine id nor the default client id.
    """
    digest = hashlib.sha256(f"edged device {_identity(root)} {base}".encode()).hexdigest()
    return f"edged_{digest[:12]}"


def _identity(root: Path) -> str:
    return "".join(_read(root / each) for each in _IDENTITY_FILES) or f"{uuid.getnode():x}"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip("\0\n ")
    except OSError:  # one identity fewer; the others still tell
        return ""
