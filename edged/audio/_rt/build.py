"""Builds the C core as the extension module `edged.audio._rt_core` (cffi API mode, stable ABI).

Runs at build time only: pyproject.toml names `BuildCore` as setuptools' `build_ext` command. The
binding is generated into the build folder, so that neither sdist nor source tree carries it.
"""

from __future__ import annotations

from pathlib import Path

from cffi import FFI
from setuptools import Extension
from setuptools.command.build_ext import build_ext

MODULE = "edged.audio._rt_core"

DECLARATIONS = """
typedef struct rt_ring rt_ring;
typedef struct rt_report { int64_t tag; int64_t taken_ns; int64_t latency_ns; } rt_report;
typedef struct rt_numbers {
    uint64_t callbacks;
    uint64_t frames_played;
    uint64_t underfills;
    uint64_t underfill_frames;
    uint64_t device_underflows;
    uint64_t skipped_frames;
    uint64_t tap_lost_frames;
    int64_t last_callback_ns;
    int64_t last_sound_ns;
} rt_numbers;
typedef struct rt_time_info { double input_adc_s; double current_s; double output_dac_s; } rt_time_info;

rt_ring *rt_new(uint32_t capacity_frames, uint32_t channels, uint32_t rate_hz, uint32_t tap_frames);
void rt_free(rt_ring *ring);
uint32_t rt_write(rt_ring *ring, const int16_t *samples, uint32_t frames);
int rt_mark(rt_ring *ring, int64_t tag);
void rt_feeding(rt_ring *ring, int on);
void rt_skip(rt_ring *ring, uint32_t fade_frames);
void rt_set_gain(rt_ring *ring, float gain, uint32_t ramp_frames);
int rt_take_report(rt_ring *ring, rt_report *report);
uint32_t rt_read_tap(rt_ring *ring, int16_t *samples, uint32_t frames);
uint32_t rt_fill(const rt_ring *ring);
void rt_counters(const rt_ring *ring, rt_numbers *numbers);
int rt_callback(const void *input, void *output, unsigned long frames, const rt_time_info *time,
                unsigned long flags, void *user_data);
uint32_t rt_render(rt_ring *ring, int16_t *output, uint32_t frames);
void rt_alsa_silence(const char *file, int line, const char *function, int error, const char *format, ...);
void rt_jack_silence(const char *message);
"""


def write_binding(folder: Path) -> Path:
    """Generate the C source of the binding in `folder`; returns its path."""
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    ffi.set_source(MODULE, '#include "core.h"', py_limited_api=True)
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "_rt_core.c"
    ffi.emit_c_code(str(source))
    return source


class BuildCore(build_ext):
    """setuptools' build_ext, with the binding generated before the compiler runs."""

    def build_extension(self, ext: Extension) -> None:
        if ext.name == MODULE:
            ext.sources = [*ext.sources, str(write_binding(Path(self.build_temp)))]
        super().build_extension(ext)
