/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_DLPACK_H
#define MEMSPAN_DLPACK_H

#include <memspan/queue.h>

/** @file dlpack.h
 * DLPack's tensors over a block, for the bindings of languages: the last reference frees the block.
 *
 * A consumer calls a tensor's deleter on any thread, without the lock of an interpreter, and in
 * destructors that run after the interpreter's end. So the deleter is code of this library, which
 * calls nothing of the binding.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** A count of the references to a block. An address, of no use after the last reference. */
typedef struct memspan_refcount *memspan_refcount_h;

/** Count the references to the block at @p pointer: one, the caller's. The last one frees the block
 * by memspan_free_on() on @p queue, or by memspan_free() where @p queue is MEMSPAN_QUEUE_NULL or
 * has been closed. @p pointer NULL: nothing is freed. The block is the count's from now on.
 * NULL, with MEMSPAN_ERR_NO_MEMORY, without memory for the count; the block is still the caller's.
 */
MEMSPAN_API memspan_refcount_h memspan_refcount_make(void *pointer, memspan_queue_h queue);

/** Drop a reference. NULL: no effect. MEMSPAN_OK where it was not the last one. Errors:
 * MEMSPAN_ERR_NOT_FOUND (the address starts no live block), MEMSPAN_ERR_DRIVER, as
 * memspan_free_on() and memspan_free(). */
MEMSPAN_API memspan_status_t memspan_refcount_drop(memspan_refcount_h refcount);

/** Make a DLManagedTensor, or with @p is_versioned a DLManagedTensorVersioned of DLPack 1.0 without
 * flags. The tensor is a copy of @p tensor, a DLTensor, with its shape and strides, and refers to
 * @p refcount until its deleter is called. @p refcount NULL: it refers to nothing. Its consumer, or
 * memspan_dlpack_end_capsule(), calls the deleter.
 * NULL, with MEMSPAN_ERR_INVALID for a negative number of dimensions, without shape or strides, or
 * with MEMSPAN_ERR_NO_MEMORY.
 * Source: DLPack 1.0, dlpack.h. */
MEMSPAN_API void *memspan_dlpack_make(memspan_refcount_h refcount, const void *tensor,
                                      int is_versioned);

/** The destructor of a Python capsule with such a tensor (PyCapsule_Destructor): deletes the tensor
 * unless a consumer has taken it and renamed the capsule. Runs no Python code, so an exception may
 * be pending. Never fails.
 * Source: DLPack's Python specification, "the capsule's destructor". */
MEMSPAN_API void memspan_dlpack_end_capsule(void *capsule);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_DLPACK_H */
