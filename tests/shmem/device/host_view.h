/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_DEVICE_HOST_VIEW_H
#define MEMSPAN_TESTS_SHMEM_DEVICE_HOST_VIEW_H

/* A view as the host loads it: kernels may run on the host in place of the device. */

#include "tests/shmem/check.h"
#include <memspan/allocator.h>
#include <memspan/transfer.h>
#include <shmemx_device.h>
#include <stdlib.h>

/* The view itself, or a copy of one in device memory, which the program keeps. */
static inline const shmemx_device_view_t *host_view(const shmemx_device_view_t *view)
{
    shmemx_device_view_t head;
    void *copy;
    size_t size;

    if (memspan_pointer_kind(view) != MEMSPAN_KIND_DEVICE) {
        return view;
    }
    CHECK(memspan_copy(&head, view, sizeof head) == MEMSPAN_OK, "%s", memspan_error_text());
    size = head.queues_at + (head.queue_count * sizeof(shmemx_device_queue_t)); /* the last part */
    copy = calloc(1, size);
    CHECK((copy != NULL) && (memspan_copy(copy, view, size) == MEMSPAN_OK), "%s",
          memspan_error_text());
    return copy;
}

#endif /* MEMSPAN_TESTS_SHMEM_DEVICE_HOST_VIEW_H */
