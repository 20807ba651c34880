/* SPDX-License-Identifier: BSD-3-Clause */
/* next.c: the allocator of the process, which comes after this library: the C library's, or
 * jemalloc, tcmalloc, mimalloc and their like. A block is freed by the allocator that it is of.
 *
 * dlsym() may allocate while the first of these functions is searched: it gets a few bytes of an
 * array, which are never freed. */

#include "cmd/memspan-advise/preload/preload.h"
#include <dlfcn.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

enum { EARLY_BYTES = 64 << 10, ALIGN_BYTES = 16 };

static alignas(ALIGN_BYTES) char early[EARLY_BYTES];
static atomic_size_t early_used;
static __thread bool searching;

/* Its size is in front of it. */
static void *take_early(size_t size_bytes)
{
    size_t bytes = (size_bytes + 2 * ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
    size_t at    = atomic_fetch_add(&early_used, bytes);

    if ((size_bytes > EARLY_BYTES) || (at + bytes > EARLY_BYTES)) {
        return NULL;
    }
    memcpy(early + at, &size_bytes, sizeof(size_bytes));
    return early + at + ALIGN_BYTES;
}

static bool is_early(const void *address)
{
    return (uintptr_t)address - (uintptr_t)early < EARLY_BYTES;
}

static size_t early_bytes(const void *address)
{
    size_t size_bytes;

    memcpy(&size_bytes, (const char *)address - ALIGN_BYTES, sizeof(size_bytes));
    return size_bytes;
}

void *next_symbol(const char *name)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1"};
    void *symbol                         = NULL;

    if (!searching) {
        searching = true;
        symbol    = dlsym(RTLD_NEXT, name);
        /* A library of C++ that was opened later is in no order. */
        for (size_t i = 0; (i < 2) && (symbol == NULL) && (name[0] == '_'); i++) {
            void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

            symbol = (library == NULL) ? NULL : dlsym(library, name);
        }
        searching = false;
    }
    return symbol;
}

/* The function of that name, or NULL while one is searched. */
#define FIND(name, type)                                                                           \
    static type find_##name(void)                                                                  \
    {                                                                                              \
        static void *_Atomic known;                                                                \
        void *symbol = atomic_load_explicit(&known, memory_order_relaxed);                         \
        type function;                                                                             \
                                                                                                   \
        if (symbol == NULL) {                                                                      \
            symbol = next_symbol(#name);                                                           \
            atomic_store_explicit(&known, symbol, memory_order_relaxed);                           \
        }                                                                                          \
        memcpy(&function, &symbol, sizeof(function));                                              \
        return function;                                                                           \
    }

typedef void *(*take_call)(size_t);
typedef void *(*take_two_call)(size_t, size_t);
typedef void *(*resize_call)(void *, size_t);
typedef void (*give_call)(void *);
typedef size_t (*size_call)(void *);
FIND(malloc, take_call)
FIND(calloc, take_two_call)
FIND(realloc, resize_call)
FIND(memalign, take_two_call)
FIND(free, give_call)
FIND(malloc_usable_size, size_call)

void *next_malloc(size_t size_bytes)
{
    take_call function = find_malloc();

    return (function == NULL) ? take_early(size_bytes) : function(size_bytes);
}

void *next_calloc(size_t count, size_t size_bytes)
{
    take_two_call function = find_calloc();
    size_t bytes;

    if (function != NULL) {
        return function(count, size_bytes);
    }
    return __builtin_mul_overflow(count, size_bytes, &bytes) ? NULL : take_early(bytes);
}

void *next_realloc(void *address, size_t size_bytes)
{
    resize_call function = find_realloc();
    void *moved;

    if ((function != NULL) && !is_early(address)) {
        return function(address, size_bytes);
    }
    moved = next_malloc(size_bytes);
    if ((moved != NULL) && (address != NULL)) {
        size_t old_bytes = early_bytes(address);

        memcpy(moved, address, (old_bytes < size_bytes) ? old_bytes : size_bytes);
    }
    return moved;
}

void *next_memalign(size_t align_bytes, size_t size_bytes)
{
    take_two_call function = find_memalign();

    return (function == NULL) ? NULL : function(align_bytes, size_bytes);
}

void next_free(void *address)
{
    give_call function = is_early(address) ? NULL : find_free();

    if (function != NULL) {
        function(address);
    }
}

size_t next_usable_size(void *address)
{
    size_call function = is_early(address) ? NULL : find_malloc_usable_size();

    return (function == NULL) ? early_bytes(address) : function(address);
}
