/* SPDX-License-Identifier: BSD-3-Clause */
/* retired.c: the counts of allocators that have ended, and names, which outlive them. */

#include "core/engine/retired.h"
#include "core/engine/account.h"
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 256, NAME_BUCKETS = 1024 };

struct name {
    struct name *next;
    char text[];
};

static struct name *names[NAME_BUCKETS];
static struct msp_retired others  = {.name = "", .kind = MEMSPAN_KIND_NONE};
static struct msp_retired *groups = &others;
static unsigned group_count;

struct msp_retired *msp_retired_group(const char *name, memspan_kind_t kind)
{
    struct msp_retired *group;

    for (group = groups; group != NULL; group = group->next) {
        if ((group->kind == kind) && ((group->name == name) || (strcmp(group->name, name) == 0))) {
            return group;
        }
    }
    group = (group_count < GROUPS_MAX) ? calloc(1, sizeof(*group)) : NULL;
    if (group == NULL) {
        return &others;
    }
    group->name = name;
    group->kind = kind;
    group->next = groups;
    groups      = group;
    group_count++;
    return group;
}

void msp_retired_add(struct msp_retired *group, const struct msp_account *account)
{
    group->allocated_count += atomic_load_explicit(&account->allocated_count, memory_order_relaxed);
    group->failed_count += atomic_load_explicit(&account->failed_count, memory_order_relaxed);
    group->peak_bytes += (uint64_t)atomic_load_explicit(&account->peak_bytes, memory_order_relaxed);
}

const struct msp_retired *msp_retired_first(void)
{
    return groups;
}

const char *msp_name_intern(const char *name)
{
    size_t size  = strlen(name) + 1;
    uint32_t sum = 0;
    struct name *entry;
    size_t i;

    for (i = 0; i + 1 < size; i++) {
        sum = sum * 31 + (unsigned char)name[i];
    }
    for (entry = names[sum % NAME_BUCKETS]; entry != NULL; entry = entry->next) {
        if (strcmp(entry->text, name) == 0) {
            return entry->text;
        }
    }
    entry = malloc(sizeof(*entry) + size);
    if (entry == NULL) {
        return NULL;
    }
    memcpy(entry->text, name, size);
    entry->next               = names[sum % NAME_BUCKETS];
    names[sum % NAME_BUCKETS] = entry;
    return entry->text;
}
