/* See core.h for the threads and the memory ordering. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOAD_RELAXED(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define LOAD_ACQUIRE(x) atomic_load_explicit(&(x), memory_order_acquire)
#define STORE_RELAXED(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define STORE_RELEASE(x, v) atomic_store_explicit(&(x), (v), memory_order_release)
/* One storing thread per counter, so a load and a store do what a locked add would. */
#define COUNT(x, n) STORE_RELAXED(x, LOAD_RELAXED(x) + (n))

static uint32_t lesser(uint32_t a, uint64_t b) {
    return b < a ? (uint32_t)b : a;
}

static uint64_t power_of_two(uint64_t at_least) {
    uint64_t size = 1;
    while (size < at_least) size <<= 1;
    return size;
}

/* Written to, not only reserved: a page fault must not happen on the audio thread. */
static void *touched(size_t bytes) {
    size_t whole = (bytes + RT_CACHE_LINE - 1) / RT_CACHE_LINE * RT_CACHE_LINE;
    void *memory = aligned_alloc(RT_CACHE_LINE, whole);
    if (memory) memset(memory, 0, whole);
    return memory;
}

rt_ring *rt_new(uint32_t capacity_frames, uint32_t channels, uint32_t rate_hz, uint32_t tap_frames) {
    if (!capacity_frames || !channels || !rate_hz) return NULL;
    rt_ring *ring = touched(sizeof *ring);
    if (!ring) return NULL;
    uint64_t size = power_of_two(capacity_frames);
    uint64_t tap_size = tap_frames ? power_of_two(tap_frames) : 0;
    ring->samples = touched(size * sizeof(int16_t));
    ring->tap = tap_size ? touched(tap_size * sizeof(int16_t)) : NULL;
    if (!ring->samples || (tap_size && !ring->tap)) {
        rt_free(ring);
        return NULL;
    }
    ring->mask = size - 1;
    ring->tap_mask = tap_size ? tap_size - 1 : 0;
    ring->capacity = capacity_frames;
    ring->channels = channels;
    ring->edge_frames = rate_hz / 500; /* 2 ms: no click, and shorter than any period */
    ring->gain = ring->gain_goal = 1.0f;
    STORE_RELAXED(ring->gain_target, 1.0f);
    STORE_RELAXED(ring->feed_from, RT_NOT_FEEDING);
    return ring;
}

void rt_free(rt_ring *ring) {
    if (!ring) return;
    free(ring->samples);
    free(ring->tap);
    free(ring);
}

/* Copies into a circular buffer of mask + 1 samples at a position, and out of one. */
static void copy_in(int16_t *buffer, uint64_t mask, uint64_t at, const int16_t *from, uint32_t frames) {
    uint64_t slot = at & mask;
    uint32_t first = lesser(frames, mask + 1 - slot);
    memcpy(buffer + slot, from, first * sizeof(int16_t));
    memcpy(buffer, from + first, (frames - first) * sizeof(int16_t));
}

static void copy_out(const int16_t *buffer, uint64_t mask, uint64_t at, int16_t *to, uint32_t frames) {
    uint64_t slot = at & mask;
    uint32_t first = lesser(frames, mask + 1 - slot);
    memcpy(to, buffer + slot, first * sizeof(int16_t));
    memcpy(to + first, buffer, (frames - first) * sizeof(int16_t));
}

/* What was played or skipped does not stay in memory: a few hundred frames a block, at most the ring. */
static void wipe(rt_ring *ring, uint64_t from, uint64_t to) {
    uint64_t slot = from & ring->mask;
    uint32_t frames = lesser(ring->capacity, to - from);
    uint32_t first = lesser(frames, ring->mask + 1 - slot);
    memset(ring->samples + slot, 0, first * sizeof(int16_t));
    memset(ring->samples, 0, (frames - first) * sizeof(int16_t));
}

/* ---- writer ---------------------------------------------------------------------------- */

uint32_t rt_write(rt_ring *ring, const int16_t *samples, uint32_t frames) {
    uint64_t at = LOAD_RELAXED(ring->write_pos);
    uint64_t room = ring->capacity - (at - LOAD_ACQUIRE(ring->read_pos));
    uint32_t accepted = lesser(frames, room);
    if (!accepted) return 0;
    copy_in(ring->samples, ring->mask, at, samples, accepted);
    STORE_RELEASE(ring->write_pos, at + accepted);
    return accepted;
}

int rt_mark(rt_ring *ring, int64_t tag) {
    uint64_t entry = LOAD_RELAXED(ring->mark_write);
    if (entry - LOAD_ACQUIRE(ring->mark_read) >= RT_MARKS) return 0;
    rt_mark_entry *mark = &ring->marks[entry % RT_MARKS];
    mark->position = LOAD_RELAXED(ring->write_pos);
    mark->tag = tag;
    STORE_RELEASE(ring->mark_write, entry + 1);
    return 1;
}

void rt_feeding(rt_ring *ring, int on) {
    if (!on) {
        STORE_RELEASE(ring->feed_from, RT_NOT_FEEDING);
        STORE_RELEASE(ring->ended_marks, LOAD_RELAXED(ring->mark_write));
    } else if (LOAD_RELAXED(ring->feed_from) == RT_NOT_FEEDING) {
        STORE_RELEASE(ring->feed_from, LOAD_RELAXED(ring->write_pos));
    }
}

void rt_skip(rt_ring *ring, uint32_t fade_frames) {
    rt_feeding(ring, 0); /* what is cut ends here: the empty ring that follows is no underfill */
    STORE_RELAXED(ring->skip_fade, fade_frames);
    STORE_RELAXED(ring->skip_marks, LOAD_RELAXED(ring->mark_write));
    STORE_RELEASE(ring->skip_target, LOAD_RELAXED(ring->write_pos));
}

void rt_set_gain(rt_ring *ring, float gain, uint32_t ramp_frames) {
    float bounded = gain > 1.0f ? 1.0f : gain > 0.0f ? gain : 0.0f; /* NaN becomes 0 */
    STORE_RELAXED(ring->gain_ramp, ramp_frames);
    STORE_RELEASE(ring->gain_target, bounded);
}

/* ---- taker ------------------------------------------------------------------------------ */

int rt_take_report(rt_ring *ring, rt_report *report) {
    uint64_t entry = LOAD_RELAXED(ring->report_read);
    if (entry == LOAD_ACQUIRE(ring->report_write)) return 0;
    *report = ring->reports[entry % RT_MARKS];
    STORE_RELEASE(ring->report_read, entry + 1);
    return 1;
}

uint32_t rt_read_tap(rt_ring *ring, int16_t *samples, uint32_t frames) {
    uint64_t at = LOAD_RELAXED(ring->tap_read);
    uint32_t count = lesser(frames, LOAD_ACQUIRE(ring->tap_write) - at);
    if (!count) return 0;
    copy_out(ring->tap, ring->tap_mask, at, samples, count);
    STORE_RELEASE(ring->tap_read, at + count);
    return count;
}

/* ---- anyone ----------------------------------------------------------------------------- */

uint32_t rt_fill(const rt_ring *ring) {
    uint64_t read = LOAD_ACQUIRE(ring->read_pos); /* first: the fill is never negative */
    return lesser(ring->capacity, LOAD_ACQUIRE(ring->write_pos) - read);
}

void rt_counters(const rt_ring *ring, rt_numbers *numbers) {
    numbers->callbacks = LOAD_RELAXED(ring->callbacks);
    numbers->frames_played = LOAD_RELAXED(ring->frames_played);
    numbers->underfills = LOAD_RELAXED(ring->underfills);
    numbers->underfill_frames = LOAD_RELAXED(ring->underfill_frames);
    numbers->device_underflows = LOAD_RELAXED(ring->device_underflows);
    numbers->skipped_frames = LOAD_RELAXED(ring->skipped_frames);
    numbers->tap_lost_frames = LOAD_RELAXED(ring->tap_lost_frames);
    numbers->last_callback_ns = LOAD_RELAXED(ring->last_callback_ns);
    numbers->last_sound_ns = LOAD_RELAXED(ring->last_sound_ns);
}

/* ---- reader ----------------------------------------------------------------------------- */

/* What the writer had said when the block began; fixed for the block. */
typedef struct view {
    uint64_t target; /* frames before it are to be discarded */
    uint64_t end;    /* frames before it are written */
    uint64_t feed_from;
} view;

static void tap(rt_ring *ring, const int16_t *samples, uint32_t frames) {
    if (!ring->tap) return;
    uint64_t at = LOAD_RELAXED(ring->tap_write);
    uint64_t room = ring->tap_mask + 1 - (at - LOAD_ACQUIRE(ring->tap_read));
    uint32_t kept = lesser(frames, room);
    copy_in(ring->tap, ring->tap_mask, at, samples, kept);
    STORE_RELEASE(ring->tap_write, at + kept);
    if (kept < frames) COUNT(ring->tap_lost_frames, frames - kept);
}

static void take(rt_ring *ring, int16_t *out, uint32_t frames) {
    copy_out(ring->samples, ring->mask, ring->pos, out, frames);
    tap(ring, out, frames);
    ring->pos += frames;
    COUNT(ring->frames_played, frames);
}

/* Plays the fade of a skip, then jumps to its target. Returns the frames given. */
static uint32_t skip(rt_ring *ring, const view *now, int16_t *out, uint32_t frames) {
    if (!ring->fade_length) {
        ring->fade_length = lesser(LOAD_RELAXED(ring->skip_fade), now->target - ring->pos);
        ring->fade_left = ring->fade_length;
        ring->rise_left = 0;
        ring->starved = 0;
    }
    uint32_t given = lesser(frames, ring->fade_left);
    take(ring, out, given);
    for (uint32_t i = 0; i < given; i++) {
        float factor = (float)(ring->fade_left - i) / (float)(ring->fade_length + 1);
        out[i] = (int16_t)lrintf((float)out[i] * factor);
    }
    ring->fade_left -= given;
    if (!ring->fade_left) {
        ring->fade_length = 0;
        COUNT(ring->skipped_frames, now->target - ring->pos);
        ring->pos = now->target;
    }
    return given;
}

/* Slope up where sound comes back after an underfill; elsewhere samples are left as they are. */
static void rise(rt_ring *ring, int16_t *out, uint32_t frames) {
    for (uint32_t i = 0; i < frames && ring->rise_left; i++, ring->rise_left--) {
        float factor = 1.0f - (float)ring->rise_left / (float)(ring->edge_frames + 1);
        out[i] = (int16_t)lrintf((float)out[i] * factor);
    }
}

/* Fills what the ring could not give. In mid-utterance the last sample slopes down to zero. */
static void starve(rt_ring *ring, const view *now, int16_t *out, uint32_t frames) {
    memset(out, 0, frames * sizeof(int16_t));
    if (now->feed_from == RT_NOT_FEEDING || ring->pos <= now->feed_from) {
        ring->starved = 0;
        ring->rise_left = 0;
        return;
    }
    if (!ring->starved) {
        ring->starved = 1;
        ring->fall_from = ring->last_sample;
        ring->fall_left = ring->edge_frames;
        COUNT(ring->underfills, 1);
    }
    COUNT(ring->underfill_frames, frames);
    for (uint32_t i = 0; i < frames && ring->fall_left; i++, ring->fall_left--) {
        float factor = (float)ring->fall_left / (float)(ring->edge_frames + 1);
        out[i] = (int16_t)lrintf((float)ring->fall_from * factor);
    }
}

/* Fills `out`; returns the frames that came from the ring, all of them before the others. */
static uint32_t fill(rt_ring *ring, const view *now, int16_t *out, uint32_t frames) {
    uint32_t given = 0;
    if (now->target > ring->pos) given = skip(ring, now, out, frames);
    uint32_t more = ring->fade_length ? 0 : lesser(frames - given, now->end - ring->pos);
    if (more) {
        if (ring->starved) {
            ring->starved = 0;
            ring->rise_left = ring->edge_frames;
        }
        take(ring, out + given, more);
        rise(ring, out + given, more);
        given += more;
    }
    if (given) ring->last_sample = out[given - 1];
    if (given < frames) starve(ring, now, out + given, frames - given);
    return given;
}

static void amplify(rt_ring *ring, int16_t *out, uint32_t frames) {
    float target = LOAD_ACQUIRE(ring->gain_target);
    if (target != ring->gain_goal) {
        ring->gain_goal = target;
        ring->gain_left = LOAD_RELAXED(ring->gain_ramp);
        ring->gain_step = ring->gain_left ? (target - ring->gain) / (float)ring->gain_left : 0.0f;
    }
    if (!ring->gain_left) ring->gain = ring->gain_goal;
    if (!ring->gain_left && ring->gain == 1.0f) return; /* every bit as written */
    for (uint32_t i = 0; i < frames; i++) {
        if (ring->gain_left) {
            ring->gain += ring->gain_step;
            if (!--ring->gain_left) ring->gain = ring->gain_goal;
        }
        out[i] = (int16_t)lrintf((float)out[i] * ring->gain);
    }
}

/* Mono to the first two channels, zeros to the others. */
static void spread(const rt_ring *ring, int16_t *out, const int16_t *mono, uint32_t frames) {
    uint32_t channels = ring->channels;
    if (channels == 1) {
        memcpy(out, mono, frames * sizeof(int16_t));
        return;
    }
    if (channels > 2) memset(out, 0, (size_t)frames * channels * sizeof(int16_t));
    for (uint32_t i = 0; i < frames; i++, out += channels) out[0] = out[1] = mono[i];
}

/* Reports the marks whose frame was taken, and those at the end of what was fed once it is reached;
 * those from before a skip vanish. A full report queue keeps the rest for the next block. */
static void report(rt_ring *ring, int64_t now_ns, int64_t latency_ns) {
    uint64_t entry = LOAD_RELAXED(ring->mark_read);
    uint64_t end = LOAD_ACQUIRE(ring->mark_write);
    uint64_t written = LOAD_RELAXED(ring->report_write);
    uint64_t first_kept = LOAD_RELAXED(ring->skip_marks);
    uint64_t ended = LOAD_ACQUIRE(ring->ended_marks);
    for (; entry < end; entry++) {
        const rt_mark_entry *mark = &ring->marks[entry % RT_MARKS];
        if (entry < first_kept) continue;
        if (mark->position > ring->pos || (mark->position == ring->pos && entry >= ended)) break;
        if (written - LOAD_ACQUIRE(ring->report_read) >= RT_MARKS) break;
        ring->reports[written++ % RT_MARKS] = (rt_report){mark->tag, now_ns, latency_ns};
    }
    STORE_RELEASE(ring->report_write, written);
    STORE_RELEASE(ring->mark_read, entry);
}

static int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint32_t block(rt_ring *ring, int16_t *out, uint32_t frames, int64_t latency_ns) {
    int64_t now_ns = monotonic_ns();
    view now;
    now.target = LOAD_ACQUIRE(ring->skip_target); /* the order of these three: see core.h */
    now.end = LOAD_ACQUIRE(ring->write_pos);
    now.feed_from = LOAD_ACQUIRE(ring->feed_from);
    uint32_t sounding = 0;
    for (uint32_t done = 0; done < frames;) {
        uint32_t count = lesser(frames - done, RT_PIECE_FRAMES);
        uint32_t given = fill(ring, &now, ring->piece, count);
        sounding += ring->starved ? count : given;
        amplify(ring, ring->piece, count);
        spread(ring, out + (size_t)done * ring->channels, ring->piece, count);
        done += count;
    }
    wipe(ring, LOAD_RELAXED(ring->read_pos), ring->pos);
    STORE_RELEASE(ring->read_pos, ring->pos);
    report(ring, now_ns, latency_ns);
    STORE_RELAXED(ring->last_callback_ns, now_ns);
    if (sounding) STORE_RELAXED(ring->last_sound_ns, now_ns);
    COUNT(ring->callbacks, 1);
    return sounding;
}

int rt_callback(const void *input, void *output, unsigned long frames, const rt_time_info *time,
                unsigned long flags, void *user_data) {
    (void)input;
    rt_ring *ring = user_data;
    double latency_s = time ? time->output_dac_s - time->current_s : 0.0;
    /* Hosts without a clock say 0 or nonsense; one minute is nonsense too. */
    int64_t latency_ns = latency_s > 0.0 && latency_s < 60.0 ? (int64_t)(latency_s * 1e9) : 0;
    if (flags & RT_OUTPUT_UNDERFLOW) COUNT(ring->device_underflows, 1);
    block(ring, output, (uint32_t)frames, latency_ns);
    return 0;
}

uint32_t rt_render(rt_ring *ring, int16_t *output, uint32_t frames) {
    return block(ring, output, frames, 0);
}

void rt_alsa_silence(const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file;
    (void)line;
    (void)function;
    (void)error;
    (void)format;
}

void rt_jack_silence(const char *message) {
    (void)message;
}
