/* SPDX-License-Identifier: BSD-3-Clause */
/* label.c: what allocators and providers are called in statistics and traces. */

#include "core/label.h"
#include <stdio.h>

const char *memspan_allocator_label(const struct memspan_allocator *a,
                                    char buffer[MEMSPAN_LABEL_BYTES])
{
    if (memspan_allocator_name(a)[0] == '\0') {
        snprintf(buffer, MEMSPAN_LABEL_BYTES, "allocator:%u.%u", a->index, a->generation);
    } else {
        snprintf(buffer, MEMSPAN_LABEL_BYTES, "%s", memspan_allocator_name(a));
    }
    return buffer;
}

const char *memspan_provider_label(const struct memspan_provider *p,
                                   char buffer[MEMSPAN_LABEL_BYTES])
{
    unsigned number = 0;

    /* New ones come first in the list. */
    for (p = p->next; p != NULL; p = p->next) {
        number++;
    }
    snprintf(buffer, MEMSPAN_LABEL_BYTES, "provider:%u", number);
    return buffer;
}
