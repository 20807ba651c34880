/* SPDX-License-Identifier: BSD-3-Clause */
/* label.c: the names of allocators and providers in statistics and traces. */

#include "core/debug/watcher.h"
#include <stdio.h>

const char *msp_allocator_label(const struct msp_allocator *a, char buffer[MSP_LABEL_BYTES])
{
    if (memspan_allocator_name(a)[0] == '\0') {
        snprintf(buffer, MSP_LABEL_BYTES, "allocator:%u.%u", a->index, a->generation);
    } else {
        snprintf(buffer, MSP_LABEL_BYTES, "%s", memspan_allocator_name(a));
    }
    return buffer;
}

const char *msp_provider_label(const struct msp_provider *p, char buffer[MSP_LABEL_BYTES])
{
    unsigned number = 0;

    /* New ones come first in the list. */
    for (p = p->next; p != NULL; p = p->next) {
        number++;
    }
    snprintf(buffer, MSP_LABEL_BYTES, "provider:%u", number);
    return buffer;
}
