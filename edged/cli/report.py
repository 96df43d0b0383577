"""How an announcement's end is told on one line."""

from __future__ import annotations

from edged.types import Event


def figures(event: Event) -> str:
    """'finished: voice heart, first audio 17.2 ms, 1.43 s of sound, RTF 0.0091'."""
    parts = [
        event.reason,
        f"voice {event.voice}" if event.voice else None,
        f"first audio {event.first_audio_ms:.1f} ms" if event.first_audio_ms is not None else None,
        f"{event.audio_s:.2f} s of sound" if event.audio_s else None,
        f"RTF {event.rtf:.4f}" if event.rtf is not None else None,
    ]
    said = ", ".join(part for part in parts if part)
    return f"{event.kind.value}: {said}" if said else event.kind.value
