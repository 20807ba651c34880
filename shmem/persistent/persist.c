/* SPDX-License-Identifier: BSD-3-Clause */
/* persist.c: cache lines by libpmem or by instructions, pages by msync(). */

#include "shmem/persistent/persist.h"
#include "core/base/platform.h"
#include "shmem/error.h"
#include <dlfcn.h>
#include <errno.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/* ---- the processor's instructions ---- */

struct instruction {
    const char *name; /* NULL: there is none */
    void (*flush)(const void *address, size_t size_bytes);
};

#define FOR_EACH_LINE(line, address, size)                                                         \
    for (uintptr_t line = (uintptr_t)(address) & ~(uintptr_t)(LINE_BYTES - 1);                     \
         line < (uintptr_t)(address) + (size); line += LINE_BYTES)

#if defined(__x86_64__)
enum { LINE_BYTES = 64 };

static void flush_clwb(const void *address, size_t size)
{
    FOR_EACH_LINE(line, address, size)
    {
        __asm__ volatile(".byte 0x66; xsaveopt %0" : "+m"(*(volatile char *)line));
    }
    __asm__ volatile("sfence" ::: "memory");
}

static void flush_clflushopt(const void *address, size_t size)
{
    FOR_EACH_LINE(line, address, size)
    {
        __asm__ volatile(".byte 0x66; clflush %0" : "+m"(*(volatile char *)line));
    }
    __asm__ volatile("sfence" ::: "memory");
}

static void flush_clflush(const void *address, size_t size)
{
    FOR_EACH_LINE(line, address, size)
    {
        __asm__ volatile("clflush %0" : "+m"(*(volatile char *)line));
    }
    __asm__ volatile("sfence" ::: "memory");
}

static struct instruction find_instruction(void)
{
    enum { CLFLUSHOPT = 1 << 23, CLWB = 1 << 24 }; /* of leaf 7, EBX */
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;

    (void)__get_cpuid_count(7, 0, &a, &b, &c, &d);
    if ((b & CLWB) != 0) {
        return (struct instruction){"CLWB and SFENCE", flush_clwb};
    }
    if ((b & CLFLUSHOPT) != 0) {
        return (struct instruction){"CLFLUSHOPT and SFENCE", flush_clflushopt};
    }
    return (struct instruction){"CLFLUSH", flush_clflush};
}
#elif defined(__aarch64__)
enum { LINE_BYTES = 16 }; /* the smallest that there may be */

#ifndef HWCAP_DCPOP
#define HWCAP_DCPOP (1 << 16)
#endif

static void flush_cvap(const void *address, size_t size)
{
    FOR_EACH_LINE(line, address, size)
    {
        __asm__ volatile("sys #3, c7, c12, #1, %0" ::"r"(line) : "memory");
    }
    __asm__ volatile("dsb sy" ::: "memory");
}

static struct instruction find_instruction(void)
{
    return ((getauxval(AT_HWCAP) & HWCAP_DCPOP) != 0)
               ? (struct instruction){"DC CVAP and DSB", flush_cvap}
               : (struct instruction){NULL, NULL};
}
#else
static struct instruction find_instruction(void)
{
    return (struct instruction){NULL, NULL};
}
#endif

/* ---- choice ---- */

/* It stays open: code of it may run in any thread. */
static struct instruction find_library(void)
{
    struct instruction found = {NULL, NULL};
    void *library            = dlopen("libpmem.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library != NULL) {
        *(void **)&found.flush = dlsym(library, "pmem_persist");
        found.name             = (found.flush != NULL) ? "libpmem" : NULL;
    }
    return found;
}

memspan_status_t msp_persist_choose(struct msp_persist *persist, bool is_direct, bool is_device,
                                    const char *domain)
{
    struct instruction found = {NULL, NULL};

    *persist = (struct msp_persist){.strength = SHMEMX_PERSISTENCE_FILE};
    if (is_direct) {
        found = find_library();
        found = (found.name != NULL) ? found : find_instruction();
    }
    if (found.name != NULL) {
        persist->strength = SHMEMX_PERSISTENCE_MEMORY;
        persist->flush    = found.flush;
        snprintf(persist->note, sizeof persist->note, "cache lines by %s; persistence domain: %s",
                 found.name, (domain[0] != '\0') ? domain : "not stated by the firmware");
        return MEMSPAN_OK;
    }
    if (is_device) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                             "this processor has no instruction that writes cache lines to "
                             "persistent memory, and libpmem is not here");
    }
    snprintf(persist->note, sizeof persist->note,
             "pages by msync(), as the file system keeps them%s",
             is_direct ? ": the processor writes no lines" : "");
    return MEMSPAN_OK;
}

memspan_status_t msp_persist_range(const struct msp_persist *persist, const void *address,
                                   size_t size_bytes)
{
    uintptr_t first = (uintptr_t)address & ~(uintptr_t)(msp_page_size() - 1);

    if (persist->flush != NULL) {
        persist->flush(address, size_bytes);
        return MEMSPAN_OK;
    }
    if (msync((void *)first, (uintptr_t)address + size_bytes - first, MS_SYNC) != 0) {
        return msp_error_native(MEMSPAN_ERR_DRIVER, "", "msync", errno, strerror(errno),
                                "what of the range is persistent is not known",
                                "%zu bytes at %p were not written to their file", size_bytes,
                                address);
    }
    return MEMSPAN_OK;
}
