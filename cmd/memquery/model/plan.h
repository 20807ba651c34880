/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_PLAN_H
#define MEMQUERY_PLAN_H

/* A dry run of an allocator, for --plan and for devices= of --check. */

#include "cmd/memquery/model/words.h"
#include <memspan/memspan.h>

enum { PLAN_TRAITS_MAX = 32 };

struct plan {
    memspan_space_h base;
    int devices[WORDS_DEVICES_MAX];
    size_t device_count; /* 0: the base space itself, which is the host's */
    char traits_text[1024];
    memspan_trait_t traits[PLAN_TRAITS_MAX];
    size_t trait_count;

    memspan_status_t status; /* MEMSPAN_OK, or why it fails */
    char problem[512];
    char hint[512];
    memspan_space_h space;
    memspan_allocator_info_t info;
};

/* Add devices=..., base=... or a trait. EXIT_YES, or EXIT_USAGE after a message. */
int plan_add_word(struct plan *plan, const struct words *words, const struct word *word);

/* EXIT_YES: what was asked for, or a stronger kind; EXIT_CONDITIONAL: a trait is not kept;
 * EXIT_ABSENT: nothing; EXIT_USAGE: malformed; EXIT_PROBE: a driver failed. Prints nothing. */
int plan_make(struct plan *plan);

/* Print why plan_make() has failed, and what to do. */
void plan_complain(const struct plan *plan);

#endif /* MEMQUERY_PLAN_H */
