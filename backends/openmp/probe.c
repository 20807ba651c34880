/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.c: is a device's memory the host's?
 *
 * There is no OpenMP call for it. Two facts together do: memory of omp_target_alloc() is ordinary
 * anonymous memory of this process (a driver maps device memory from its own file, or not at all),
 * and omp_target_memcpy() from the device reads values of plain stores, and the reverse (a remote
 * device whose addresses happen to be ours as well fails this). Memory that the kernel gives to
 * this process is coherent among its processors, so such a device may use it together with the
 * host, atomics included: it runs on these processors. Clang's x86-64 and aarch64 devices do. */

#include "backends/openmp/openmp.h"
#include "core/base/platform.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_BYTES = 8192 };

/* One line of /proc/self/maps: readable, writable, private and backed by no file? */
static bool parse_mapping(const char *line, uintptr_t *start_p, uintptr_t *end_p, bool *plain_p)
{
    char access[8] = "";
    unsigned long inode;

    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*x %*s %lu", start_p, end_p, access, &inode) !=
        4) {
        return false;
    }
    *plain_p = (inode == 0) && (strncmp(access, "rw", 2) == 0) && (access[3] == 'p');
    return true;
}

/* True when every page of [address, address + size) is plain memory of this process. */
static bool is_plain_memory(const void *address, size_t size_bytes)
{
    uintptr_t next  = (uintptr_t)address;
    uintptr_t stop  = next + size_bytes;
    FILE *maps      = fopen("/proc/self/maps", "re");
    char *line      = NULL;
    size_t capacity = 0;
    uintptr_t start;
    uintptr_t end;
    bool plain;

    if (maps == NULL) {
        return false;
    }
    while ((next < stop) && (getline(&line, &capacity, maps) > 0)) {
        if (!parse_mapping(line, &start, &end, &plain) || (end <= next)) {
            continue;
        }
        if ((start > next) || !plain) {
            break;
        }
        next = end;
    }
    free(line);
    fclose(maps);
    return next >= stop;
}

/* Both directions, every byte. */
static bool copies_are_stores(const struct openmp *openmp, int ordinal, unsigned char *block)
{
    unsigned char seen[PROBE_BYTES];
    size_t i;

    for (i = 0; i < PROBE_BYTES; i++) {
        block[i] = (unsigned char)(i * 7 + 1);
    }
    memset(seen, 0, sizeof(seen));
    if ((openmp->calls.copy(seen, block, PROBE_BYTES, 0, 0, openmp->host, ordinal) != 0) ||
        (memcmp(seen, block, PROBE_BYTES) != 0)) {
        return false;
    }
    for (i = 0; i < PROBE_BYTES; i++) {
        seen[i] = (unsigned char)~seen[i];
    }
    return (openmp->calls.copy(block, seen, PROBE_BYTES, 0, 0, ordinal, openmp->host) == 0) &&
           (memcmp(seen, block, PROBE_BYTES) == 0);
}

bool openmp_probe_is_host(const struct openmp *openmp, int ordinal)
{
    void *block = openmp->calls.alloc(PROBE_BYTES, ordinal);
    bool is_host;

    if (block == NULL) {
        return false;
    }
    is_host = is_plain_memory(block, PROBE_BYTES) && copies_are_stores(openmp, ordinal, block);
    openmp->calls.free(block, ordinal);
    return is_host;
}
