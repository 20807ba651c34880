/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_DL_H
#define MEMSPAN_CORE_BASE_DL_H

/* Drivers are opened at run time: a table of {name, fallback name, where the pointer goes} drives
 * dlsym(). An absent optional symbol is a missing capability, never a failure to load. */

#include <memspan/status.h>
#include <stdbool.h>
#include <stddef.h>

struct msp_dl_symbol {
    const char *name;
    const char *fallback_name; /* an older name with the same signature, or NULL */
    size_t offset;             /* of the function pointer in the backend's table of calls */
    bool optional;
};

/* Open the first of @p sonames (NULL-terminated) that loads and fill @p calls. MEMSPAN_ERR_OFF,
 * with a reason, when none loads or a required symbol is absent. */
memspan_status_t msp_dl_open(const char *backend, const char *const *sonames,
                             const struct msp_dl_symbol *symbols, size_t symbol_count, void *calls,
                             void **handle_p);

/* The definition of @p name that this library hides: the next one in load order, else any loaded
 * library's that is not ours. NULL when no other library defines it. Opens nothing. */
void *msp_dl_next(const char *name);

#endif /* MEMSPAN_CORE_BASE_DL_H */
