/* SPDX-License-Identifier: BSD-3-Clause */
/* Resident memory of a million live objects of 64 B, and when all are freed, from
 * /proc/self/statm. */

#include "bench/alloc/worker/worker.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double worker_resident_bytes(void)
{
    char text[128] = "";
    char *second;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        return 0;
    }
    if (read(file, text, sizeof(text) - 1) < 0) {
        text[0] = '\0';
    }
    (void)close(file);
    second = strchr(text, ' ');
    return (second == NULL) ? 0 : strtod(second, NULL) * (double)sysconf(_SC_PAGESIZE);
}

bool worker_footprint(const struct worker *worker)
{
    size_t count  = worker->quick ? 2000 : 1000000;
    void **blocks = worker_blocks(count);
    void *first   = kind_take(worker->allocator, 64);
    double before = worker_resident_bytes();
    double start;
    double taken;
    double live;

    if ((blocks == NULL) || (first == NULL) || (before == 0)) {
        return worker_complain("the row footprint cannot begin");
    }
    start = worker_now_ns();
    for (size_t i = 0; i < count; i++) {
        blocks[i] = kind_take(worker->allocator, 64);
        if (blocks[i] == NULL) {
            return worker_complain("an allocation of the row footprint failed");
        }
        *(volatile char *)blocks[i] = 1; /* only accessed pages are resident */
    }
    taken = worker_now_ns() - start;
    live  = worker_resident_bytes() - before;
    start = worker_now_ns();
    for (size_t i = 0; i < count; i++) {
        kind_give(worker->allocator, blocks[i]);
    }
    start = worker_now_ns() - start;
    worker_point("footprint", live / (double)count);
    worker_point("footprint-kept",
                 (live > 0) ? 100 * (worker_resident_bytes() - before) / live : 0);
    worker_point("footprint-alloc", taken / (double)count);
    worker_point("footprint-free", start / (double)count);
    kind_give(worker->allocator, first);
    return true;
}
