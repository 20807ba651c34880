/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.c: a pretended OpenMP runtime of few routines.
 *
 *   FAKE_RUNTIME_DEVICES   how many devices it has (none when unset)
 *   FAKE_RUNTIME_RECORD    set: it starts with an allocator of its own as the default one
 *   FAKE_RUNTIME_EDGE      set: its blocks, of a page at most, end at a closed page
 *
 * fake_runtime_calls() tells how often a routine was called. */

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* As libgomp's allocators begin: space, alignment, pool size, used, fallback's data, traits. */
static uintptr_t *record;
static int taskwaits;
static int allocs;
static int frees;
static int copies;
static _Thread_local uintptr_t default_allocator;

int fake_runtime_calls(const char *name)
{
    if (strcmp(name, "GOMP_taskwait") == 0) {
        return taskwaits;
    }
    if (strcmp(name, "omp_target_memcpy") == 0) {
        return copies;
    }
    return (strcmp(name, "omp_alloc") == 0) ? allocs : frees;
}

static uintptr_t initial_allocator(void)
{
    if (getenv("FAKE_RUNTIME_RECORD") == NULL) {
        return 1;
    }
    if (record == NULL) {
        record    = calloc(7, sizeof(*record));
        record[1] = 8;
    }
    return (uintptr_t)record;
}

int omp_get_num_devices(void)
{
    const char *text = getenv("FAKE_RUNTIME_DEVICES");

    return (text == NULL) ? 0 : atoi(text);
}

int omp_get_initial_device(void)
{
    return omp_get_num_devices();
}

int omp_get_default_device(void)
{
    return 0;
}

void GOMP_taskwait(void)
{
    taskwaits++;
}

/* Its devices are the host in disguise. */
int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                      int to_device, int from_device)
{
    int last = omp_get_num_devices();

    if ((to_device < 0) || (to_device > last) || (from_device < 0) || (from_device > last)) {
        abort(); /* as libomptarget does for some numbers */
    }
    copies++;
    memcpy((char *)to + to_offset, (const char *)from + from_offset, size);
    return 0;
}

void omp_set_default_allocator(uintptr_t allocator)
{
    default_allocator = allocator;
}

uintptr_t omp_get_default_allocator(void)
{
    if (default_allocator == 0) {
        default_allocator = initial_allocator();
    }
    return default_allocator;
}

static void *before_closed_page(size_t size)
{
    size_t page  = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(memory + page, page, PROT_NONE);
    return memory + page - size;
}

void *omp_alloc(size_t size, uintptr_t allocator)
{
    (void)allocator;
    allocs++;
    return (getenv("FAKE_RUNTIME_EDGE") == NULL) ? malloc(size) : before_closed_page(size);
}

void omp_free(void *pointer, uintptr_t allocator)
{
    (void)allocator;
    frees++;
    if (getenv("FAKE_RUNTIME_EDGE") == NULL) {
        free(pointer);
    }
}
