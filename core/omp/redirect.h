/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_REDIRECT_H
#define MEMSPAN_CORE_OMP_REDIRECT_H

#include <stddef.h>

struct msp_redirect {
    const char *name;
    void (*to)(void);
};

/* From now on every object that is loaded calls @p to where it called the function @p name of
 * another: its entries in the linker table (PLT or GOT) are changed. Code that looks names up by
 * itself is not concerned, and so msp_dl_next() finds the earlier function. For tools that check a
 * program at its user's request. @p loads is 0, or the result of the last call for the list:
 * nothing is done when nothing has been loaded since. */
unsigned long long msp_redirect(const struct msp_redirect *list, size_t count,
                                unsigned long long loads);

#endif /* MEMSPAN_CORE_OMP_REDIRECT_H */
