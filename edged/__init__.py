"""edged: speaks announcements published over MQTT on a local speaker."""

import os

__version__ = "0.1.0"

# The official builds of onnxruntime send usage data to their maker unless this is set before they
# are loaded. Here, because several of our libraries load it; nothing leaves the board.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
