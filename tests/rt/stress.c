/* Two threads on one ring: a writer (which also takes the reports) and a reader, with random block
 * sizes. The samples are a counter, so that a lost, doubled or reordered frame shows at the reader.
 *
 *   stress SECONDS SEED
 *
 * Exit 0: all held. Built by test_stress.py with the thread and the address sanitizer.
 */
#define _POSIX_C_SOURCE 200809L

#include "core.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CAPACITY 3000u
#define BLOCK 700u
#define CHANNELS 2u
#define CHECK(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef struct shared {
    rt_ring *ring;
    _Atomic int stop;
    double seconds;
    unsigned seed;
} shared;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint32_t below(unsigned *seed, uint32_t limit) {
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % limit;
}

/* 1, 2, ... 30000, 1, ...: never 0, so that a gap is not a sample. */
static int16_t sample_at(uint64_t position) {
    return (int16_t)(position % 30000 + 1);
}

static int16_t after(int16_t sample) {
    return (int16_t)(sample % 30000 + 1);
}

static void *reader(void *argument) {
    shared *s = argument;
    unsigned seed = s->seed ^ 0x5bd1e995u;
    int16_t block[BLOCK * CHANNELS];
    rt_time_info time = {0.0, 1.0, 1.25};
    int16_t last = 0;
    uint64_t seen = 0;
    while (!s->stop) {
        uint32_t frames = 1 + below(&seed, BLOCK);
        rt_callback(NULL, block, frames, &time, 0, s->ring);
        for (uint32_t i = 0; i < frames; i++) {
            CHECK(block[2 * i] == block[2 * i + 1], "left %d, right %d", block[2 * i], block[2 * i + 1]);
            if (!block[2 * i]) continue;
            CHECK(!seen || block[2 * i] == after(last), "%d follows %d after %llu frames", block[2 * i], last,
                  (unsigned long long)seen);
            last = block[2 * i];
            seen++;
        }
        if (!below(&seed, 8)) nanosleep(&(struct timespec){0, 50000}, NULL);
    }
    return (void *)(uintptr_t)seen;
}

/* Every mark comes back once, in order, with the latency that the device said. */
static void take_reports(rt_ring *ring, int64_t *expected, int64_t marks) {
    rt_report report;
    while (rt_take_report(ring, &report)) {
        CHECK(report.tag == *expected, "mark %lld, not %lld", (long long)report.tag, (long long)*expected);
        CHECK(report.latency_ns == 250000000, "latency %lld", (long long)report.latency_ns);
        ++*expected;
    }
    CHECK(*expected <= marks, "a mark that was never set");
}

static uint64_t take_tap(rt_ring *ring, uint64_t from) {
    int16_t tapped[CAPACITY];
    uint32_t count = rt_read_tap(ring, tapped, CAPACITY);
    for (uint32_t i = 0; i < count; i++)
        CHECK(tapped[i] == sample_at(from + i), "tap %d at %llu", tapped[i], (unsigned long long)(from + i));
    return from + count;
}

/* Nothing but writing: here the ring's own two positions must order all there is. */
static void plain(shared *s) {
    unsigned seed = s->seed;
    int16_t block[BLOCK];
    uint64_t written = 0;
    double end_s = now_s() + s->seconds / 2;
    while (now_s() < end_s) {
        uint32_t frames = 1 + below(&seed, BLOCK);
        for (uint32_t i = 0; i < frames; i++) block[i] = sample_at(written + i);
        written += rt_write(s->ring, block, frames);
    }
    printf("plain: %llu frames\n", (unsigned long long)written);
}

/* Streaming: nothing is lost between writer, ear and tap. */
static void stream(shared *s) {
    unsigned seed = s->seed;
    int16_t block[BLOCK];
    uint64_t written = 0, tapped = 0;
    int64_t marks = 0, expected = 0;
    double end_s = now_s() + s->seconds;
    while (now_s() < end_s) {
        uint32_t frames = 1 + below(&seed, BLOCK);
        for (uint32_t i = 0; i < frames; i++) block[i] = sample_at(written + i);
        if (!below(&seed, 3)) marks += rt_mark(s->ring, marks);
        uint32_t accepted = rt_write(s->ring, block, frames);
        CHECK(accepted <= frames && rt_fill(s->ring) <= CAPACITY, "accepted %u", accepted);
        written += accepted;
        take_reports(s->ring, &expected, marks);
        tapped = take_tap(s->ring, tapped);
        if (!accepted) nanosleep(&(struct timespec){0, 20000}, NULL);
    }
    rt_feeding(s->ring, 1);
    rt_feeding(s->ring, 0); /* ends what was fed: marks behind the last frame come, too */
    end_s = now_s() + 10.0;
    while ((tapped < written || expected < marks) && now_s() < end_s) {
        take_reports(s->ring, &expected, marks);
        tapped = take_tap(s->ring, tapped);
    }
    rt_numbers numbers;
    rt_counters(s->ring, &numbers);
    CHECK(tapped == written, "%llu of %llu at the tap", (unsigned long long)tapped, (unsigned long long)written);
    CHECK(expected == marks, "%lld of %lld marks", (long long)expected, (long long)marks);
    CHECK(!numbers.tap_lost_frames && !numbers.skipped_frames, "lost in the tap or skipped");
    printf("stream: %llu frames, %lld marks, %llu callbacks\n", (unsigned long long)written, (long long)marks,
           (unsigned long long)numbers.callbacks);
}

static void *cutter(void *argument) {
    shared *s = argument;
    unsigned seed = s->seed;
    int16_t block[BLOCK];
    uint64_t cuts = 0;
    double end_s = now_s() + s->seconds;
    while (now_s() < end_s) {
        int16_t loud = (int16_t)(1000 + cuts % 1000);
        for (uint32_t i = 0; i < BLOCK; i++) block[i] = loud;
        rt_feeding(s->ring, 1);
        for (uint32_t blocks = below(&seed, 6); blocks; blocks--) {
            rt_mark(s->ring, (int64_t)cuts);
            rt_write(s->ring, block, 1 + below(&seed, BLOCK));
        }
        rt_set_gain(s->ring, (float)below(&seed, 5) / 4.0f, below(&seed, 400));
        rt_skip(s->ring, below(&seed, 300));
        cuts++;
        rt_report report;
        while (rt_take_report(s->ring, &report))
            CHECK(report.tag >= 0 && report.tag < (int64_t)cuts, "tag %lld", (long long)report.tag);
        if (!below(&seed, 4)) nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    s->stop = 1;
    return (void *)(uintptr_t)cuts;
}

/* Cutting: the reader discards under the writer's hands; what is heard never exceeds what was written. */
static void cut(shared *s) {
    pthread_t thread;
    unsigned seed = s->seed ^ 0x1234567u;
    int16_t block[BLOCK * CHANNELS];
    void *cuts;
    s->stop = 0;
    pthread_create(&thread, NULL, cutter, s);
    while (!s->stop) {
        uint32_t frames = 1 + below(&seed, BLOCK);
        uint32_t sounding = 0;
        if (below(&seed, 2))
            rt_callback(NULL, block, frames, NULL, RT_OUTPUT_UNDERFLOW, s->ring);
        else
            sounding = rt_render(s->ring, block, frames);
        CHECK(sounding <= frames, "%u of %u", sounding, frames);
        for (uint32_t i = 0; i < frames * CHANNELS; i++)
            CHECK(block[i] >= 0 && block[i] < 2000, "sample %d", block[i]);
    }
    pthread_join(thread, &cuts);
    rt_render(s->ring, block, 1); /* starts the fade of the last cut */
    for (int i = 0; i < 5; i++) rt_render(s->ring, block, BLOCK);
    CHECK(rt_fill(s->ring) == 0, "%u frames after the last cut", rt_fill(s->ring));
    for (uint32_t i = 0; i < BLOCK * CHANNELS; i++) CHECK(block[i] == 0, "sample %d in silence", block[i]);
    rt_numbers numbers;
    rt_counters(s->ring, &numbers);
    CHECK(numbers.device_underflows > 0, "no underflow counted");
    printf("cut: %llu cuts, %llu frames skipped\n", (unsigned long long)(uintptr_t)cuts,
           (unsigned long long)numbers.skipped_frames);
}

static void with_reader(shared *s, uint32_t tap_frames, void (*write)(shared *)) {
    pthread_t thread;
    void *seen;
    s->ring = rt_new(CAPACITY, CHANNELS, 24000, tap_frames);
    CHECK(s->ring, "no memory");
    s->stop = 0;
    pthread_create(&thread, NULL, reader, s);
    write(s);
    s->stop = 1;
    pthread_join(thread, &seen);
    CHECK(seen, "the reader saw nothing");
    rt_free(s->ring);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    shared s = {.seconds = atof(argv[1]), .seed = (unsigned)atoi(argv[2])};
    with_reader(&s, 0, plain);
    with_reader(&s, 1u << 14, stream);
    s.ring = rt_new(CAPACITY, CHANNELS, 24000, 0);
    CHECK(s.ring, "no memory");
    cut(&s);
    rt_free(s.ring);
    rt_free(NULL);
    CHECK(!rt_new(0, 1, 24000, 0) && !rt_new(1, 0, 24000, 0), "a ring without size");
    return 0;
}
