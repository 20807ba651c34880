/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: the order of one, that of two, and memory that is freed and allocated in that order. */

#include "conform.h"
#include <stdlib.h>
#include <string.h>

enum { BYTES = 100001, ROUNDS = 20 };

static memspan_queue_h open_queue(void)
{
    memspan_queue_h queue = MEMSPAN_QUEUE_NULL;

    CHECK_OK(memspan_queue_open(conform_device()->number, MEMSPAN_QUEUE_OWN, NULL, 0, &queue));
    return queue;
}

static void check_filled(const unsigned char *bytes, unsigned char byte, memspan_kind_t kind)
{
    CHECK_BYTES((bytes[0] == byte) && (memcmp(bytes, bytes + 1, BYTES - 1) == 0), "%s: %u, not %u",
                memspan_kind_name(kind), bytes[0], byte);
}

/* A block that was freed serves the next request, and its last bytes were read before. */
static void a_queue_keeps_its_order(void)
{
    unsigned char *out[ROUNDS];
    memspan_queue_h queue = open_queue();
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        for (int i = 0; i < ROUNDS; i++) {
            unsigned char *block = memspan_alloc_on(m.allocator, BYTES, queue);
            out[i]               = malloc(BYTES);
            CHECK((block != NULL) && (out[i] != NULL));
            CHECK_OK(memspan_fill_on(queue, block, (unsigned char)(i + 1), BYTES));
            CHECK_OK(memspan_copy_on(queue, out[i], block, BYTES));
            CHECK_OK(memspan_free_on(block, queue));
        }
        CHECK_OK(memspan_queue_synchronize(queue));
        for (int i = 0; i < ROUNDS; i++) {
            check_filled(out[i], (unsigned char)(i + 1), m.kind);
            free(out[i]);
        }
        (void)memspan_trim();
        (void)memspan_trim();
        conform_done(&m);
    }
    CHECK_OK(memspan_queue_close(queue));
}

/* One fills, the other copies after it, and the first overwrites after that. */
static void a_queue_waits_for_another(void)
{
    unsigned char *out  = malloc(BYTES);
    memspan_queue_h one = open_queue();
    memspan_queue_h two = open_queue();
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        unsigned char *source = memspan_alloc_on(m.allocator, BYTES, one);
        unsigned char *target = memspan_alloc_on(m.allocator, BYTES, two);

        CHECK((source != NULL) && (target != NULL));
        CHECK_OK(memspan_fill_on(one, source, 7, BYTES));
        CHECK_OK(memspan_queue_wait(two, one));
        CHECK_OK(memspan_copy_on(two, target, source, BYTES));
        CHECK_OK(memspan_queue_wait(one, two));
        CHECK_OK(memspan_fill_on(one, source, 9, BYTES));
        CHECK_OK(memspan_copy_on(two, out, target, BYTES));
        CHECK_OK(memspan_used_on(target, two));
        CHECK_OK(memspan_free_on(target, one));
        CHECK_OK(memspan_free_on(source, one));
        CHECK_OK(memspan_queue_synchronize(two));
        check_filled(out, 7, m.kind);
        CHECK_OK(memspan_queue_synchronize(one));
        (void)memspan_trim();
        (void)memspan_trim();
        conform_done(&m);
    }
    CHECK_OK(memspan_queue_close(one));
    CHECK_OK(memspan_queue_close(two));
    free(out);
}

const struct conform_case conform_queue_cases[] = {
    {"a_queue_keeps_its_order", a_queue_keeps_its_order},
    {"a_queue_waits_for_another", a_queue_waits_for_another},
    {NULL, NULL},
};
