"""A whole machine in qemu: real systemd, real ALSA, a real broker. `python3 -m tests.board`.

No part of the everyday suite: it takes minutes and emulates a processor. See `__main__`.
"""
