/* SPDX-License-Identifier: BSD-3-Clause */
/* operator.c: operator new and delete of C++, which jemalloc and its like have besides malloc(). By
 * the names of the Itanium ABI, as GCC and Clang make them: this library is C.
 *
 * A watched or placed block is given by malloc(); where it is no such block, or there is no memory,
 * the next operator decides, and throws. */

#include "cmd/memspan-advise/preload/preload.h"
#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct nothrow; /* std::nothrow_t */

/* The next function @p symbol, which is searched by @p name once. */
static void *known(void *_Atomic *symbol_p, const char *name)
{
    void *symbol = *symbol_p;

    if (symbol == NULL) {
        symbol    = next_symbol(name);
        *symbol_p = symbol;
    }
    return symbol;
}

/* parameters and arguments in parentheses */
#define NEW(name, align_bytes, size_bytes, parameters, arguments)                                  \
    EXPORT void *name parameters;                                                                  \
    EXPORT void *name parameters                                                                   \
    {                                                                                              \
        static void *_Atomic next;                                                                 \
        void *address = preload_take(align_bytes, size_bytes, __builtin_return_address(0));        \
        void *symbol  = (address == NULL) ? known(&next, #name) : NULL;                            \
        void *(*function)parameters;                                                               \
                                                                                                   \
        memcpy(&function, &symbol, sizeof(function));                                              \
        return (address != NULL)  ? address                                                        \
               : (symbol != NULL) ? function arguments                                             \
                                  : next_malloc(size_bytes);                                       \
    }

#define DELETE(name, parameters, arguments)                                                        \
    EXPORT void name parameters;                                                                   \
    EXPORT void name parameters                                                                    \
    {                                                                                              \
        static void *_Atomic next;                                                                 \
        void *symbol = preload_give(address) ? NULL : known(&next, #name);                         \
        void(*function) parameters;                                                                \
                                                                                                   \
        memcpy(&function, &symbol, sizeof(function));                                              \
        if (symbol != NULL) {                                                                      \
            function arguments;                                                                    \
        }                                                                                          \
    }

enum { ALIGN = alignof(max_align_t) };

/* clang-format off: a line each */
NEW(_Znwm, ALIGN, size, (size_t size), (size))
NEW(_Znam, ALIGN, size, (size_t size), (size))
NEW(_ZnwmRKSt9nothrow_t, ALIGN, size, (size_t size, const struct nothrow *tag), (size, tag))
NEW(_ZnamRKSt9nothrow_t, ALIGN, size, (size_t size, const struct nothrow *tag), (size, tag))
NEW(_ZnwmSt11align_val_t, align, size, (size_t size, size_t align), (size, align))
NEW(_ZnamSt11align_val_t, align, size, (size_t size, size_t align), (size, align))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, align, size,
    (size_t size, size_t align, const struct nothrow *tag), (size, align, tag))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, align, size,
    (size_t size, size_t align, const struct nothrow *tag), (size, align, tag))
DELETE(_ZdlPv, (void *address), (address))
DELETE(_ZdaPv, (void *address), (address))
DELETE(_ZdlPvm, (void *address, size_t size), (address, size))
DELETE(_ZdaPvm, (void *address, size_t size), (address, size))
DELETE(_ZdlPvRKSt9nothrow_t, (void *address, const struct nothrow *tag), (address, tag))
DELETE(_ZdaPvRKSt9nothrow_t, (void *address, const struct nothrow *tag), (address, tag))
DELETE(_ZdlPvSt11align_val_t, (void *address, size_t align), (address, align))
DELETE(_ZdaPvSt11align_val_t, (void *address, size_t align), (address, align))
DELETE(_ZdlPvmSt11align_val_t, (void *address, size_t size, size_t align), (address, size, align))
DELETE(_ZdaPvmSt11align_val_t, (void *address, size_t size, size_t align), (address, size, align))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t,
       (void *address, size_t align, const struct nothrow *tag), (address, align, tag))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t,
       (void *address, size_t align, const struct nothrow *tag), (address, align, tag))
/* clang-format on */
