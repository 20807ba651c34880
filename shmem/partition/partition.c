/* SPDX-License-Identifier: BSD-3-Clause */
/* partition.c: the table of partitions.
 *
 * It is written by collective calls and read without locks. */

#include "shmem/partition/partition.h"
#include "shmem/collective/collective.h"
#include "shmem/control/agree.h"
#include "shmem/option.h"
#include "shmem/partition/huge.h"
#include "shmem/partition/memory.h"
#include "shmem/partition/placement.h"
#include "shmem/partition/space.h"
#include "shmem/transport/owner.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct msp_partition table[MSP_PARTITION_MAX]; /* heap NULL: free */
static struct msp_partition_record records[MSP_PARTITION_MAX] MSP_SPARSE;
static signed char place_of[MSP_PARTITION_ID_MAX + 1]; /* in the table, + 1; 0: none */
static int default_id = MSP_PARTITION_NONE;
static const char *default_why;

static const struct msp_partition_record *record_of(const struct msp_partition *partition)
{
    return partition->memory;
}

/* ---- finding ---- */

struct msp_partition *msp_partition_get(int id)
{
    int number = (id == MSP_PARTITION_DEFAULT) ? default_id : id;

    if (((unsigned)number > MSP_PARTITION_ID_MAX) || (place_of[number] == 0)) {
        return NULL;
    }
    return &table[place_of[number] - 1];
}

const char *msp_partition_default_why(void)
{
    return (default_why != NULL) ? default_why : "";
}

struct msp_partition *msp_partition_of(const void *address)
{
    const struct msp_segment *segment = msp_segment_of(address);

    if ((uintptr_t)address - (uintptr_t)segment->base >= segment->size_bytes) {
        return NULL;
    }
    return (segment->partition >= 0) ? msp_partition_get(segment->partition) : NULL;
}

bool msp_partition_is_default_sized(const struct msp_partition *partition)
{
    return record_of(partition)->request.is_default_sized;
}

struct msp_persistent *msp_partition_persistent(const struct msp_partition *partition)
{
    return record_of(partition)->memory.persistent;
}

int msp_partition_ids(int *ids, int capacity)
{
    int count = 0;
    int id;

    for (id = 0; id <= MSP_PARTITION_ID_MAX; id++) {
        if (place_of[id] == 0) {
            continue;
        }
        if ((count < capacity) && (ids != NULL)) {
            ids[count] = id;
        }
        count++;
    }
    return count;
}

const char *msp_partition_name(int id)
{
    const struct msp_partition *partition = msp_partition_get(id);

    return (partition != NULL) ? record_of(partition)->request.variable : NULL;
}

/* ---- making and ending ---- */

static void say_fallback(const struct msp_partition_request *request,
                         const struct msp_partition_memory *memory)
{
    static int keys[MSP_PARTITION_MAX];
    int *key = &keys[(unsigned)request->id % MSP_PARTITION_MAX];

    if (msp_job.local_index != 0) {
        return;
    }
    if (memory->fell_back) {
        msp_warn_once(key, "%s: %s", request->variable, memory->placement.why);
    } else if (!memory->placement.is_block && (request->page_size_bytes != 0) &&
               (request->page_size_bytes != memory->placement.page_size_bytes)) {
        msp_warn_once(key, "%s: pages of %zu bytes instead of %llu", request->variable,
                      memory->placement.page_size_bytes,
                      (unsigned long long)request->page_size_bytes);
    }
}

/* Memory that only some of its PEs touch, or never all of, may be larger than the machine: that is
 * logged, not refused. */
static void say_beyond_memory(const char *variable, uint64_t bytes, int pe_count)
{
    static int key;
    const char *source;
    uint64_t capacity;

    if (msp_partition_capacity_is_exceeded(bytes, pe_count, &capacity, &source)) {
        msp_warn_once(&key,
                      "%s: symmetric memory of %d PEs, %llu bytes each, is more than the %llu "
                      "bytes that there are (%s): using all of it would end the job",
                      variable, pe_count, (unsigned long long)bytes, (unsigned long long)capacity,
                      source);
    }
}

static void enter(struct msp_partition *partition, int place, struct msp_team *team)
{
    const struct msp_partition_memory *memory = &records[place].memory;
    bool is_everyones                         = (team->index == MSP_TEAM_JOB);

    partition->id                           = records[place].request.id;
    partition->segment                      = memory->segment;
    partition->team                         = is_everyones ? MSP_TEAM_WORLD : team->index;
    partition->memory                       = &records[place];
    msp_segments[memory->segment].partition = partition->id;
    if (!is_everyones) {
        msp_segment_limit(memory->segment, team);
    }
    place_of[partition->id] = (signed char)(place + 1);
    if (!msp_segments[memory->segment].host_touches) {
        msp_job_add_device_memory(msp_segments[memory->segment].base);
    }
}

/* Memory and a heap for records[place].request; the outcome is the same in all of @p team. */
static memspan_status_t make(struct msp_team *team, int place)
{
    struct msp_partition *partition       = &table[place];
    struct msp_partition_request *request = &records[place].request;
    struct msp_partition_memory *memory   = &records[place].memory;
    memspan_status_t status;

    status = msp_partition_memory_take(team, request, memory);
    if (status != MEMSPAN_OK) {
        return status;
    }
    say_fallback(request, memory);
    status = msp_symmetric_heap_create((size_t)request->size_bytes, memory->align_bytes,
                                       &partition->heap);
    if ((status == MEMSPAN_OK) && (memory->persistent != NULL)) {
        status = msp_persistent_restore(memory->persistent, partition->heap);
    }
    if (!msp_agree_all(team, status == MEMSPAN_OK)) {
        msp_symmetric_heap_destroy(partition->heap);
        partition->heap = NULL;
        msp_partition_memory_give_back(memory);
        return (status != MEMSPAN_OK)
                   ? status
                   : msp_error_elsewhere(MEMSPAN_ERR_NO_MEMORY,
                                         "%s: another PE has no room for records",
                                         request->variable);
    }
    enter(partition, place, team);
    return MEMSPAN_OK;
}

static void end(int place)
{
    struct msp_partition *partition = &table[place];

    if (partition->heap == NULL) {
        return;
    }
    msp_symmetric_heap_destroy(partition->heap);
    msp_huge_leave_segment(partition->segment);
    msp_partition_memory_give_back(&records[place].memory);
    place_of[partition->id] = 0;
    memset(partition, 0, sizeof *partition);
    memset(&records[place], 0, sizeof records[place]);
}

/* ---- at start ---- */

/* Of the requests of this PE, by number; 0 where it has none. */
static uint64_t digest_of(const struct msp_partition_requests *requests, int id)
{
    int i;

    for (i = 0; i < requests->count; i++) {
        if (requests->request[i].id == id) {
            return msp_partition_request_digest(&requests->request[i]) | 1;
        }
    }
    return 0;
}

/* The first variable that not all PEs have with the same meaning, and the PE that differs. */
static memspan_status_t compare_requests(const struct msp_partition_requests *requests)
{
    struct msp_team *job = msp_team_job();
    uint64_t all =
        (uint64_t)requests->default_id ^ ((uint64_t)msp_symmetric_space_external() << 10);
    int id = -1;
    int other;
    int i;

    for (i = 0; i < requests->count; i++) {
        all = (all * UINT64_C(0x100000001b3)) ^ msp_partition_request_digest(&requests->request[i]);
    }
    other = msp_agree_first_other(job, all);
    if (other < 0) {
        return MEMSPAN_OK;
    }
    for (;;) {
        int mine = MSP_PARTITION_ID_MAX + 1;
        char variable[40];
        int pe;

        for (i = requests->count - 1; (i >= 0) && (requests->request[i].id > id); i--) {
            mine = requests->request[i].id;
        }
        id = MSP_PARTITION_ID_MAX + 1 -
             (int)msp_agree_max(job, (uint64_t)(MSP_PARTITION_ID_MAX + 1 - mine));
        if (id > MSP_PARTITION_ID_MAX) {
            return memspan_error(MEMSPAN_ERR_CONFIG,
                                 "the default partition, or the size of the program's own heap, "
                                 "differs between PE 0 and PE %d",
                                 other);
        }
        pe = msp_agree_first_other(job, digest_of(requests, id));
        if (pe >= 0) {
            snprintf(variable, sizeof variable, "SHMEM_SYMMETRIC_PARTITION%d", id);
            return msp_agree_refuse(variable, pe);
        }
    }
}

static memspan_status_t read_requests(struct msp_partition_requests *requests)
{
    memspan_status_t status = msp_partition_requests_get(requests);

    if (!msp_agree_all(msp_team_job(), status == MEMSPAN_OK)) {
        return (status != MEMSPAN_OK)
                   ? status
                   : msp_error_elsewhere(MEMSPAN_ERR_CONFIG,
                                         "a partition is malformed on another PE");
    }
    return compare_requests(requests);
}

static memspan_status_t open_arena(const struct msp_partition_requests *requests)
{
    size_t total   = 0;
    size_t largest = 0;
    int whose      = 0;
    memspan_status_t status;
    int i;

    for (i = 0; i < requests->count; i++) {
        uint64_t size = requests->request[i].size_bytes;

        if (size > ((uint64_t)1 << 40)) {
            memspan_error(MEMSPAN_ERR_CONFIG, "%s: %llu bytes are more than a heap can have",
                          requests->request[i].variable, (unsigned long long)size);
            return msp_error_hint("the largest partition is 1 TiB");
        }
        total += (size_t)size;
        if ((size_t)size > largest) {
            largest = (size_t)size;
            whose   = i;
        }
    }
    status = msp_arena_open(total, largest);
    return (status == MEMSPAN_OK)
               ? MEMSPAN_OK
               : msp_error_hint(
                     "a limit on address space (ulimit -v) is in the way, or %s, the largest, "
                     "is too large",
                     requests->request[whose].variable);
}

/* All partitions together; the largest is named. A default size is no promise. */
static void compare_with_memory(int count)
{
    const struct msp_partition_request *largest = NULL;
    uint64_t bytes                              = 0;
    bool is_asked                               = false;
    int i;

    for (i = 0; i < count; i++) {
        const struct msp_partition_request *request = &records[i].request;
        uint64_t use = msp_partition_capacity_use(request, &records[i].memory.placement);

        bytes += use;
        is_asked = is_asked || ((use != 0) && !request->is_unasked);
        if ((largest == NULL) || (request->size_bytes > largest->size_bytes)) {
            largest = request;
        }
    }
    if (is_asked && (msp_job.local_index == 0)) {
        say_beyond_memory(largest->variable, bytes, msp_job.local_count);
    }
}

memspan_status_t msp_partition_open(void)
{
    struct msp_partition_requests *requests = calloc(1, sizeof *requests);
    memspan_status_t status;
    int i;

    if (!msp_agree_all(msp_team_job(), requests != NULL)) {
        free(requests);
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory to read the partitions into");
    }
    status = read_requests(requests);
    if (status == MEMSPAN_OK) {
        status = open_arena(requests);
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < requests->count); i++) {
        records[i].request = requests->request[i];
        status             = make(msp_team_job(), i);
    }
    if (status == MEMSPAN_OK) {
        default_id  = requests->default_id;
        default_why = requests->default_why;
        compare_with_memory(requests->count);
        msp_partition_openmp_open();
    }
    free(requests);
    return (status == MEMSPAN_OK) ? msp_symmetric_space_open() : status;
}

void msp_partition_close(void)
{
    int i;

    msp_partition_openmp_close();
    msp_owner_close();
    msp_symmetric_space_close();
    msp_huge_close();
    for (i = 0; i < MSP_PARTITION_MAX; i++) {
        end(i);
    }
    default_id = MSP_PARTITION_NONE;
}

/* ---- at run time ---- */

/* A number that is free in all PEs of the team, and as high as may be: low ones are the
 * environment's. The same for a place. */
static memspan_status_t find_place(struct msp_team *team, int *id_p, int *place_p)
{
    int place;

    /* Teams that share PEs make spaces at different times: each looks for a number that all its
     * members have free, from the top. A vote a try; the first succeeds but for such teams. */
    for (place = MSP_PARTITION_MAX - 1; place >= 0; place--) {
        int id = MSP_PARTITION_ID_MAX - (MSP_PARTITION_MAX - 1 - place);

        if (msp_agree_all(team, (table[place].heap == NULL) && (place_of[id] == 0))) {
            *id_p    = id;
            *place_p = place;
            return MEMSPAN_OK;
        }
    }
    return memspan_error(MEMSPAN_ERR_LIMIT, "there are %d partitions already", MSP_PARTITION_MAX);
}

static memspan_status_t request_of(const shmemx_space_config_t *config,
                                   struct msp_partition_request *request)
{
    *request = (struct msp_partition_request){
        .size_bytes      = msp_partition_size(config->size),
        .page_size_bytes = config->pgsize,
        .kind            = config->kind,
        .policy          = config->policy,
        .device          = config->has_device ? config->device : MSP_PARTITION_DEVICE_LOCAL,
        .has_device      = config->has_device != 0,
        .has_policy      = true};
    if (config->size == 0) {
        return memspan_error(MEMSPAN_ERR_INVALID, "a space of no bytes");
    }
    if (config->size > ((size_t)1 << 46)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%zu bytes are more than there are addresses",
                             config->size);
    }
    if ((msp_partition_kind(config->kind, "") == NULL) ||
        ((unsigned)config->policy > SHMEMX_POLICY_INTERLEAVED)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "kind %d or policy %d is not known",
                             (int)config->kind, (int)config->policy);
    }
    if ((config->pgsize & (config->pgsize - 1)) != 0) {
        return memspan_error(MEMSPAN_ERR_INVALID, "a page of %zu bytes is no power of two",
                             config->pgsize);
    }
    if (config->has_device && (config->device < 0)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "device %d is no device", config->device);
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_partition_create(struct msp_team *team, const shmemx_space_config_t *config,
                                      int *id_p)
{
    struct msp_partition_request request = {.id = -1};
    memspan_status_t status              = request_of(config, &request);
    int place                            = -1;
    int id                               = -1;

    if (!msp_agree_all(team, status == MEMSPAN_OK)) {
        return (status != MEMSPAN_OK)
                   ? status
                   : msp_error_elsewhere(MEMSPAN_ERR_INVALID,
                                         "another PE asked for what is not possible");
    }
    if (!msp_collective_agrees(team, msp_partition_request_digest(&request))) {
        return memspan_error(MEMSPAN_ERR_CONFLICT,
                             "the members of the team ask for spaces that differ");
    }
    status = find_place(team, &id, &place);
    if (status != MEMSPAN_OK) {
        return status;
    }
    request.id = id;
    if (config->name != NULL) {
        snprintf(request.variable, sizeof request.variable, "%s", config->name);
    } else {
        snprintf(request.variable, sizeof request.variable, "space%d", id);
    }
    records[place].request = request;
    status                 = make(team, place);
    if (status == MEMSPAN_OK) {
        *id_p = id;
        if (team->pe == 0) {
            say_beyond_memory(
                request.variable,
                msp_partition_capacity_use(&request, &records[place].memory.placement),
                msp_team_local_count(team));
        }
    }
    return status;
}

memspan_status_t msp_partition_destroy(int id)
{
    struct msp_partition *partition = msp_partition_get(id);

    if (partition == NULL) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no partition %d", id);
    }
    if (partition->id == default_id) {
        return memspan_error(MEMSPAN_ERR_INVALID, "the default partition lives as long as the job");
    }
    msp_collective_barrier(&msp_teams[partition->team]);
    msp_driver_share_forget(partition->segment);
    msp_collective_sync(&msp_teams[partition->team]);
    end((int)(partition - table));
    return MEMSPAN_OK;
}

int msp_partition_by_name(const char *name)
{
    char *end_of_number;
    long number;
    int i;

    if (name == NULL) {
        return MSP_PARTITION_NONE;
    }
    for (i = 0; i < MSP_PARTITION_MAX; i++) {
        if ((table[i].heap != NULL) && (strcmp(records[i].request.variable, name) == 0)) {
            return table[i].id;
        }
    }
    number = strtol(name, &end_of_number, 10);
    if ((end_of_number == name) || (*end_of_number != '\0') || (number < 0) ||
        (number > MSP_PARTITION_ID_MAX) || (place_of[number] == 0)) {
        return MSP_PARTITION_NONE;
    }
    return (int)number;
}
