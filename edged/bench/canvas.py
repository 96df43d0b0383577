"""Two axes side by side in a PNG. The only file that imports matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edged.errors import EdgedError


def require() -> None:
    """Raises EdgedError with the mend where matplotlib is not installed."""
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        raise EdgedError("--plot needs matplotlib; pip install 'edged[bench]'") from None


@contextmanager
def canvas(file: Path, title: str) -> Iterator[tuple[Any, Any]]:
    """The left and the right axes to draw on; written to `file` at the end. Raises EdgedError."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
    figure.suptitle(title)
    try:
        yield left, right
        figure.savefig(file, dpi=120)
    except (OSError, ValueError) as error:
        raise EdgedError(f"{file}: {error}; name a .png file in a folder you may write to") from None
    finally:
        pyplot.close(figure)
