"""Whether what stands under a file name may have changed, told by the file system alone."""

from __future__ import annotations

import os
from pathlib import Path

Identity = tuple[int, ...]


def identity(path: str | Path) -> Identity:
    """Differs whenever what stands there may have changed; () where nothing does.

    Of a folder only which one it is, for its times change with every file in it. Of a file also its
    size and times, the inode's own included, which no program can set back.
    """
    try:
        found = os.stat(path)
    except OSError:
        return ()
    if os.path.isdir(path):
        return (found.st_dev, found.st_ino)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
