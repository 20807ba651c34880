/* SPDX-License-Identifier: BSD-3-Clause */
/* DLPack's tensors: the last reference frees the block, on whatever thread it is dropped. */

#include "api.h"
#include <pthread.h>
#include <stdlib.h>

TestSuite(dlpack, .fini = in_order);

/* As a consumer declares them. */
typedef struct {
    void *data;
    int32_t device[2];
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} tensor_t;

typedef struct managed {
    tensor_t tensor;
    void *context;
    void (*deleter)(struct managed *);
} managed_t;

typedef struct versioned {
    uint32_t version[2];
    void *context;
    void (*deleter)(struct versioned *);
    uint64_t flags;
    tensor_t tensor;
} versioned_t;

static unsigned long live(void)
{
    memspan_allocator_stats_t all = {.struct_size = sizeof(all)};

    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &all));
    return (unsigned long)all.live_count;
}

static void *delete_one(void *made)
{
    managed_t *managed = made;

    managed->deleter(managed);
    return NULL;
}

Test(dlpack, the_last_reference_frees)
{
    enum { COUNT = 8 };
    void *block                 = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 240);
    int64_t shape[]             = {5, 6};
    int64_t strides[]           = {6, 1};
    tensor_t tensor             = {block, {1, 0}, 2, 2, 64, 1, shape, strides, 0};
    memspan_refcount_h refcount = memspan_refcount_make(block, MEMSPAN_QUEUE_NULL);
    versioned_t *versioned      = memspan_dlpack_make(refcount, &tensor, 1);
    pthread_t threads[COUNT];
    managed_t *managed[COUNT];
    int i;

    for (i = 0; i < COUNT; i++) {
        managed[i] = memspan_dlpack_make(refcount, &tensor, 0);
    }
    shape[0] = strides[0] = 99; /* the tensors have copies */
    cr_assert(managed[0]->tensor.data == block && managed[0]->tensor.shape[0] == 5);
    cr_assert(versioned->tensor.strides[0] == 6 && versioned->tensor.bits == 64);
    cr_assert(versioned->version[0] == 1 && versioned->flags == 0);
    for (i = 0; i < COUNT; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, delete_one, managed[i]), 0);
    }
    DONE(memspan_refcount_drop(refcount));
    for (i = 0; i < COUNT; i++) {
        pthread_join(threads[i], NULL);
    }
    cr_assert_eq(live(), 1, "one tensor is left");
    versioned->deleter(versioned);
    cr_assert_eq(live(), 0);
}

Test(dlpack, in_the_order_of_a_queue)
{
    memspan_queue_h queues[2];
    int i;

    for (i = 0; i < 2; i++) {
        memspan_queue_info_t info = {.struct_size = sizeof(info)};
        memspan_refcount_h refcount;

        DONE(memspan_queue_open(MEMSPAN_HOST, MEMSPAN_QUEUE_OWN, NULL, 0, &queues[i]));
        refcount = memspan_refcount_make(
            memspan_alloc_on(MEMSPAN_ALLOCATOR_DEFAULT, 100000, queues[i]), queues[i]);
        if (i == 1) {
            DONE(memspan_queue_close(queues[i]));
        }
        DONE(memspan_refcount_drop(refcount));
        if (i == 0) {
            DONE(memspan_queue_describe(queues[i], &info));
            cr_expect_eq(info.freed_count, 1);
        }
    }
    DONE(memspan_queue_close(queues[0]));
}

Test(dlpack, what_is_no_tensor)
{
    tensor_t tensor = {.ndim = -1};
    int local       = 0;
    managed_t *scalar;

    REFUSED_NULL(memspan_dlpack_make(NULL, NULL, 0), MEMSPAN_ERR_INVALID, "DLTensor");
    REFUSED_NULL(memspan_dlpack_make(NULL, &tensor, 1), MEMSPAN_ERR_INVALID, "DLTensor");
    tensor.ndim = 1;
    REFUSED_NULL(memspan_dlpack_make(NULL, &tensor, 0), MEMSPAN_ERR_INVALID, "DLTensor");
    tensor.ndim = 0;
    scalar      = memspan_dlpack_make(NULL, &tensor, 0);
    scalar->deleter(scalar);
    DONE(memspan_refcount_drop(NULL));
    DONE(memspan_refcount_drop(memspan_refcount_make(NULL, MEMSPAN_QUEUE_NULL)));
    REFUSED(memspan_refcount_drop(memspan_refcount_make(&local, MEMSPAN_QUEUE_NULL)),
            MEMSPAN_ERR_NOT_FOUND, "memory of Memspan");
    memspan_dlpack_end_capsule(&local); /* no interpreter is here */
}
