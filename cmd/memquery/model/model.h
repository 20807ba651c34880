/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MODEL_H
#define MEMQUERY_MODEL_H

#include "cmd/memquery/output/output.h"
#include "cmd/memquery/probe/probe.h"
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stddef.h>

/* snapshot.c: the state of the machine, collected once. */

struct backend_row {
    memspan_backend_info_t info;
    const struct failure *failure; /* its failure while probed, and info is incomplete; or NULL */
    char native[320];              /* the driver's call, code and words, or "" */
};

struct device_row {
    memspan_device_info_t info;
    struct sharing ipc; /* share.c */
    struct sharing dmabuf;
    struct sharing rdma;
    char label[16]; /* "h", "d0": heads the access column */
    int same_as;    /* index of the first row of the same hardware */
};

/* Ordered by severity. */
enum resource_state { RESOURCE_OK, RESOURCE_ALIAS, RESOURCE_CONDITIONAL, RESOURCE_OFF };

/* One resource of a space. */
struct resource {
    memspan_resource_info_t info;
    int node_last;                 /* numa_node, or the highest of merged resources */
    bool limited;                  /* the host may have less than its nodes hold */
    memspan_reach_t *reach;        /* by index into snapshot.devices */
    memspan_coherence_t coherence; /* the weakest among the devices of the space */
    bool planned;                  /* plan is the result for an allocator over it alone */
    memspan_allocator_info_t plan;
    enum resource_state state;
    char note[320]; /* reason for the state, or "" */
};

struct space_row {
    memspan_space_h handle;
    memspan_space_info_t info;
    memspan_status_t status; /* MEMSPAN_OK, or why it does not exist */
    char problem[512];
    struct resource *resources;
    size_t resource_count;
};

/* How one device reaches the own memory of another. */
struct peer {
    memspan_reach_t reach;
    char source[160]; /* where that is known from */
};

struct snapshot {
    const struct request *request;
    char host_name[64];
    struct backend_row *backends;
    size_t backend_count;
    struct device_row *devices; /* the host first */
    size_t device_count;
    struct peer *peers; /* [home * device_count + from]; peer.c */
    int host_number;    /* the other number that means the host */
    memspan_numa_node_info_t *nodes;
    size_t node_count;
    memspan_memory_device_info_t *memory_devices; /* memory that is no node, or became one */
    size_t memory_device_count;
    struct space_row *spaces;
    size_t space_count;
    const struct measure_figures *figures; /* measured figures, or NULL */
    uint64_t lock_limit_bytes; /* MEMSPAN_UNKNOWN: none, or it does not bind this user */
    char (*warnings)[512];
    size_t warning_count;
};

/* Query the library. An unknown value has its reason in its place. */
void snapshot_take(struct snapshot *snapshot, const struct request *request);
void snapshot_free(struct snapshot *snapshot);

/* Index of the device with that number (either one of the host), or -1. */
int snapshot_device_index(const struct snapshot *snapshot, int number);

/* "cuda:0 opencl:1": every name of the same hardware, by backend and ordinal. */
void snapshot_device_names(const struct snapshot *snapshot, size_t index, char *text, size_t size);

/* "ok", "ALIAS", "COND", "OFF". */
const char *resource_state_name(enum resource_state state);

/* "node0-1", "d0": the place of the resource's memory. */
void resource_home(const struct snapshot *snapshot, const struct resource *resource, char *text,
                   size_t size);

/* In tables, host nodes that differ in number alone are one line. Makes the resource that stands
 * for resources[first] and those after it; returns how many it stands for. */
size_t resource_merge(const struct snapshot *snapshot, const struct space_row *row, size_t first,
                      struct resource *resource_p);

/* The source of the resource's capacity. */
const char *resource_capacity_source(const struct snapshot *snapshot,
                                     const struct resource *resource);

/* The thread's error record as text: message and the driver's words. */
void snapshot_error(char *text, size_t size);

/* capability.c: the names of device capabilities in --json and --check. */

struct capability {
    const char *name;
    unsigned bit; /* enum memspan_capability */
};

extern const struct capability capabilities[];
extern const size_t capability_count;

/* space.c: the spaces of the snapshot, and their resources. */

/* The extra resource for locked host memory, which is not one of the library's. */
#define SPACE_PINNED_NAME "host.pinned"

/* Fill snapshot->spaces: the predefined ones, each device alone, each with the host, and all.
 * Needs snapshot->devices. */
void space_take_all(struct snapshot *snapshot);

/* Name and handle of a predefined space; NULL after the last. */
const char *space_predefined(size_t index, memspan_space_h *space_p);

/* peer.c: how each device reaches the own memory of the others, and the source of that. */

/* Query every pair of devices, the host among them. */
void peer_take_all(struct snapshot *snapshot);

/* How devices[from] reaches the own memory of devices[home]. */
const struct peer *peer_of(const struct snapshot *snapshot, size_t home, size_t from);

/* The matrix; with @p sources each source once below it, with its pairs. */
void peer_print(const struct snapshot *snapshot, bool sources, FILE *out);

/* One object a pair. */
json_t *peer_json(const struct snapshot *snapshot);

/* names.c: lookup of names for --why and --check. */

enum name_sort {
    NAME_UNKNOWN,
    NAME_BACKEND,
    NAME_MISSING_BACKEND, /* a known driver without a backend in this library */
    NAME_DEVICE,
    NAME_MISSING_DEVICE, /* "device7" on a machine with two */
    NAME_SPACE,
    NAME_RESOURCE,
    NAME_OFFER, /* "opencl0.managed" where the device does not offer it */
    NAME_KIND
};

struct name {
    enum name_sort sort;
    const struct backend_row *backend;
    const struct device_row *device; /* of a device; the home of a resource or offer */
    const struct space_row *space;   /* of a space; the first that has the resource */
    const struct resource *resource;
    memspan_kind_t kind;
};

/* The subject of a search: "host" is both a backend and a device, and "opencl" is no space. */
enum name_sought { NAME_ANY, NAME_A_BACKEND, NAME_A_DEVICE, NAME_A_SPACE };

/* Find @p text; *list_p receives all names of the subject (the caller frees its items). */
struct name name_find(const struct snapshot *snapshot, const char *text, enum name_sought request,
                      struct text_list *list_p);

/* The kind with that name, or MEMSPAN_KIND_NONE. */
memspan_kind_t name_kind(const char *text);

/* words.c: the words of --plan and --check: "devices=0,host,memory_access=managed,size>=1g". */

enum words_operator { WORD_ALONE, WORD_IS, WORD_AT_LEAST, WORD_AT_MOST, WORD_MORE, WORD_LESS };

enum { WORDS_MAX = 64, WORDS_DEVICES_MAX = 256 };

struct word {
    char key[64];
    enum words_operator op;
    char value[96];      /* "" without a value; of devices=: its first device */
    size_t device_first; /* of devices=: start of its list in words.devices */
    size_t device_count;
    bool every_device; /* devices=all */
};

struct words {
    struct word list[WORDS_MAX];
    size_t count;
    int devices[WORDS_DEVICES_MAX]; /* all lists, concatenated */
    size_t device_count;
};

/* EXIT_YES, or EXIT_USAGE after a message. Commas within braces do not separate (space names
 * have them); numbers and "host" after devices= belong to its list. */
int words_parse(const char *text, struct words *words_p);

/* plan.c: a dry run of an allocator, for --plan and for devices= of --check. */

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

/* EXIT_YES: the requested kind, or a stronger one; EXIT_CONDITIONAL: a trait is not kept;
 * EXIT_ABSENT: nothing; EXIT_USAGE: malformed; EXIT_PROBE: a driver failed. Prints nothing. */
int plan_make(struct plan *plan);

/* Print why plan_make() has failed, and the remedy. */
void plan_complain(const struct plan *plan);

/* facts.c: the facts of a subject of --check. */

/* The words that apply to a subject. */
enum {
    FACT_KINDS        = 1u << 0, /* host host-pinned managed coherent device */
    FACT_COHERENCE    = 1u << 1, /* sync concurrent atomic */
    FACT_PLACEMENT    = 1u << 2, /* pinned migratable */
    FACT_CAPABILITIES = 1u << 3, /* share_addresses ... */
    FACT_EXACT        = 1u << 4
};

enum quantity { SIZE, FREE, ALLOC_MAX, PAGE_SIZE, DEVICES, NODES, QUANTITY_COUNT };

/* Kinds of subject: the same words apply on every machine. */
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

/* monitor.c: --check --format nagios. */

/* Exit codes of monitoring plug-ins. */
enum monitor_status { MONITOR_OK, MONITOR_WARNING, MONITOR_CRITICAL, MONITOR_UNKNOWN };

/* Added by the child that answers, so that its parent knows that the line is printed. */
enum { MONITOR_PRINTED = 64 };

struct monitor {
    char text[2048]; /* words that do not hold */
    char figures[2048];
};

/* A word of the expression has its verdict (an exit code). */
void monitor_add_word(struct monitor *monitor, const char *word, int verdict, const char *why);

/* A compared quantity: a count, or bytes; MEMSPAN_UNKNOWN: unknown. */
void monitor_add_figure(struct monitor *monitor, const char *subject, const struct word *word,
                        bool is_count, uint64_t value);

/* Print the line of the whole expression. */
enum monitor_status monitor_print(struct monitor *monitor, const char *expression, int verdict,
                                  FILE *out);

/* The answers, each a probe_job_t: it runs in a child and may open drivers. */

/* The whole snapshot (memquery without a question). */
int report_show(const struct request *request, FILE *out);

/* --plan, --check, --why, --shmem, --config. */
int report_plan(const struct request *request, FILE *out);
int report_check(const struct request *request, FILE *out);
int report_why(const struct request *request, FILE *out);
int report_shmem(const struct request *request, FILE *out);
int report_config(const struct request *request, FILE *out);

/* The variables that are set or refused, one object each, as --config prints them. */
json_t *config_set(const struct request *request);

/* The variable of OpenSHMEM at that index (shmemx_option_describe()). False: no more, or its
 * library is not here. */
bool shmem_variable(int index, memspan_option_info_t *info_p);

#endif /* MEMQUERY_MODEL_H */
