/* The real-time core: a ring of int16 mono frames between one writer and one reader.
 *
 * What it does: carries sound from the synth thread to the device, and reports back what the
 * device took, without a lock, an allocation or a system call on the device's side (but for
 * clock_gettime, which the vDSO answers).
 *
 * Who is who
 *   writer  exactly one thread (synth):   rt_write, rt_mark, rt_feeding, rt_skip, rt_set_gain
 *   reader  exactly one thread at a time: rt_callback (PortAudio's thread) or rt_render (a sink
 *           without PortAudio); the two are the same function underneath
 *   taker   exactly one thread (the writer's): rt_take_report, rt_read_tap
 *   anyone  rt_fill, rt_counters
 *
 * Concurrency contract. Positions are frames since creation and only grow, so they never wrap in
 * practice (64 bits) and a slot is `position & mask`.
 *   write_pos    stored by the writer with release, after the samples: a reader that sees the
 *                position (acquire) sees the samples.
 *   read_pos     stored by the reader with release, after its last look at the samples: a writer
 *                that sees the position (acquire) may overwrite them.
 *   skip_target  stored by the writer with release, after skip_fade and skip_marks; the reader
 *                loads it (acquire) BEFORE write_pos, so that target <= end always holds for it.
 *                The reader alone moves read_pos there: only the reader discards frames.
 *   feed_from    the write position from which an empty ring is an underfill, or RT_NOT_FEEDING.
 *                The reader loads it AFTER write_pos, so that a last write followed by
 *                rt_feeding(0) is never counted as an underfill on account of the order alone.
 *   ended_marks  stored by the writer with release when feeding ends: marks before that index need
 *                no frame behind them.
 *   queues       marks (writer to reader), reports and tap (reader to taker): the same pair of
 *                positions, release after the entry, acquire before it.
 *   gain         gain_ramp first, then gain_target with release; the reader keeps the gain in use
 *                to itself.
 *   counters     each has one storing thread, the reader; relaxed, single numbers for people.
 * Everything under "reader only" and "writer only" is plain memory that no other thread touches.
 */
#ifndef EDGED_RT_CORE_H
#define EDGED_RT_CORE_H

#include <stdatomic.h>
#include <stdint.h>

#define RT_PIECE_FRAMES 256u
#define RT_MARKS 1024u
#define RT_NOT_FEEDING UINT64_MAX
#define RT_CACHE_LINE 64

#if ATOMIC_LLONG_LOCK_FREE != 2
#error "64-bit atomics are not lock-free here: the audio callback would take a lock"
#endif

/* The three fields of PortAudio's PaStreamCallbackTimeInfo, so that its header is not needed. */
typedef struct rt_time_info {
    double input_adc_s;
    double current_s;
    double output_dac_s;
} rt_time_info;

/* Flag bits of PortAudio's PaStreamCallbackFlags. */
#define RT_OUTPUT_UNDERFLOW 0x4ul

typedef struct rt_report {
    int64_t tag;
    int64_t taken_ns;
    int64_t latency_ns;
} rt_report;

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

typedef struct rt_mark_entry {
    uint64_t position;
    int64_t tag;
} rt_mark_entry;

typedef struct rt_ring {
    /* constant after rt_new */
    _Alignas(RT_CACHE_LINE) int16_t *samples;
    int16_t *tap;
    uint64_t mask;
    uint64_t tap_mask;
    uint32_t capacity;
    uint32_t channels;
    uint32_t edge_frames; /* length of the slopes beside an underfill */

    /* stored by the writer */
    _Alignas(RT_CACHE_LINE) _Atomic uint64_t write_pos;
    _Atomic uint64_t mark_write;
    _Atomic uint64_t skip_target;
    _Atomic uint64_t skip_marks;
    _Atomic uint64_t ended_marks;
    _Atomic uint64_t feed_from;
    _Atomic uint32_t skip_fade;
    _Atomic uint32_t gain_ramp;
    _Atomic float gain_target;
    /* stored by the taker */
    _Atomic uint64_t report_read;
    _Atomic uint64_t tap_read;

    /* stored by the reader */
    _Alignas(RT_CACHE_LINE) _Atomic uint64_t read_pos;
    _Atomic uint64_t mark_read;
    _Atomic uint64_t report_write;
    _Atomic uint64_t tap_write;
    _Atomic uint64_t callbacks;
    _Atomic uint64_t frames_played;
    _Atomic uint64_t underfills;
    _Atomic uint64_t underfill_frames;
    _Atomic uint64_t device_underflows;
    _Atomic uint64_t skipped_frames;
    _Atomic uint64_t tap_lost_frames;
    _Atomic int64_t last_callback_ns;
    _Atomic int64_t last_sound_ns;

    /* reader only */
    _Alignas(RT_CACHE_LINE) uint64_t pos; /* frames taken so far; published as read_pos */
    float gain;
    float gain_step;
    float gain_goal;
    uint32_t gain_left;   /* frames of the gain ramp to go */
    uint32_t fade_length; /* frames of the running skip fade; 0: none runs */
    uint32_t fade_left;
    uint32_t rise_left;   /* frames of the slope up after an underfill to go */
    uint32_t fall_left;   /* frames of the slope down into an underfill to go */
    int16_t fall_from;
    int16_t last_sample;  /* before gain */
    int starved;          /* in an underfill now */
    int16_t piece[RT_PIECE_FRAMES];

    rt_mark_entry marks[RT_MARKS];
    rt_report reports[RT_MARKS];
} rt_ring;

/* NULL where memory is short or an argument is 0 (tap_frames may be 0: no tap). */
rt_ring *rt_new(uint32_t capacity_frames, uint32_t channels, uint32_t rate_hz, uint32_t tap_frames);
void rt_free(rt_ring *ring);

/* writer */
uint32_t rt_write(rt_ring *ring, const int16_t *samples, uint32_t frames); /* frames accepted */
int rt_mark(rt_ring *ring, int64_t tag); /* 0: too many marks wait */
void rt_feeding(rt_ring *ring, int on);
void rt_skip(rt_ring *ring, uint32_t fade_frames);
void rt_set_gain(rt_ring *ring, float gain, uint32_t ramp_frames);

/* taker */
int rt_take_report(rt_ring *ring, rt_report *report); /* 0: none */
uint32_t rt_read_tap(rt_ring *ring, int16_t *samples, uint32_t frames); /* frames read */

/* anyone */
uint32_t rt_fill(const rt_ring *ring);
void rt_counters(const rt_ring *ring, rt_numbers *numbers);

/* reader: PaStreamCallback; `user_data` is the ring. Always 0 (paContinue). */
int rt_callback(const void *input, void *output, unsigned long frames, const rt_time_info *time,
                unsigned long flags, void *user_data);

/* reader, without PortAudio. Returns how many frames at the start of `output` belong to an
 * utterance: what the ring gave, plus the gap where it was short in mid-utterance. */
uint32_t rt_render(rt_ring *ring, int16_t *output, uint32_t frames);

/* Message handlers that say nothing, for libasound and libjack: PortAudio looks everywhere for devices,
 * and each look would put a screen of their messages on stderr. */
void rt_alsa_silence(const char *file, int line, const char *function, int error, const char *format, ...);
void rt_jack_silence(const char *message);

#endif
