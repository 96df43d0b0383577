"""edged: speaks announcements published over MQTT on a local speaker."""

__version__ = "0.1.0"
