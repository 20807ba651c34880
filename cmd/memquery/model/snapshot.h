/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_SNAPSHOT_H
#define MEMQUERY_SNAPSHOT_H

/* The state of the machine, collected once. */

#include "cmd/memquery/probe/probe.h"
#include <memspan/memspan.h>
#include <stdbool.h>

struct backend_row {
    memspan_backend_info_t info;
    const struct failure *failure; /* its failure while probed, and info says little; or NULL */
    char native[320];              /* the driver's call, code and words, or "" */
};

/* State of a method to share a device's memory. */
enum share_state {
    SHARE_NO,      /* not supported by the driver or the machine */
    SHARE_CLAIMED, /* the driver says so; not tried */
    SHARE_FAILED,  /* tried, failed */
    SHARE_PARTLY,  /* tried, not proved in full */
    SHARE_PROVED   /* data was moved */
};

struct sharing {
    enum share_state state;
    char detail[512];
    char native[200]; /* the driver's call, code and words */
    char remedy[240];
};

struct device_row {
    memspan_device_info_t info;
    struct sharing ipc; /* share.h */
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
    bool planned;                  /* plan is what an allocator over it alone would be given */
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
    char host_name[64];
    struct backend_row *backends;
    size_t backend_count;
    struct device_row *devices; /* the host first */
    size_t device_count;
    struct peer *peers; /* [home * device_count + from]; peer.h */
    int host_number;    /* the other number that means the host */
    memspan_numa_node_info_t *nodes;
    size_t node_count;
    struct space_row *spaces;
    size_t space_count;
    const struct measure_figures *figures; /* measured figures, or NULL */
    uint64_t lock_limit_bytes; /* MEMSPAN_UNKNOWN: none, or it does not bind this user */
    char (*warnings)[512];
    size_t warning_count;
};

/* Query the library. What is unknown has its reason in its place. */
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

#endif /* MEMQUERY_SNAPSHOT_H */
