/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_CHECK_FACTS_H
#define MEMQUERY_CHECK_FACTS_H

/* The facts of a subject of --check. */

#include "cmd/memquery/model/plan.h"
#include "cmd/memquery/model/snapshot.h"
#include "cmd/memquery/output/text.h"

/* The words that apply to a subject. */
enum {
    FACT_KINDS        = 1u << 0, /* host host-pinned managed coherent device */
    FACT_COHERENCE    = 1u << 1, /* sync concurrent atomic */
    FACT_PLACEMENT    = 1u << 2, /* pinned migratable */
    FACT_CAPABILITIES = 1u << 3, /* share_addresses ... */
    FACT_EXACT        = 1u << 4
};

enum quantity { SIZE, FREE, ALLOC_MAX, PAGE_SIZE, DEVICES, NODES, QUANTITY_COUNT };

/* Kinds of subject: the same words apply on every machine, whatever it has. */
enum facts_subject { OF_MACHINE, OF_BACKEND, OF_DEVICE, OF_SPACE, OF_LIST };

struct facts {
    enum facts_subject subject;
    int verdict;    /* exit code of the subject by itself */
    unsigned kinds; /* bits of memspan_kind_t */
    unsigned capabilities;
    memspan_coherence_t coherence;
    bool pinned;
    bool migratable;
    bool exact;
    uint64_t quantity[QUANTITY_COUNT]; /* MEMSPAN_UNKNOWN: unknown */
    char why[640];                     /* reason of the last verdict, or "" */
};

/* "a device"; do its words include one of those bits, or that quantity? */
const char *facts_subject_name(enum facts_subject subject);
bool facts_have(const struct facts *facts, unsigned words);
bool facts_have_quantity(const struct facts *facts, enum quantity quantity);

void facts_explain(struct facts *facts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct facts facts_of_machine(const struct snapshot *snapshot);
struct facts facts_of_backend(const struct backend_row *row);
struct facts facts_of_device(const struct device_row *row);
struct facts facts_of_space(const struct snapshot *snapshot, const struct space_row *row);
struct facts facts_of_plan(struct plan *plan); /* makes it */

/* Of one resource by itself. */
struct facts facts_of_resource(const struct snapshot *snapshot, const struct resource *resource);

/* Of an absent subject. */
struct facts facts_of_absent(enum facts_subject subject);

#endif /* MEMQUERY_CHECK_FACTS_H */
