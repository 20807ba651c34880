/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_OBJECT_H
#define MEMSPAN_CORE_BASE_OBJECT_H

/* Shared objects that the dynamic linker has loaded: the one that holds an address, its
 * definitions, its dependencies.
 *
 * The answers are read from the objects' own tables under the lock of dl_iterate_phdr(), which the
 * linker holds for moments. dlopen(), dlsym() and dladdr() take another lock, which the linker
 * holds while constructors run and before it waits for the first: calling them here could
 * deadlock. Nothing is opened. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object, while it is loaded: the address of its dynamic section. 0 is none. */
typedef uintptr_t msp_object_t;

enum { MSP_OBJECT_SCOPE_MAX = 256 };

struct dl_phdr_info;

/* Whether a loaded part of the object holds @p address. For callbacks of dl_iterate_phdr(). */
bool msp_object_holds(const struct dl_phdr_info *info, uintptr_t address);

/* The object that holds @p address. */
msp_object_t msp_object_of(const void *address);

/* The program itself; the first object in load order. */
msp_object_t msp_object_program(void);

/* The address of @p name, which the object itself defines and exports; 0 when it does not. */
uintptr_t msp_object_symbol(msp_object_t object, const char *name);

/* @p name in the first object after this library in load order, else in the first before it; 0
 * when no other object defines it. */
uintptr_t msp_object_next(const char *name);

/* The same, of the objects that @p accept agrees to. */
typedef bool msp_object_accept_t(msp_object_t object, const void *argument);
uintptr_t msp_object_next_of(const char *name, msp_object_accept_t *accept, const void *argument);

/* The object and all that it depends on, breadth first, without this library. At most
 * MSP_OBJECT_SCOPE_MAX; returns how many. */
size_t msp_object_scope(msp_object_t object, msp_object_t *scope);

/* Where the object's calls of the routine go whose name begins with @p prefix: the first such one
 * that it takes from others. False when it takes none, or the linker has not bound the name yet and
 * nothing that is visible everywhere defines it.
 *
 * An unbound name of an object that the program opened is looked up by dlsym(): not where a lock is
 * held. */
bool msp_object_calls(msp_object_t object, const char *prefix, uintptr_t *address_p);

/* How often something has been loaded and unloaded so far. */
void msp_object_counts(unsigned long long *loads_p, unsigned long long *unloads_p);

/* Keep the object loaded for ever. Opens an object that the program could unload: not where a lock
 * is held. */
void msp_object_keep(msp_object_t object);

#endif /* MEMSPAN_CORE_BASE_OBJECT_H */
