from tests.daemon.conftest import base, broker, start, voices

__all__ = ["base", "broker", "start", "voices"]
