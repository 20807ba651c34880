/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: puts, gets, flush and order. */

#include "tests/shmem/network/driver/bed.h"
#include <string.h>

enum { SPACE_BYTES = 5 << 20, WINDOW = 200, ROUNDS = 300 };

static const size_t sizes[] = {
    0,     1,     2,     3,     4,      7,      8,      9,       15,      16,     31,   64,
    100,   255,   256,   1000,  1024,   1025,   4096,   8000,    8191,    8192,   8193, 16384,
    20000, 65535, 65536, 65537, 100000, 262144, 300001, 1048576, 1048579, 4194304};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* Where the bytes of that round go: at any alignment, here and there. */
static size_t offset_of(size_t round)
{
    return BED_GUARD_BYTES + ((round * 13) % 61);
}

static void check_guards(const char *start, size_t offset, size_t size_bytes)
{
    size_t i;

    for (i = 0; i < BED_GUARD_BYTES; i++) {
        CHECK(start[offset - 1 - i] == 0, "%zu bytes before the target", i + 1);
        CHECK(start[offset + size_bytes + i] == 0, "%zu bytes behind the target", i + 1);
    }
}

/* PE 1 puts to PE 0, all sizes. */
static void put_sizes(void)
{
    char *source = malloc(SPACE_BYTES);
    size_t offset;
    size_t i;

    for (i = 0; i < SIZES; i++) {
        offset = offset_of(i);
        memset(bed.base, 0, sizes[i] + (4 * (size_t)BED_GUARD_BYTES));
        bed_barrier();
        if (bed.pe == 1) {
            bed_fill(source + (i % 17), sizes[i], i);
            bed_put(bed.queue, bed_peer(0), bed_key(0), bed_address(0, offset), source + (i % 17),
                    sizes[i]);
            memset(source, 0, sizes[i] + 17); /* it may be reused */
            bed_flush(bed.queue, bed_peer(0));
        }
        bed_barrier();
        if (bed.pe == 0) {
            bed_verify(bed.base + offset, sizes[i], i, "put");
            check_guards(bed.base, offset, sizes[i]);
        }
        bed_barrier();
    }
    free(source);
}

/* PE 0 gets from PE 1, all sizes. */
static void get_sizes(void)
{
    char *dest = malloc(SPACE_BYTES);
    size_t offset;
    size_t i;

    for (i = 0; i < SIZES; i++) {
        offset = offset_of(i);
        bed_fill(bed.base + offset, sizes[i], i);
        bed_barrier();
        if (bed.pe == 0) {
            memset(dest, 0, sizes[i] + (4 * (size_t)BED_GUARD_BYTES));
            bed_get(bed.queue, bed_peer(1), bed_key(1), bed_address(1, offset), dest + offset,
                    sizes[i]);
            bed_verify(dest + offset, sizes[i], i, "get");
            check_guards(dest, offset, sizes[i]);
        }
        bed_barrier();
    }
    free(dest);
}

/* Sources that are overwritten as soon as a put is DONE; more puts than fit. */
static void put_done(void)
{
    const size_t size_bytes = bed.limits.put_done_max_bytes;
    const size_t count      = SPACE_BYTES / ((size_bytes > 0) ? size_bytes : 1);
    const size_t used       = (count < 4000) ? count : 4000;
    char *source            = malloc(size_bytes + 1);
    size_t i;

    if ((bed.pe == 1) && (size_bytes > 0)) {
        for (i = 0; i < used; i++) {
            bed_fill(source, size_bytes, i);
            bed_put(bed.queue, bed_peer(0), bed_key(0), bed_address(0, i * size_bytes), source,
                    size_bytes);
        }
        bed_flush(bed.queue, bed_peer(0));
    }
    bed_barrier();
    for (i = 0; (bed.pe == 0) && (i < used); i++) {
        bed_verify(bed.base + (i * size_bytes), size_bytes, i, "put");
    }
    free(source);
}

/* ---- many at once ---- */

struct transfer {
    struct bed_request request;
    enum msp_network_result result;
    size_t offset;
    size_t size_bytes;
};

static void wait_all(struct transfer *transfers, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        bed_complete(bed.queue, transfers[i].result, &transfers[i].request);
    }
}

static void start(struct transfer *transfer, bool is_put, int pe, char *local)
{
    bed_request_clear(&transfer->request);
    do {
        transfer->result =
            is_put ? bed.driver->put(bed_peer(pe), bed_key(pe), bed_address(pe, transfer->offset),
                                     local, transfer->size_bytes, &transfer->request.request)
                   : bed.driver->get(bed_peer(pe), bed_key(pe), bed_address(pe, transfer->offset),
                                     local, transfer->size_bytes, &transfer->request.request);
        if (transfer->result == MSP_NETWORK_BUSY) {
            bed_progress(bed.queue);
        }
    } while (transfer->result == MSP_NETWORK_BUSY);
}

enum { SLOT_BYTES = 20000 };

/* Every PE has a window full of puts to the next one at the same time. */
static void many_puts(void)
{
    const int next             = (bed.pe + 1) % bed.pe_count;
    const int previous         = (bed.pe + bed.pe_count - 1) % bed.pe_count;
    struct transfer *transfers = calloc(WINDOW, sizeof *transfers);
    char *local                = malloc(WINDOW * SLOT_BYTES);
    size_t i;

    bed_fill(local, WINDOW * SLOT_BYTES, (uint64_t)bed.pe);
    for (i = 0; i < WINDOW; i++) {
        transfers[i].offset     = i * SLOT_BYTES;
        transfers[i].size_bytes = SLOT_BYTES;
        start(&transfers[i], true, next, local + (i * SLOT_BYTES));
    }
    wait_all(transfers, WINDOW);
    bed_flush(bed.queue, bed_peer(next));
    bed_barrier();
    bed_verify(bed.base, WINDOW * SLOT_BYTES, (uint64_t)previous, "put");
    free(local);
    free(transfers);
}

/* The same with gets of any size. */
static void many_gets(void)
{
    const int next             = (bed.pe + 1) % bed.pe_count;
    struct transfer *transfers = calloc(WINDOW, sizeof *transfers);
    char *local                = malloc(WINDOW * SLOT_BYTES);
    uint64_t random            = 7 + (uint64_t)bed.pe;
    size_t i;

    for (i = 0; i < WINDOW; i++) {
        bed_fill(bed.base + (i * SLOT_BYTES), SLOT_BYTES, (1000 * (uint64_t)bed.pe) + i);
    }
    bed_barrier();
    for (i = 0; i < WINDOW; i++) {
        transfers[i].offset     = i * SLOT_BYTES;
        transfers[i].size_bytes = 1 + (bed_random(&random) % SLOT_BYTES);
        start(&transfers[i], false, next, local + (i * SLOT_BYTES));
    }
    wait_all(transfers, WINDOW);
    for (i = 0; i < WINDOW; i++) {
        bed_verify(local + (i * SLOT_BYTES), transfers[i].size_bytes, (1000 * (uint64_t)next) + i,
                   "get");
    }
    free(local);
    free(transfers);
}

/* ---- order ---- */

/* A word that PE 1 puts after data says that the data is there, where the driver promises it. */
static void ordered_puts(void)
{
    volatile uint64_t *word = (volatile uint64_t *)(void *)bed.base;
    const size_t size_bytes = 30000;
    char *source            = malloc(size_bytes);
    uint64_t round;

    for (round = 1; bed.limits.is_ordered && (round <= ROUNDS); round++) {
        if (bed.pe == 1) {
            bed_fill(source, size_bytes, round);
            bed_put(bed.queue, bed_peer(0), bed_key(0), bed_address(0, 64), source,
                    1 + (size_t)(round * 97) % size_bytes);
            bed_put(bed.queue, bed_peer(0), bed_key(0), bed_address(0, 0), &round, sizeof round);
        } else {
            while (*word != round) {
                bed_progress(bed.queue);
            }
            bed_verify(bed.base + 64, 1 + (size_t)(round * 97) % size_bytes, round, "ordered put");
        }
        bed_barrier();
    }
    if (bed.pe == 1) {
        bed_flush(bed.queue, bed_peer(0));
    }
    free(source);
}

static uint64_t announced;

static void announce(const void *header, size_t header_bytes, const void *payload,
                     size_t payload_bytes)
{
    CHECK(header_bytes == sizeof announced, "%zu", header_bytes);
    memcpy(&announced, header, sizeof announced);
    CHECK(payload_bytes == 0, "%zu (%p)", payload_bytes, payload);
    bed_verify(bed.base + 64, 1 + (size_t)(announced * 97) % 30000, announced,
               "a put before a message");
}

static void ordered_messages(void)
{
    const size_t size_bytes = 30000;
    char *source            = malloc(size_bytes);
    uint64_t round;

    bed.receive = announce;
    for (round = 1; bed.limits.is_ordered && (round <= ROUNDS); round++) {
        if (bed.pe == 1) {
            bed_fill(source, size_bytes, round);
            bed_put(bed.queue, bed_peer(0), bed_key(0), bed_address(0, 64), source,
                    1 + (size_t)(round * 97) % size_bytes);
            bed_send(bed_peer(0), &round, sizeof round, NULL, 0);
        }
        while ((bed.pe == 0) && (announced != round)) {
            bed_progress(bed.queue);
        }
        bed_barrier();
    }
    if (bed.pe == 1) {
        bed_flush(bed.queue, bed_peer(0));
    }
    free(source);
}

/* Puts without progress, until there is no room for another. */
static void fill_connection(int pe, const void *source, size_t size_bytes)
{
    enum { PUTS_MAX = 1500 };
    enum msp_network_result result = MSP_NETWORK_DONE;
    unsigned i;

    for (i = 0; (i < PUTS_MAX) && (result == MSP_NETWORK_DONE); i++) {
        struct bed_request request;

        bed_request_clear(&request);
        result = bed.driver->put(bed_peer(pe), bed_key(pe), bed_address(pe, 0), source, size_bytes,
                                 &request.request);
    }
    CHECK((result == MSP_NETWORK_DONE) || (result == MSP_NETWORK_BUSY), "put %u: %d", i,
          (int)result);
}

/* Both ends connect at once, and put before either knows of the other. A flush is the end of all.
 * Afterwards the connection keeps as much as any. */
static void crossed_puts(void)
{
    enum { PUTS = 40, BYTES = 16000, NEXT = 77 };
    const size_t most =
        (bed.limits.put_done_max_bytes < BYTES) ? bed.limits.put_done_max_bytes : BYTES;
    const int other = 1 - bed.pe;
    char *source    = malloc(BYTES);
    unsigned i;

    (void)bed_key(other);
    bed_barrier_idle();
    for (i = 0; i < PUTS; i++) {
        bed_fill(source, BYTES, i);
        bed_put(bed.queue, bed_peer(other), bed_key(other), bed_address(other, i * (size_t)BYTES),
                source, BYTES);
    }
    bed_flush(bed.queue, bed_peer(other));
    atomic_store(&bed.shared->flags[bed.pe], 1);
    bed_await((unsigned)other, 1);
    for (i = 0; i < PUTS; i++) {
        bed_verify(bed.base + (i * (size_t)BYTES), BYTES, i, "a put over a crossed connection");
    }
    bed_fill(source, most, NEXT);
    bed_barrier_idle();
    fill_connection(other, source, most);
    bed_barrier_idle();
    bed_flush(bed.queue, bed_peer(other));
    bed_barrier();
    bed_verify(bed.base, most, NEXT, "the last put over a crossed connection");
    free(source);
    bed_barrier();
}

const struct bed_case bed_transfer_cases[] = {
    {"put_sizes", 2, SPACE_BYTES, put_sizes, false},
    {"get_sizes", 2, SPACE_BYTES, get_sizes, false},
    {"put_done", 2, SPACE_BYTES, put_done, false},
    {"many_puts", 3, SPACE_BYTES, many_puts, false},
    {"many_gets", 3, SPACE_BYTES, many_gets, false},
    {"ordered_puts", 2, SPACE_BYTES, ordered_puts, false},
    {"crossed_puts", 2, SPACE_BYTES, crossed_puts, false},
    {"ordered_messages", 2, SPACE_BYTES, ordered_messages, false},
    {NULL, 0, 0, NULL, false},
};
