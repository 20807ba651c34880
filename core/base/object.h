/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_OBJECT_H
#define MEMSPAN_CORE_BASE_OBJECT_H

/* Shared objects that the dynamic linker has loaded: which one holds an address, what it defines,
 * what it depends on.
 *
 * The answers are read from the objects' own tables under the lock of dl_iterate_phdr(), which the
 * linker holds for moments. dlopen(), dlsym() and dladdr() take another lock, which the linker
 * holds while constructors run and before it waits for the first: calling them here could
 * deadlock. Nothing is opened. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object, while it is loaded: the address of its dynamic section. 0 is none. */
typedef uintptr_t memspan_object_t;

enum { MEMSPAN_OBJECT_SCOPE_MAX = 256 };

/* The object that holds @p address. */
memspan_object_t memspan_object_of(const void *address);

/* The program itself; the first object in load order. */
memspan_object_t memspan_object_program(void);

/* The address of @p name, which the object itself defines and exports; 0 when it does not. */
uintptr_t memspan_object_symbol(memspan_object_t object, const char *name);

/* @p name in the first object after this library in load order, else in the first before it; 0
 * when no other object defines it. */
uintptr_t memspan_object_next(const char *name);

/* The same, of the objects that @p accept agrees to. */
typedef bool memspan_object_accept_t(memspan_object_t object, const void *argument);
uintptr_t memspan_object_next_of(const char *name, memspan_object_accept_t *accept,
                                 const void *argument);

/* The object and all that it depends on, breadth first, without this library. At most
 * MEMSPAN_OBJECT_SCOPE_MAX; returns how many. */
size_t memspan_object_scope(memspan_object_t object, memspan_object_t *scope);

/* How often something has been loaded and unloaded so far. */
void memspan_object_counts(unsigned long long *loads_p, unsigned long long *unloads_p);

/* Keep the object loaded for ever. Opens an object that the program could unload: not where a lock
 * is held. */
void memspan_object_keep(memspan_object_t object);

#endif /* MEMSPAN_CORE_BASE_OBJECT_H */
