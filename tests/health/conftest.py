from tests.broker import broker
from tests.pulse import sound_server

__all__ = ["broker", "sound_server"]
