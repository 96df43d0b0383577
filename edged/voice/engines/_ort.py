"""The only door to onnxruntime: networks optimised once at installation, mapped and run afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import onnxruntime
from numpy.typing import NDArray

from edged.errors import VoiceError

_NOTHING_FREE_BYTES = 1 << 20
_ERROR = 3  # onnxruntime's severity: nothing below an error is written to stderr


class Network:
    """One loaded ONNX graph, called with its inputs by name. Used by one thread at a time."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        """Raises VoiceError for a file that does not load."""
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), _options(threads), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's exceptions have no common base but this
            raise VoiceError(
                f"{path}: does not load ({_first_line(error)}); install the voice again"
            ) from error
        self._path = path
        self.inputs: dict[str, list[int | str]] = {i.name: i.shape for i in self._session.get_inputs()}
        """Sizes by name; a string where the size varies from call to call."""

    def __call__(self, **inputs: NDArray[Any]) -> list[NDArray[Any]]:
        """Outputs in the order of the graph. Raises VoiceError when the graph does not run."""
        try:
            return list(self._session.run(None, inputs))
        except Exception as error:
            raise VoiceError(f"{self._path}: does not run ({_first_line(error)})") from error


def optimise(source: Path, target: Path) -> None:
    """Write `source` optimised to `target`, its weights beside it in `<target>.data`.

    The level is EXTENDED: it fuses operators, in a form that every CPU runs. ENABLE_ALL would add
    layouts blocked for the CPU at hand, and a card is moved from board to board; it brought nothing
    here (x86-64, AVX-512: 8.5 ms against 8.8 ms). Raises VoiceError.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERROR
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    options.add_session_config_entry(
        "session.optimized_model_external_initializers_file_name", f"{target.name}.data"
    )
    options.add_session_config_entry(
        "session.optimized_model_external_initializers_min_size_in_bytes", "1024"
    )
    try:
        onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common base but this
        free_bytes = shutil.disk_usage(target.parent).free
        reason = "the disk is full" if free_bytes < _NOTHING_FREE_BYTES else _first_line(error)
        raise VoiceError(f"{target.name}: cannot be optimised ({reason})") from error


def version() -> str:
    """The version of onnxruntime in use."""
    return str(onnxruntime.__version__)


def _options(threads: int) -> Any:
    """Session options for graphs that were optimised offline, with their weights in a mapped file.

    Arena and memory pattern off: lengths differ from call to call, an arena would keep the largest.
    Spinning off: the other cores belong to the board. Prepacking stays on: it is worth half of the
    first-audio time.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERROR
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
