/* SPDX-License-Identifier: BSD-3-Clause */
/* partitioner.c: OpenMP 6.0 memory partitioners.
 *
 * A partitioner is a word of the program's that holds a number of ours; both the number and the
 * word's address name it, because the trait's value may be written either way. A partition is a
 * record of ours; the program sees its address. Every word and address that the program passes is
 * looked up before it is used.
 *
 * A static or allocator-lifetime partition is computed at the first request, outside the lock (a
 * callback may allocate), and kept; of two that computed at once, one result is released at once.
 * The release callback is copied into each partition, which may outlive its partitioner. */

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/omp_hook.h"
#include "core/omp/abi.h"
#include "core/omp/openmp.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The lists of partitioners and partitions are guarded by msp_omp_partitioner_lock. */

/* omp_mempartitioner_lifetime_t */
enum lifetime { LIFETIME_STATIC = 1, LIFETIME_ALLOCATOR = 2, LIFETIME_DYNAMIC = 3 };

/* As many parts as make sense of one allocation. */
enum { PARTS_MAX = 1 << 20 };

struct msp_omp_partition {
    struct msp_omp_partition *next; /* among the partitioner's kept ones */
    msp_omp_release_t *release;
    void *user_data;
    memspan_space_h space;
    uintptr_t owner; /* the allocator plus one, where the lifetime is its; else 0 */
    size_t size_bytes;
    size_t part_count;
    memspan_part_t *parts;
    bool *set;   /* parts that the callback has set */
    bool closed; /* the callback has returned: the parts are in use */
    bool failed; /* a part was refused, or there was no space for the parts */
};

struct partitioner {
    enum lifetime lifetime;
    msp_omp_compute_t *compute;
    msp_omp_release_t *release;
    struct msp_omp_partition *kept;
};

/* Partitions of destroyed allocators. An allocator ends under the core's lock, where the
 * program's callbacks may not run; they wait here for the next call that holds none. */
static _Atomic(struct msp_omp_partition *) forgotten;          /* changed under the lock */
static struct msp_omp_table partitioners = MSP_OMP_TABLE_INIT; /* number: record */
static struct msp_omp_table words        = MSP_OMP_TABLE_INIT; /* address: number */
static struct msp_omp_table partitions   = MSP_OMP_TABLE_INIT; /* live ones: address */

/* The partitioner's number, whichever way it was written; 0 when it is none. */
static uintptr_t number_of(uintptr_t partitioner)
{
    uintptr_t found;

    if (partitioner <= 1) {
        return 0;
    }
    if (msp_omp_table_get(&partitioners, partitioner, &found)) {
        return partitioner;
    }
    return msp_omp_table_get(&words, partitioner, &found) ? found : 0;
}

static struct partitioner *find(uintptr_t partitioner)
{
    uintptr_t number = number_of(partitioner);
    uintptr_t found;

    return ((number != 0) && msp_omp_table_get(&partitioners, number, &found))
               ? (struct partitioner *)found
               : NULL;
}

bool msp_omp_partitioner_valid(uintptr_t partitioner)
{
    return number_of(partitioner) != 0;
}

static void refuse_call(const char *call, const char *what)
{
    memspan_error(MEMSPAN_ERR_INVALID, "%s: %s", call, what);
    msp_log(MEMSPAN_LOG_ERROR, "omp", "%s", memspan_error_text());
}

void omp_init_mempartitioner(msp_omp_partitioner_t *partitioner, int lifetime,
                             msp_omp_compute_t *compute, msp_omp_release_t *release)
{
    static uintptr_t last = 0x4d500001; /* odd, as no word's address is; under the lock */
    struct partitioner *made;

    if (partitioner == NULL) {
        refuse_call("omp_init_mempartitioner", "partitioner is NULL");
        return;
    }
    *partitioner = 0;
    if ((lifetime < LIFETIME_STATIC) || (lifetime > LIFETIME_DYNAMIC) || (compute == NULL)) {
        refuse_call("omp_init_mempartitioner",
                    (compute == NULL) ? "compute_proc is NULL" : "lifetime has no such value");
        return;
    }
    made = calloc(1, sizeof(*made));
    if (made == NULL) {
        refuse_call("omp_init_mempartitioner", "no memory for a partitioner");
        return;
    }
    made->lifetime = (enum lifetime)lifetime;
    made->compute  = compute;
    made->release  = release;
    msp_lock(&msp_omp_partitioner_lock);
    last += 2;
    if (msp_omp_table_put(&partitioners, last, (uintptr_t)made) &&
        msp_omp_table_put(&words, (uintptr_t)partitioner, last)) {
        *partitioner = last;
    }
    msp_unlock(&msp_omp_partitioner_lock);
}

static void drop_parts(struct msp_omp_partition *partition)
{
    free(partition->parts);
    free(partition->set);
    partition->parts      = NULL;
    partition->set        = NULL;
    partition->part_count = 0;
}

static void release_partition(struct msp_omp_partition *partition)
{
    uintptr_t found;

    if (partition->release != NULL) {
        msp_rank_check_wait("a function of a partitioner");
        partition->release(partition);
    }
    msp_omp_table_take(&partitions, (uintptr_t)partition, &found);
    drop_parts(partition);
    free(partition);
}

static void release_list(struct msp_omp_partition *list)
{
    while (list != NULL) {
        struct msp_omp_partition *next = list->next;
        release_partition(list);
        list = next;
    }
}

void msp_omp_partitions_collect(void)
{
    struct msp_omp_partition *list;

    if (atomic_load_explicit(&forgotten, memory_order_relaxed) == NULL) {
        return; /* the thread that destroys an allocator sees its own entries */
    }
    msp_lock(&msp_omp_partitioner_lock);
    list      = forgotten;
    forgotten = NULL;
    msp_unlock(&msp_omp_partitioner_lock);
    release_list(list);
}

void omp_destroy_mempartitioner(const msp_omp_partitioner_t *partitioner)
{
    struct msp_omp_partition *kept = NULL;
    uintptr_t number               = 0;
    uintptr_t record               = 0;

    msp_lock(&msp_omp_partitioner_lock);
    if (((uintptr_t)partitioner > 1) &&
        msp_omp_table_take(&words, (uintptr_t)partitioner, &number) &&
        msp_omp_table_take(&partitioners, number, &record)) {
        kept = ((struct partitioner *)record)->kept;
        free((struct partitioner *)record);
    }
    msp_unlock(&msp_omp_partitioner_lock);
    if (record == 0) {
        refuse_call("omp_destroy_mempartitioner", "there is no such partitioner");
    }
    release_list(kept);
    msp_omp_partitions_collect();
}

static struct msp_omp_partition *live_partition(const struct msp_omp_partition *partition)
{
    uintptr_t found;

    return (((uintptr_t)partition > 1) &&
            msp_omp_table_get(&partitions, (uintptr_t)partition, &found))
               ? (struct msp_omp_partition *)found
               : NULL;
}

void omp_init_mempartition(struct msp_omp_partition *partition, size_t part_count,
                           const void *user_data)
{
    struct msp_omp_partition *p = live_partition(partition);

    if ((p == NULL) || p->closed) {
        refuse_call("omp_init_mempartition", "there is no such partition in the making");
        return;
    }
    drop_parts(p);
    p->user_data = (void *)(uintptr_t)user_data;
    if ((part_count > 0) && (part_count <= PARTS_MAX)) {
        p->parts = calloc(part_count, sizeof(*p->parts));
        p->set   = calloc(part_count, sizeof(*p->set));
    }
    if ((p->parts == NULL) || (p->set == NULL)) {
        drop_parts(p);
        p->failed = true;
        return;
    }
    p->part_count = part_count;
}

void omp_destroy_mempartition(const struct msp_omp_partition *partition)
{
    struct msp_omp_partition *p = live_partition(partition);

    if (p == NULL) {
        refuse_call("omp_destroy_mempartition", "there is no such partition");
        return;
    }
    drop_parts(p);
}

int omp_mempartition_set_part(struct msp_omp_partition *partition, size_t part, int resource,
                              size_t size_bytes)
{
    struct msp_omp_partition *p  = live_partition(partition);
    memspan_resource_info_t info = {.struct_size = sizeof(info)};
    size_t page_bytes;

    if ((p == NULL) || p->closed || (part >= p->part_count) || (resource < 0) ||
        (size_bytes == 0) ||
        (memspan_space_resource(p->space, (size_t)resource, &info) != MEMSPAN_OK)) {
        return -1;
    }
    page_bytes = memspan_space_page_size(p->space);
    if ((page_bytes == 0) || (info.numa_node < 0) ||
        ((part + 1 < p->part_count) && (size_bytes % page_bytes != 0)) ||
        ((info.capacity_bytes != MEMSPAN_UNKNOWN) && (size_bytes > info.capacity_bytes))) {
        return -1;
    }
    p->parts[part] = (memspan_part_t){.node = info.numa_node, .size_bytes = size_bytes};
    p->set[part]   = true;
    return 0;
}

void *omp_mempartition_get_user_data(const struct msp_omp_partition *partition)
{
    struct msp_omp_partition *p = live_partition(partition);

    return (p == NULL) ? NULL : p->user_data;
}

static memspan_status_t check_parts(const struct msp_omp_partition *partition)
{
    size_t total = 0;
    size_t i;

    if (partition->failed || (partition->part_count == 0)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "the partitioner's callback made no partition of %zu bytes",
                             partition->size_bytes);
    }
    for (i = 0; i < partition->part_count; i++) {
        if (!partition->set[i] ||
            __builtin_add_overflow(total, partition->parts[i].size_bytes, &total)) {
            return memspan_error(MEMSPAN_ERR_INVALID,
                                 "the partitioner's callback left part %zu of %zu unset", i,
                                 partition->part_count);
        }
    }
    if (total != partition->size_bytes) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "the partitioner's parts add up to %zu bytes, not to %zu", total,
                             partition->size_bytes);
    }
    return MEMSPAN_OK;
}

/* The arguments of divide(). */
struct question {
    uintptr_t argument;
    uintptr_t owner;
    memspan_space_h space;
    size_t size_bytes;
};

static memspan_status_t compute(const struct partitioner *how, const struct question *asked,
                                struct msp_omp_partition **partition_p)
{
    struct msp_omp_partition *partition = calloc(1, sizeof(*partition));
    memspan_status_t status;

    if (partition == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no room for a partition's record");
    }
    partition->release    = how->release;
    partition->space      = asked->space;
    partition->owner      = asked->owner;
    partition->size_bytes = asked->size_bytes;
    if (!msp_omp_table_put(&partitions, (uintptr_t)partition, (uintptr_t)partition)) {
        free(partition);
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no room for a partition's record");
    }
    msp_rank_check_wait("a function of a partitioner");
    how->compute((msp_omp_space_t)asked->space, asked->size_bytes, (intptr_t)asked->argument,
                 partition);
    partition->closed = true;
    status            = check_parts(partition);
    if (status != MEMSPAN_OK) {
        release_partition(partition);
        return status;
    }
    *partition_p = partition;
    return MEMSPAN_OK;
}

/* The kept partition that answers the question, or NULL. Lock held. */
static struct msp_omp_partition *find_kept(struct partitioner *partitioner,
                                           const struct question *asked)
{
    struct msp_omp_partition *p;

    for (p = partitioner->kept; p != NULL; p = p->next) {
        if ((p->space == asked->space) && (p->size_bytes == asked->size_bytes) &&
            (p->owner == asked->owner)) {
            return p;
        }
    }
    return NULL;
}

static void answer(struct msp_omp_partition *partition, struct msp_partitioning *partitioning_p)
{
    *partitioning_p = (struct msp_partitioning){
        .parts = partition->parts, .part_count = partition->part_count, .partition = partition};
}

/* A copy of the partitioner, and the kept partition if there is one. */
static bool look_up(uintptr_t partitioner, struct question *asked, struct partitioner *how_p,
                    struct msp_omp_partition **kept_p)
{
    struct partitioner *found;

    msp_lock(&msp_omp_partitioner_lock);
    found = find(partitioner);
    if (found != NULL) {
        *how_p = *found;
        if (found->lifetime != LIFETIME_ALLOCATOR) {
            asked->owner = 0;
        }
        *kept_p = (found->lifetime == LIFETIME_DYNAMIC) ? NULL : find_kept(found, asked);
    }
    msp_unlock(&msp_omp_partitioner_lock);
    return found != NULL;
}

/* Keep the computed partition; returns the one to use, and the one to release instead. */
static struct msp_omp_partition *keep(uintptr_t partitioner, const struct question *asked,
                                      struct msp_omp_partition *computed,
                                      struct msp_omp_partition **surplus_p)
{
    struct msp_omp_partition *other = NULL;
    struct partitioner *found;

    msp_lock(&msp_omp_partitioner_lock);
    found = find(partitioner);
    if (found != NULL) {
        other = find_kept(found, asked);
        if (other == NULL) {
            computed->next = found->kept;
            found->kept    = computed;
        }
    }
    msp_unlock(&msp_omp_partitioner_lock);
    *surplus_p = (other != NULL) ? computed : NULL;
    return (other != NULL) ? other : computed;
}

memspan_status_t msp_partitioner_divide(uintptr_t partitioner, uintptr_t argument,
                                        uintptr_t allocator, memspan_space_h space,
                                        size_t size_bytes, struct msp_partitioning *partitioning_p)
{
    struct question asked             = {argument, allocator + 1, space, size_bytes};
    struct msp_omp_partition *surplus = NULL;
    struct msp_omp_partition *partition;
    struct partitioner how;
    memspan_status_t status;

    msp_omp_partitions_collect();
    if (!look_up(partitioner, &asked, &how, &partition)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "partitioner %#zx does not exist (any more): omp_init_mempartitioner "
                             "makes one",
                             (size_t)partitioner);
    }
    if (partition != NULL) {
        answer(partition, partitioning_p);
        return MEMSPAN_OK;
    }
    status = compute(&how, &asked, &partition);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (how.lifetime != LIFETIME_DYNAMIC) {
        partition = keep(partitioner, &asked, partition, &surplus);
        if (surplus != NULL) {
            release_partition(surplus);
        }
    }
    answer(partition, partitioning_p);
    return MEMSPAN_OK;
}

/* True when the partition is kept by a live partitioner. */
static bool is_kept(uintptr_t partitioner, const struct msp_omp_partition *partition)
{
    const struct msp_omp_partition *p = NULL;
    const struct partitioner *found;

    msp_lock(&msp_omp_partitioner_lock);
    found = find(partitioner);
    if (found != NULL) {
        for (p = found->kept; (p != NULL) && (p != partition); p = p->next) {
        }
    }
    msp_unlock(&msp_omp_partitioner_lock);
    return p != NULL;
}

void msp_partitioner_release(uintptr_t partitioner, struct msp_partitioning *partitioning)
{
    struct msp_omp_partition *partition = live_partition(partitioning->partition);

    /* A kept one ends with its partitioner or allocator; then it is no longer live here. */
    if ((partition != NULL) && !is_kept(partitioner, partition)) {
        release_partition(partition);
    }
    *partitioning = (struct msp_partitioning){.parts = NULL};
}

void msp_partitioner_forget_allocator(uintptr_t partitioner, uintptr_t allocator)
{
    struct msp_omp_partition **p;
    struct partitioner *found;

    msp_lock(&msp_omp_partitioner_lock);
    found = find(partitioner);
    p     = (found == NULL) ? NULL : &found->kept;
    while ((p != NULL) && (*p != NULL)) {
        if ((*p)->owner == allocator + 1) {
            struct msp_omp_partition *taken = *p;
            *p                              = taken->next;
            taken->next                     = forgotten;
            forgotten                       = taken;
        } else {
            p = &(*p)->next;
        }
    }
    msp_unlock(&msp_omp_partitioner_lock);
}
