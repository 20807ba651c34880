/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_HOST_HOST_H
#define MEMSPAN_BACKENDS_HOST_HOST_H

/* The declarations that the files of this room share. README.md has the design. */

#include <memspan/backend.h>
#include <stdatomic.h>
#include <stdbool.h>

enum host_huge_pages { HUGE_PAGES_OFF, HUGE_PAGES_ADVISE, HUGE_PAGES_ON };

/* The one instance. Only atomic members change after open(). */
struct host {
    const memspan_services_t *services;
    enum host_huge_pages huge_pages;
    atomic_bool said_unbound; /* the log has the reason why memory is bound to no node */
};

/* memory.c */
memspan_status_t host_alloc(void *state, int ordinal, const memspan_request_t *request,
                            memspan_block_t *block_p);
memspan_status_t host_free(void *state, int ordinal, const memspan_block_t *block);
int host_purge(void *state, int ordinal, const memspan_block_t *block, void *address,
               size_t size_bytes, int first);

/* The advice about transparent huge pages for a block that is mapped. */
void host_advise(const struct host *host, const memspan_request_t *request,
                 const memspan_block_t *block);

/* resize.c */
memspan_status_t host_resize(void *state, int ordinal, const memspan_request_t *request,
                             memspan_block_t *block_p, memspan_resize_accept_t accept,
                             void *context);

/* Bytes of address space that are a block's: itself, and its reserve for growth. */
size_t host_block_mapped(const memspan_block_t *block);

/* Which limit may have refused a mapping with that error. */
const char *host_limits_hint(int error);

/* pages.c: address ranges. Size of a huge page that MAP_HUGETLB gives by itself. */
#define HOST_HUGE_PAGE_BYTES ((size_t)2 << 20)

/* A range of @p size_bytes on @p align_bytes, of base pages (page_size_bytes 0 or the base page) or
 * of reserved huge pages. *size_p: the size rounded to the pages in use. */
memspan_status_t host_pages_map(const struct host *host, size_t size_bytes, size_t align_bytes,
                                size_t page_size_bytes, void **address_p, size_t *size_p);

/* True when that many bytes of reserved huge pages are free now. */
bool host_pages_reserved(size_t size_bytes, size_t page_size_bytes);

/* place.c: put the pages of a fresh block on the request's nodes. Sets block->node. */
memspan_status_t host_place(struct host *host, const memspan_request_t *request,
                            memspan_block_t *block);

memspan_status_t host_move(void *state, int ordinal, const memspan_request_t *request,
                           memspan_block_t *block_p);

/* True when the request names nodes. */
bool host_place_is_wanted(const memspan_request_t *request);

/* describe.c */
memspan_status_t host_describe(void *state, int ordinal, memspan_device_info_t *info_p);

/* processor_*.c: name and vendor, where they can be found out. The texts may end in a newline. */
void host_processor_describe(memspan_device_info_t *info);

/* work.c */
memspan_status_t host_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                           size_t size_bytes);
memspan_status_t host_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                           size_t size_bytes);
memspan_status_t host_synchronize(void *state, int ordinal, void *queue);
memspan_status_t host_launch(void *state, int ordinal, void *queue,
                             const memspan_kernel_call_t *call);

#endif /* MEMSPAN_BACKENDS_HOST_HOST_H */
