/* SPDX-License-Identifier: BSD-3-Clause */
/* dlpack.c: DLPack's tensors, and the count of references that frees their block.
 *
 * Purpose: memory that an interpreter exports outlives the interpreter. Idea: the tensor, its shape
 * and its reference are one block of ordinary memory, and its deleter is code of this library.
 * Invariant: the count is the number of tensors that live and of references not yet dropped. */

#include "core/base/error.h"
#include <dlfcn.h>
#include <memspan/dlpack.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct memspan_refcount {
    void *pointer; /* NULL: nothing is freed */
    memspan_queue_h queue;
    atomic_size_t count;
};

/* ---- DLPack's structures, dlpack.h of version 1.0 ---- */

struct tensor {
    void *data;
    int32_t device_type;
    int32_t device_id;
    int32_t ndim;
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
};

struct managed {
    struct tensor tensor;
    void *context;
    void (*deleter)(struct managed *self);
};

struct versioned {
    uint32_t major;
    uint32_t minor;
    void *context;
    void (*deleter)(struct versioned *self);
    uint64_t flags;
    struct tensor tensor;
};

/* ---- references ---- */

memspan_refcount_h memspan_refcount_make(void *pointer, memspan_queue_h queue)
{
    memspan_refcount_h refcount = malloc(sizeof(*refcount));

    if (refcount == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a count of references");
        return NULL;
    }
    refcount->pointer = pointer;
    refcount->queue   = queue;
    atomic_init(&refcount->count, 1);
    return refcount;
}

memspan_status_t memspan_refcount_drop(memspan_refcount_h refcount)
{
    memspan_status_t status = MEMSPAN_ERR_NOT_FOUND;

    /* Acquire: the other owners' accesses precede the free; with their release. */
    if ((refcount == NULL) ||
        (atomic_fetch_sub_explicit(&refcount->count, 1, memory_order_acq_rel) > 1)) {
        return MEMSPAN_OK;
    }
    if (refcount->queue != MEMSPAN_QUEUE_NULL) {
        status = memspan_free_on(refcount->pointer, refcount->queue);
    }
    if (status == MEMSPAN_ERR_NOT_FOUND) { /* no queue, or a closed one */
        status = memspan_free(refcount->pointer);
    }
    free(refcount);
    return status;
}

/* ---- tensors ---- */

static void delete_managed(struct managed *self)
{
    (void)memspan_refcount_drop(self->context);
    free(self);
}

static void delete_versioned(struct versioned *self)
{
    (void)memspan_refcount_drop(self->context);
    free(self);
}

/* The extents follow the structure. */
static struct tensor copy_of(const struct tensor *tensor, int64_t *extents)
{
    struct tensor copy = *tensor;
    size_t bytes       = (size_t)tensor->ndim * sizeof(*extents);

    copy.shape   = extents;
    copy.strides = extents + tensor->ndim;
    if (bytes > 0) {
        memcpy(copy.shape, tensor->shape, bytes);
        memcpy(copy.strides, tensor->strides, bytes);
    }
    return copy;
}

static void *fill_managed(void *made, memspan_refcount_h refcount, const struct tensor *tensor)
{
    struct managed *managed = made;

    managed->tensor  = copy_of(tensor, (int64_t *)(managed + 1));
    managed->context = refcount;
    managed->deleter = delete_managed;
    return made;
}

static void *fill_versioned(void *made, memspan_refcount_h refcount, const struct tensor *tensor)
{
    struct versioned *versioned = made;

    versioned->major   = 1;
    versioned->minor   = 0;
    versioned->flags   = 0;
    versioned->tensor  = copy_of(tensor, (int64_t *)(versioned + 1));
    versioned->context = refcount;
    versioned->deleter = delete_versioned;
    return made;
}

void *memspan_dlpack_make(memspan_refcount_h refcount, const void *tensor, int is_versioned)
{
    const struct tensor *given = tensor;
    size_t bytes               = is_versioned ? sizeof(struct versioned) : sizeof(struct managed);
    void *made;

    if ((given == NULL) || (given->ndim < 0) ||
        ((given->ndim > 0) && ((given->shape == NULL) || (given->strides == NULL)))) {
        memspan_error(MEMSPAN_ERR_INVALID, "no DLTensor with its shape and strides");
        return NULL;
    }
    made = malloc(bytes + 2 * (size_t)given->ndim * sizeof(int64_t));
    if (made == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a DLPack tensor");
        return NULL;
    }
    if (refcount != NULL) {
        /* The caller's own reference keeps the count above 0. */
        atomic_fetch_add_explicit(&refcount->count, 1, memory_order_relaxed);
    }
    return is_versioned ? fill_versioned(made, refcount, given)
                        : fill_managed(made, refcount, given);
}

/* ---- Python ---- */

/* The interpreter that destroys the capsule has these functions; no library is opened for them. */
void memspan_dlpack_end_capsule(void *capsule)
{
    int (*is_valid)(void *, const char *);
    void *(*get)(void *, const char *);

    *(void **)&is_valid = dlsym(RTLD_DEFAULT, "PyCapsule_IsValid");
    *(void **)&get      = dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer");
    if ((is_valid == NULL) || (get == NULL)) {
        return;
    }
    if (is_valid(capsule, "dltensor")) {
        delete_managed(get(capsule, "dltensor"));
    } else if (is_valid(capsule, "dltensor_versioned")) {
        delete_versioned(get(capsule, "dltensor_versioned"));
    }
}
