/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: copies and fills.
 *
 * The runtime's calls are complete when they return, and so is a target region without nowait: the
 * device has nothing left to do then. A region with nowait is a task of the program, which only the
 * program can wait for (taskwait): waiting here would run other tasks of the program in the middle
 * of a call of this library. */

#include "backends/openmp/openmp.h"
#include <stdlib.h>
#include <string.h>

/* The runtime's number for where an address lives. */
static int side_of(struct openmp *openmp, const void *address)
{
    struct openmp_range range;

    return (openmp_blocks_find(&openmp->blocks, address, &range) &&
            (range.kind == MEMSPAN_KIND_DEVICE))
               ? range.ordinal
               : openmp->host;
}

memspan_status_t openmp_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                             size_t size_bytes)
{
    struct openmp *openmp   = state;
    memspan_status_t status = openmp_check_ordinal(openmp, ordinal);
    int to_device;
    int from_device;
    int code;

    (void)queue;
    if ((status != MEMSPAN_OK) || (size_bytes == 0)) {
        return status;
    }
    to_device   = side_of(openmp, to);
    from_device = side_of(openmp, from);
    if ((to_device == openmp->host) && (from_device == openmp->host)) {
        memcpy(to, from, size_bytes);
        return MEMSPAN_OK;
    }
    code = openmp->calls.copy(to, from, size_bytes, 0, 0, to_device, from_device);
    if (code != 0) {
        return openmp->services->fail(MEMSPAN_ERR_DRIVER, "openmp", "omp_target_memcpy", code, "",
                                      NULL, "%zu bytes from %p (device %d) to %p (device %d)",
                                      size_bytes, from, from_device, to, to_device);
    }
    return MEMSPAN_OK;
}

/* For runtimes without omp_target_memset: bytes of the host's, a window at a time. */
static memspan_status_t fill_by_copies(struct openmp *openmp, int ordinal, char *to,
                                       unsigned char byte, size_t size_bytes)
{
    enum { WINDOW_BYTES = 1 << 20 };
    size_t window           = (size_bytes < WINDOW_BYTES) ? size_bytes : WINDOW_BYTES;
    memspan_status_t status = MEMSPAN_OK;
    char *bytes             = malloc(window);
    size_t done;

    if (bytes == NULL) {
        return openmp->services->fail(MEMSPAN_ERR_NO_MEMORY, "openmp", "malloc", 0, "", NULL,
                                      "no %zu bytes to fill from", window);
    }
    memset(bytes, byte, window);
    for (done = 0; (status == MEMSPAN_OK) && (done < size_bytes); done += window) {
        size_t part = (size_bytes - done < window) ? size_bytes - done : window;
        status      = openmp_copy(openmp, ordinal, NULL, to + done, bytes, part);
    }
    free(bytes);
    return status;
}

memspan_status_t openmp_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                             size_t size_bytes)
{
    struct openmp *openmp   = state;
    memspan_status_t status = openmp_check_ordinal(openmp, ordinal);
    int side;

    (void)queue;
    if ((status != MEMSPAN_OK) || (size_bytes == 0)) {
        return status;
    }
    side = side_of(openmp, to);
    if ((side == openmp->host) || openmp->is_host[side]) {
        memset(to, byte, size_bytes);
        return MEMSPAN_OK;
    }
    if (openmp->calls.fill == NULL) {
        return fill_by_copies(openmp, ordinal, to, byte, size_bytes);
    }
    if (openmp->calls.fill(to, byte, size_bytes, side) == NULL) {
        return openmp->services->fail(MEMSPAN_ERR_DRIVER, "openmp", "omp_target_memset", 0, "",
                                      NULL, "%zu bytes at %p (device %d)", size_bytes, to, side);
    }
    return MEMSPAN_OK;
}

memspan_status_t openmp_synchronize(void *state, int ordinal, void *queue)
{
    (void)queue;
    return openmp_check_ordinal(state, ordinal);
}
