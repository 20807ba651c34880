/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: the table of the host's backend.
 *
 * The host is a device like any other, with two kinds of memory: ordinary pages, and pages that are
 * locked. open() touches nothing of the system: a program that only allocates pays for one mmap().
 */

#include "backends/host/host.h"
#include <string.h>

static enum host_huge_pages parse_huge_pages(const char *word)
{
    if (strcmp(word, "off") == 0) {
        return HUGE_PAGES_OFF;
    }
    return (strcmp(word, "on") == 0) ? HUGE_PAGES_ON : HUGE_PAGES_ADVISE;
}

static memspan_status_t host_open(const memspan_services_t *services, void **state_p)
{
    /* Not from the heap: the host must open even when there is no memory just then. */
    static struct host host;

    host.services   = services;
    host.huge_pages = parse_huge_pages(services->option("MEMSPAN_HUGE_PAGES"));
    *state_p        = &host;
    return MEMSPAN_OK;
}

static void host_close(void *state)
{
    (void)state;
}

static int host_device_count(void *state)
{
    (void)state;
    return 1;
}

static bool is_host(int ordinal)
{
    return (ordinal == 0) || (ordinal == MEMSPAN_HOST);
}

static memspan_reach_t host_reach(void *state, int home, memspan_kind_t kind, int from)
{
    (void)state;
    if (is_host(home) && is_host(from) &&
        ((kind == MEMSPAN_KIND_HOST) || (kind == MEMSPAN_KIND_HOST_PINNED))) {
        return (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};
    }
    return (memspan_reach_t){MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
}

extern const memspan_backend_t msp_backend_host;
const memspan_backend_t msp_backend_host = {
    .abi             = MEMSPAN_BACKEND_ABI,
    .struct_size     = sizeof(memspan_backend_t),
    .name            = "host",
    .title           = "the host, through the Linux kernel",
    .flags           = MEMSPAN_BACKEND_IS_HOST,
    .open            = host_open,
    .close           = host_close,
    .device_count    = host_device_count,
    .device_describe = host_describe,
    .reach           = host_reach,
    .alloc           = host_alloc,
    .free            = host_free,
    .copy            = host_copy,
    .fill            = host_fill,
    .synchronize     = host_synchronize,
    .launch          = host_launch,
    .resize          = host_resize,
    .purge           = host_purge,
    .move            = host_move,
};
