/* SPDX-License-Identifier: BSD-3-Clause */
/* raw-ucx, raw-ofi [quick] ROW...: the points of an OpenSHMEM library by a network library alone,
 * between two processes that a launcher with PMIx starts. "describe" says which library, and how
 * it reaches the other.
 *
 * Process 0 measures; process 1 progresses, so that the network's own cost is what is measured. */

#include "raw.h"
#include "batch.h"
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS = 50, WINDOW = 64, WINDOW_LARGE = 16, LARGE_BYTES = 64 << 10 };

static struct raw_side side __attribute__((aligned(4096)));
static bool first;
static bool quick;
static long turn;

void raw_fail(const char *call, const char *text)
{
    fprintf(stderr, "%s: %s\n", call, text);
    exit(1);
}

void raw_wait_step(void)
{
    static unsigned idle;

    if (raw_progress() != 0) {
        idle = 0;
    } else if (++idle > SPINS) {
        (void)sched_yield();
    }
}

/* ---- the launcher ---- */

static pmix_proc_t self;

static void check(pmix_status_t rc, const char *call)
{
    if (rc != PMIX_SUCCESS) {
        raw_fail(call, PMIx_Error_string(rc));
    }
}

/* Publish our card, get the other's, connect. */
static void exchange_cards(void)
{
    pmix_proc_t other;
    pmix_value_t mine;
    pmix_value_t *theirs = NULL;
    char card[RAW_CARD_MAX];
    size_t card_bytes = sizeof(card);

    raw_open(&side, card, &card_bytes);
    mine.type          = PMIX_BYTE_OBJECT;
    mine.data.bo.bytes = card;
    mine.data.bo.size  = card_bytes;
    check(PMIx_Put(PMIX_GLOBAL, "raw-card", &mine), "PMIx_Put");
    check(PMIx_Commit(), "PMIx_Commit");
    check(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
    other = self;
    other.rank ^= 1;
    check(PMIx_Get(&other, "raw-card", NULL, 0, &theirs), "PMIx_Get");
    raw_connect(theirs->data.bo.bytes, theirs->data.bo.size);
}

/* ---- both processes ---- */

static void set_there(size_t offset, volatile long *value_p)
{
    raw_put(offset, (const void *)(uintptr_t)value_p, sizeof(*value_p));
    raw_flush();
}

static void wait_for(volatile long *word, long value)
{
    while (*word < value) {
        raw_wait_step();
    }
}

/* Both are here: one after the other. */
static void together(void)
{
    volatile long *sent = (volatile long *)(void *)side.source;

    turn++;
    if (!first) {
        wait_for(&side.turn, turn);
    }
    *sent = turn;
    set_there(RAW_OFFSET(turn), sent);
    if (first) {
        wait_for(&side.turn, turn);
    }
}

/* ---- what process 0 does alone ---- */

static void put(size_t size, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        raw_put(RAW_OFFSET(target), side.source, size);
        raw_flush();
    }
}

static void get(size_t size, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        raw_get(RAW_OFFSET(target), side.source, size);
    }
}

static size_t window_of(size_t size)
{
    return (size > LARGE_BYTES) ? WINDOW_LARGE : WINDOW;
}

static void stream(size_t size, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        for (size_t w = 0; w < window_of(size); w++) {
            raw_put(RAW_OFFSET(target), side.source, size);
        }
        raw_flush();
    }
}

static void fetch_add(size_t size, size_t operations)
{
    (void)size;
    for (size_t i = 0; i < operations; i++) {
        (void)raw_fetch_add(RAW_OFFSET(word), 1);
    }
}

/* ---- what both do ---- */

static void ping_pong(size_t size, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        raw_expect(side.target, size);
        if (!first) {
            raw_receive();
        }
        raw_send(side.source, size);
        if (first) {
            raw_receive();
        }
    }
}

/* ---- points ---- */

struct point {
    const char *row;
    const char *prefix; /* of the name, before the size */
    void (*run)(size_t size, size_t operations);
    size_t size_bytes; /* 0: powers of two */
    bool both;
    double divisor; /* ns to the point's unit */
};

static const struct point points[] = {{"put", "put-8", put, 8, false, 1},
                                      {"put", "put-64", put, 64, false, 1},
                                      {"put", "put-1k", put, 1024, false, 1},
                                      {"put", "put-8k", put, 8192, false, 1},
                                      {"put", "put-64k", put, 65536, false, 1},
                                      {"put", "put-1m", put, 1 << 20, false, 1},
                                      {"put", "put-4m", put, 4 << 20, false, 1},
                                      {"get", "get-8", get, 8, false, 1},
                                      {"get", "get-64", get, 64, false, 1},
                                      {"get", "get-1k", get, 1024, false, 1},
                                      {"get", "get-8k", get, 8192, false, 1},
                                      {"get", "get-64k", get, 65536, false, 1},
                                      {"get", "get-1m", get, 1 << 20, false, 1},
                                      {"get", "get-4m", get, 4 << 20, false, 1},
                                      {"atomic", "fetch-add", fetch_add, 8, false, 1},
                                      {"barrier", "barrier", ping_pong, 8, true, 1},
                                      {"barrier", "sync", ping_pong, 8, true, 1},
                                      {"visible", "visible-p", ping_pong, 8, true, 2},
                                      {"put-sizes", "put-size-", put, 0, false, 1e3},
                                      {"get-sizes", "get-size-", get, 0, false, 1e3},
                                      {"stream", "stream-", stream, 0, false, 1},
                                      {"rate", "rate-", stream, 0, false, 1},
                                      {"ping-pong", "ping-pong-", ping_pong, 0, true, 2e3}};

static void print(const struct point *point, size_t size, const struct batches *batches)
{
    double best   = batches->per_operation_ns[0];
    double median = batches_median(batches);
    char name[32];

    (void)snprintf(name, sizeof(name), "%s", point->prefix);
    if (point->size_bytes == 0) {
        (void)snprintf(name, sizeof(name), "%s%zu", point->prefix, size);
    }
    if (point->run == stream) { /* M messages a second, or MB/s */
        double messages = 1e3 * (double)window_of(size) *
                          ((strcmp(point->row, "stream") == 0) ? (double)size : 1);

        batch_print(name, messages / best, messages / median);
        return;
    }
    batch_print(name, best / point->divisor, median / point->divisor);
}

static void measure(const struct point *point, size_t size)
{
    volatile long *sent    = (volatile long *)(void *)side.source;
    struct batches batches = {.count = 0};
    long operations        = 1;

    while (operations > 0) {
        double took_ns;

        together();
        took_ns = batch_now_ns();
        if (first || point->both) {
            point->run(size, (size_t)operations);
        }
        took_ns = batch_now_ns() - took_ns;
        if (first) {
            operations = (long)batches_next(&batches, (size_t)operations, took_ns, quick);
            *sent      = operations;
            set_there(RAW_OFFSET(next), sent);
        }
        together();
        operations = first ? operations : side.next;
    }
    if (first) {
        print(point, size, &batches);
    }
}

static bool is_asked_for(const char *row, char **rows)
{
    for (; *rows != NULL; rows++) {
        if (strcmp(*rows, row) == 0) {
            return true;
        }
    }
    return false;
}

static void measure_rows(char **rows)
{
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        const struct point *point = &points[i];

        if (!is_asked_for(point->row, rows)) {
            continue;
        }
        if (first && ((i == 0) || (strcmp(point->row, points[i - 1].row) != 0))) {
            printf("row %s\n", point->row);
        }
        if (point->size_bytes != 0) {
            measure(point, point->size_bytes);
            continue;
        }
        for (size_t size = 1; size <= RAW_ROOM; size *= 2) {
            measure(point, size);
        }
    }
}

static volatile bool left;

static void leave(pmix_status_t rc, void *data)
{
    (void)rc;
    (void)data;
    left = true;
}

/* The other process may still need progress here to complete its last flush. */
static void part(void)
{
    together();
    check(PMIx_Fence_nb(NULL, 0, NULL, 0, leave, NULL), "PMIx_Fence_nb");
    while (!left) {
        raw_wait_step();
    }
}

int main(int argument_count, char **arguments)
{
    cpu_set_t allowed;
    char text[128];

    (void)sched_getaffinity(0, sizeof(allowed), &allowed);
    check(PMIx_Init(&self, NULL, 0), "PMIx_Init");
    first = self.rank == 0;
    quick = (argument_count > 1) && (strcmp(arguments[1], "quick") == 0);
    memset(side.source, 1, sizeof(side.source));
    memset(side.target, 1, sizeof(side.target));
    exchange_cards();
    batch_bind(&allowed, first ? 0 : 1);
    together();
    if (first && (argument_count > 1) && (strcmp(arguments[1], "describe") == 0)) {
        raw_describe(text, sizeof(text));
        printf("name %s\ncompiler %s\n", text, __VERSION__);
    } else {
        measure_rows(arguments + 1);
    }
    part();
    raw_close();
    (void)PMIx_Finalize(NULL, 0);
    return 0;
}
