/* SPDX-License-Identifier: BSD-3-Clause */
/* space.c: spaces, and memory of the program's own.
 *
 * A handle is index | generation << 12; index 0 is none, 1 the default space. */

#include "shmem/partition/space.h"
#include "shmem/collective/collective.h"
#include "shmem/control/agree.h"
#include "shmem/transport/owner.h"
#include <memspan/allocator.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPACE_MAX        = 256,
    SPACE_INDEX_MASK = 0xfff,
    SPACE_SHIFT      = 12,
    SPACE_FIRST      = 2,
    BUFFER_MAX       = 1024,
    NAME_BYTES       = 40,
};

struct space {
    bool is_live;
    unsigned generation;
    int partition; /* MSP_PARTITION_NONE: not attached */
    shmemx_space_config_t config;
    char name[NAME_BYTES];
};

static struct space spaces[SPACE_MAX] MSP_SPARSE;
static pthread_mutex_t space_lock = PTHREAD_MUTEX_INITIALIZER; /* guards is_live, buffers */

/* ---- handles ---- */

static shmemx_space_t handle_of(const struct space *space)
{
    return (shmemx_space_t)(((uintptr_t)space->generation << SPACE_SHIFT) |
                            (uintptr_t)(space - spaces));
}

/* NULL, with an error record, when it is none that a program made. */
static struct space *find(shmemx_space_t handle)
{
    uintptr_t index = (uintptr_t)handle & SPACE_INDEX_MASK;

    if ((index >= SPACE_FIRST) && (index < SPACE_MAX) && spaces[index].is_live &&
        (handle_of(&spaces[index]) == handle)) {
        return &spaces[index];
    }
    msp_refuse(MEMSPAN_ERR_NOT_FOUND, "%p is no space, or was destroyed before", (void *)handle);
    return NULL;
}

static struct space *take_space(void)
{
    struct space *found = NULL;
    int i;

    pthread_mutex_lock(&space_lock);
    for (i = SPACE_FIRST; (i < SPACE_MAX) && (found == NULL); i++) {
        if (!spaces[i].is_live) {
            found             = &spaces[i];
            found->is_live    = true;
            found->generation = found->generation + 1;
            found->partition  = MSP_PARTITION_NONE;
        }
    }
    pthread_mutex_unlock(&space_lock);
    if (found == NULL) {
        msp_refuse(MEMSPAN_ERR_LIMIT, "there are %d spaces already", SPACE_MAX - SPACE_FIRST);
    }
    return found;
}

/* The caller's structure may be of a time with fewer members, or more. */
static memspan_status_t read_config(const shmemx_space_config_t *from, shmemx_space_config_t *to)
{
    memset(to, 0, sizeof *to);
    if (from == NULL) {
        return msp_refuse(MEMSPAN_ERR_INVALID, "no configuration for the space (NULL)");
    }
    if (from->struct_size == 0) {
        msp_refuse(MEMSPAN_ERR_INVALID, "struct_size of the space's configuration is 0");
        return msp_error_hint("set it to sizeof(shmemx_space_config_t)");
    }
    memcpy(to, from, (from->struct_size < sizeof *to) ? from->struct_size : sizeof *to);
    return MEMSPAN_OK;
}

static int give(struct msp_team *team, struct space *space)
{
    memspan_status_t status;
    int partition;

    status = msp_partition_create(team, &space->config, &partition);
    if (status == MEMSPAN_OK) {
        space->partition = partition;
    }
    return (int)status;
}

int msp_symmetric_space_create(struct msp_team *team, const shmemx_space_config_t *config,
                               shmemx_space_t *space_p)
{
    shmemx_space_config_t known;
    struct space *space;
    int status;

    *space_p = SHMEMX_SPACE_INVALID;
    /* A mistake of this PE alone must not keep the others waiting: the partition refuses size 0. */
    if (read_config(config, &known) != MEMSPAN_OK) {
        if (team == NULL) {
            return (int)memspan_error_last()->status;
        }
        known = (shmemx_space_config_t){.struct_size = sizeof known};
    }
    space = take_space();
    if (space == NULL) {
        return (int)MEMSPAN_ERR_LIMIT;
    }
    space->config  = known;
    space->name[0] = '\0';
    if (known.name != NULL) {
        snprintf(space->name, sizeof space->name, "%s", known.name);
        space->config.name = space->name;
    }
    if (team != NULL) {
        status = give(team, space);
        if (status != 0) {
            space->is_live = false;
            return status;
        }
    }
    *space_p = handle_of(space);
    return 0;
}

int msp_symmetric_space_attach(struct msp_team *team, shmemx_space_t handle)
{
    struct space *space = find(handle);

    if (space == NULL) {
        return (int)MEMSPAN_ERR_NOT_FOUND;
    }
    if (space->partition != MSP_PARTITION_NONE) {
        return (int)msp_refuse(MEMSPAN_ERR_CONFLICT, "the space is attached to a team already");
    }
    return give(team, space);
}

int msp_symmetric_space_detach(shmemx_space_t handle)
{
    struct space *space = find(handle);
    int status;

    if (space == NULL) {
        return (int)MEMSPAN_ERR_NOT_FOUND;
    }
    if (space->partition == MSP_PARTITION_NONE) {
        return (int)msp_refuse(MEMSPAN_ERR_CONFLICT, "the space is attached to no team");
    }
    status           = (int)msp_partition_destroy(space->partition);
    space->partition = MSP_PARTITION_NONE;
    return status;
}

int msp_symmetric_space_destroy(shmemx_space_t handle)
{
    struct space *space;
    int status = 0;

    if (handle == SHMEMX_SPACE_INVALID) {
        return 0;
    }
    if (handle == SHMEMX_SPACE_DEFAULT) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "the default space lives as long as the job");
    }
    space = find(handle);
    if (space == NULL) {
        return (int)MEMSPAN_ERR_NOT_FOUND;
    }
    if (space->partition != MSP_PARTITION_NONE) {
        status = msp_symmetric_space_detach(handle);
    }
    space->is_live = false;
    return status;
}

int msp_symmetric_space_partition(shmemx_space_t handle)
{
    struct space *space;

    if (handle == SHMEMX_SPACE_DEFAULT) {
        return msp_partition_get(MSP_PARTITION_DEFAULT)->id;
    }
    space = find(handle);
    if (space == NULL) {
        return MSP_PARTITION_NONE;
    }
    if (space->partition == MSP_PARTITION_NONE) {
        msp_refuse(MEMSPAN_ERR_NOT_FOUND, "the space is attached to no team and has no memory");
    }
    return space->partition;
}

shmemx_space_t msp_symmetric_space_of(int partition)
{
    const struct msp_partition *chosen = msp_partition_get(MSP_PARTITION_DEFAULT);
    int i;

    if ((chosen != NULL) && (partition == chosen->id)) {
        return SHMEMX_SPACE_DEFAULT;
    }
    for (i = SPACE_FIRST; i < SPACE_MAX; i++) {
        if (spaces[i].is_live && (partition >= 0) && (spaces[i].partition == partition)) {
            return handle_of(&spaces[i]);
        }
    }
    return SHMEMX_SPACE_INVALID;
}

const shmemx_space_config_t *msp_symmetric_space_config(shmemx_space_t handle)
{
    const struct space *space = find(handle);

    return (space != NULL) ? &space->config : NULL;
}

/* ---- buffers ---- */

static struct buffer {
    char *address; /* NULL: free */
    size_t size_bytes;
} buffers[BUFFER_MAX] MSP_SPARSE;

static bool is_range(const void *address, size_t size_bytes)
{
    return (address != NULL) && (size_bytes != 0) &&
           ((uintptr_t)address + size_bytes > (uintptr_t)address);
}

/* Memory of a device that the program has from elsewhere must be copied by its driver: from then on
 * every transfer looks at its addresses. */
int msp_buffer_register(void *address, size_t size_bytes)
{
    memspan_pointer_info_t info = {.struct_size = sizeof info};
    struct buffer *free_one     = NULL;
    memspan_status_t status     = MEMSPAN_OK;
    int i;

    if (!is_range(address, size_bytes)) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%zu bytes at %p are no buffer", size_bytes,
                               address);
    }
    pthread_mutex_lock(&space_lock);
    for (i = 0; i < BUFFER_MAX; i++) {
        if (buffers[i].address == address) {
            status = MEMSPAN_ERR_CONFLICT;
        } else if ((buffers[i].address == NULL) && (free_one == NULL)) {
            free_one = &buffers[i];
        }
    }
    if ((status == MEMSPAN_OK) && (free_one != NULL)) {
        *free_one = (struct buffer){address, size_bytes};
    }
    pthread_mutex_unlock(&space_lock);
    if (status != MEMSPAN_OK) {
        return (int)memspan_error(status, "the buffer at %p is registered already", address);
    }
    if (free_one == NULL) {
        return (int)msp_refuse(MEMSPAN_ERR_LIMIT, "%d buffers are registered already", BUFFER_MAX);
    }
    if (memspan_pointer_kind(address) == MEMSPAN_KIND_DEVICE) {
        msp_job_add_device_memory(address);
    } else if ((memspan_pointer_kind(address) == MEMSPAN_KIND_NONE) &&
               (memspan_pointer_describe(address, &info) == MEMSPAN_OK) &&
               (info.kind_given == MEMSPAN_KIND_DEVICE)) {
        msp_job_add_device_memory(address);
    }
    return 0;
}

int msp_buffer_unregister(void *address)
{
    bool found = false;
    int i;

    pthread_mutex_lock(&space_lock);
    for (i = 0; (i < BUFFER_MAX) && (address != NULL); i++) {
        if (buffers[i].address == address) {
            buffers[i].address = NULL;
            found              = true;
        }
    }
    pthread_mutex_unlock(&space_lock);
    return found ? 0
                 : (int)msp_refuse(MEMSPAN_ERR_NOT_FOUND, "no buffer is registered at %p", address);
}

void msp_buffer_unregister_all(void)
{
    pthread_mutex_lock(&space_lock);
    memset(buffers, 0, sizeof buffers);
    pthread_mutex_unlock(&space_lock);
}

/* ---- symmetric buffers ---- */

static struct symmetric_buffer {
    char *address; /* NULL: free */
    size_t size_bytes;
    int segment;
} symmetric[MSP_SEGMENT_MAX] MSP_SPARSE;

static int find_symmetric(const void *address)
{
    int i;

    for (i = 0; i < MSP_SEGMENT_MAX; i++) {
        if (symmetric[i].address == address) {
            return i;
        }
    }
    return -1;
}

static memspan_status_t adopt(struct msp_team *team, int place, void *address, size_t size_bytes)
{
    bool host_touches = (memspan_pointer_kind(address) != MEMSPAN_KIND_DEVICE);
    memspan_status_t status =
        msp_segment_adopt(team, address, size_bytes, host_touches, &symmetric[place].segment);

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = msp_owner_serve(symmetric[place].segment);
    if (status != MEMSPAN_OK) {
        msp_segment_destroy(symmetric[place].segment);
        return status;
    }
    symmetric[place].address    = address;
    symmetric[place].size_bytes = size_bytes;
    if (!host_touches) {
        msp_job_add_device_memory(address);
    }
    return MEMSPAN_OK;
}

static void drop(int place)
{
    if (symmetric[place].address != NULL) {
        msp_owner_retire(symmetric[place].segment);
        msp_segment_destroy(symmetric[place].segment);
        symmetric[place].address = NULL;
    }
}

static memspan_status_t check_symmetric(const void *address, size_t size_bytes)
{
    const struct msp_segment *segment = msp_segment_of(address);

    if (!is_range(address, size_bytes)) {
        return msp_refuse(MEMSPAN_ERR_INVALID, "%zu bytes at %p are no buffer", size_bytes,
                          address);
    }
    if ((uintptr_t)address - (uintptr_t)segment->base < segment->size_bytes) {
        return msp_refuse(MEMSPAN_ERR_CONFLICT, "%p is symmetric already", address);
    }
    return MEMSPAN_OK;
}

void *msp_buffer_register_symmetric(void *address, size_t size_bytes)
{
    struct msp_team *world  = msp_team_world();
    memspan_status_t status = check_symmetric(address, size_bytes);
    int place               = find_symmetric(NULL);

    if ((status == MEMSPAN_OK) && (place < 0)) {
        status = msp_refuse(MEMSPAN_ERR_LIMIT, "there are %d symmetric buffers already",
                            MSP_SEGMENT_MAX);
    }
    if (!msp_collective_agrees(world, size_bytes)) {
        msp_refuse(MEMSPAN_ERR_CONFLICT, "PEs give buffers of different sizes (here %zu bytes)",
                   size_bytes);
        return NULL;
    }
    if (msp_agree_all(world, status == MEMSPAN_OK)) {
        status = adopt(world, place, address, size_bytes);
        if (msp_agree_all(world, status == MEMSPAN_OK)) {
            return address;
        }
    }
    if (status == MEMSPAN_OK) {
        drop(place);
        msp_error_elsewhere(MEMSPAN_ERR_INVALID, "the buffer of another PE cannot be symmetric");
    }
    return NULL;
}

int msp_buffer_unregister_symmetric(void *address, size_t size_bytes)
{
    int place = (address != NULL) ? find_symmetric(address) : -1;

    if ((place < 0) || ((size_bytes != 0) && (size_bytes != symmetric[place].size_bytes))) {
        return (int)msp_refuse(MEMSPAN_ERR_NOT_FOUND, "no symmetric buffer of %zu bytes at %p",
                               size_bytes, address);
    }
    msp_collective_barrier(msp_team_world());
    drop(place);
    return 0;
}

/* ---- a heap that the program brings ---- */

static struct {
    void *base;
    size_t size_bytes;
} external;

int msp_partition_use_external(void *base, size_t size_bytes, int type, int index)
{
    if (msp_job.is_on) {
        return (int)msp_refuse(MEMSPAN_ERR_CONFLICT,
                               "shmem_init() is over: a heap would come too late");
    }
    if (!is_range(base, size_bytes) || (type < SHMEMX_EXTERNAL_HEAP_ZE) ||
        (type > SHMEMX_EXTERNAL_HEAP_HOST)) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%zu bytes at %p of type %d are no heap",
                               size_bytes, base, type);
    }
    if ((type != SHMEMX_EXTERNAL_HEAP_HOST) && (memspan_pointer_kind(base) == MEMSPAN_KIND_NONE)) {
        msp_refuse(MEMSPAN_ERR_UNSUPPORTED,
                   "the memory at %p of device %d was not allocated by Memspan", base, index);
        return (int)msp_error_hint("allocate it with memspan_alloc() from a space of the "
                                   "device, or use a partition with KIND=DEVICE");
    }
    external.base       = base;
    external.size_bytes = size_bytes;
    return 0;
}

size_t msp_symmetric_space_external(void)
{
    return external.size_bytes;
}

/* The first of the symmetric buffers, in every PE. */
memspan_status_t msp_symmetric_space_open(void)
{
    memspan_status_t status = MEMSPAN_OK;

    if (external.size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status              = adopt(msp_team_job(), 0, external.base, external.size_bytes);
    external.size_bytes = 0;
    if (msp_agree_all(msp_team_job(), status == MEMSPAN_OK)) {
        return MEMSPAN_OK;
    }
    return (status != MEMSPAN_OK)
               ? status
               : msp_error_elsewhere(MEMSPAN_ERR_INVALID,
                                     "another PE's heap cannot be made symmetric");
}

/* ---- end ---- */

void msp_symmetric_space_close(void)
{
    int i;

    for (i = 0; i < MSP_SEGMENT_MAX; i++) {
        drop(i);
    }
    for (i = 0; i < SPACE_MAX; i++) {
        spaces[i].is_live = false;
    }
    msp_buffer_unregister_all();
}
