/* SPDX-License-Identifier: BSD-3-Clause */
/* torch_pool.c: memory of PyTorch's captured graphs, and the captures that are under way.
 *
 * A graph uses its addresses at each launch, in an order that no stream has at the time of a free.
 * So what is allocated or freed during a capture has a note with the graph's pool, and stays
 * allocated until PyTorch has released the pool as often as it began to allocate to it. Where two
 * pools are in use on a device at once, the memory may be of either: it stays.
 *
 * Locks: `lock` guards notes[] and pools. The counts are atomic, for frees without any note. */

#include "backends/gpu/gpu.h"
#include <memspan/memspan.h>
#include <stdlib.h>

enum { NOTE_LISTS = 1024, DEVICES_MAX = 64 };

struct note {
    struct note *next;
    void *address;
    int device; /* GPU_TORCH_WAITS: for all work on the device, once it is freed */
    bool freed;
    memspan_torch_pool_t pool;
};

struct pool {
    struct pool *next;
    int device;
    memspan_torch_pool_t name;
    unsigned begun;  /* and not released */
    unsigned active; /* and not ended */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct note *notes[NOTE_LISTS];
static atomic_size_t note_count;
static struct pool *pools;
static atomic_uint captures[DEVICES_MAX];

static bool is_device(int device)
{
    return (device >= 0) && (device < DEVICES_MAX);
}

bool gpu_torch_is_captured(int device)
{
    return is_device(device) &&
           (atomic_load_explicit(&captures[device], memory_order_acquire) != 0);
}

static bool same(const memspan_torch_pool_t *a, const memspan_torch_pool_t *b)
{
    return (a->first == b->first) && (a->second == b->second);
}

/* ---- notes ---- */

/* Of the address, or the end of its list. */
static struct note **find_note(const void *address)
{
    uint64_t hash      = ((uintptr_t)address >> 8) * UINT64_C(0x9e3779b97f4a7c15);
    struct note **link = &notes[hash >> 54];

    while ((*link != NULL) && ((*link)->address != address)) {
        link = &(*link)->next;
    }
    return link;
}

static void drop_note(struct note **link)
{
    struct note *n = *link;

    *link = n->next;
    free(n);
    atomic_fetch_sub(&note_count, 1);
}

/* The one that is in use; {0, 0}: none, or several. */
static memspan_torch_pool_t find_active(int device)
{
    memspan_torch_pool_t found = {0, 0};
    const struct pool *p;
    int count = 0;

    for (p = pools; p != NULL; p = p->next) {
        if ((p->device == device) && (p->active > 0)) {
            found = p->name;
            count++;
        }
    }
    return (count == 1) ? found : (memspan_torch_pool_t){0, 0};
}

bool gpu_torch_note(void *address, int device, bool freed)
{
    struct note **link;
    bool done;

    pthread_mutex_lock(&lock);
    link = find_note(address);
    if (*link == NULL) {
        *link = calloc(1, sizeof(**link));
        if (*link != NULL) {
            (*link)->address = address;
            (*link)->device  = device;
            (*link)->pool    = find_active(device);
            atomic_fetch_add(&note_count, 1);
        }
    }
    done = (*link != NULL);
    if (done) {
        (*link)->freed = freed;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

enum gpu_torch_fate gpu_torch_free_noted(void *address)
{
    enum gpu_torch_fate fate = GPU_TORCH_FREE;
    struct note **link;

    if (atomic_load_explicit(&note_count, memory_order_relaxed) == 0) {
        return GPU_TORCH_FREE;
    }
    pthread_mutex_lock(&lock);
    link = find_note(address);
    if ((*link != NULL) && ((*link)->device == GPU_TORCH_WAITS)) {
        fate = GPU_TORCH_WAIT;
        drop_note(link);
    } else if (*link != NULL) {
        fate           = GPU_TORCH_KEEP;
        (*link)->freed = true;
    }
    pthread_mutex_unlock(&lock);
    return fate;
}

/* ---- pools ---- */

static struct pool **find_pool(int device, const memspan_torch_pool_t *name)
{
    struct pool **link = &pools;

    while ((*link != NULL) && (((*link)->device != device) || !same(&(*link)->name, name))) {
        link = &(*link)->next;
    }
    return link;
}

void memspan_torch_pool_begin(int device, memspan_torch_pool_t name, void *filter)
{
    struct pool **link;

    (void)filter;
    if (!is_device(device)) {
        return;
    }
    pthread_mutex_lock(&lock);
    link = find_pool(device, &name);
    if (*link == NULL) {
        *link = calloc(1, sizeof(**link));
    }
    if (*link != NULL) { /* else what is noted meanwhile is of no pool, and stays */
        (*link)->device = device;
        (*link)->name   = name;
        (*link)->begun++;
        (*link)->active++;
    }
    atomic_fetch_add(&captures[device], 1);
    pthread_mutex_unlock(&lock);
}

void memspan_torch_pool_end(int device, memspan_torch_pool_t name)
{
    struct pool *p;

    if (!gpu_torch_is_captured(device)) {
        return;
    }
    pthread_mutex_lock(&lock);
    p = *find_pool(device, &name);
    if ((p != NULL) && (p->active > 0)) {
        p->active--;
    }
    atomic_fetch_sub(&captures[device], 1);
    pthread_mutex_unlock(&lock);
}

bool gpu_torch_leave_pool(int device, const memspan_torch_pool_t *name)
{
    struct pool **link;
    struct pool *p;
    bool last = false;

    pthread_mutex_lock(&lock);
    link = find_pool(device, name);
    p    = *link;
    if (p != NULL) {
        p->begun--;
        last = (p->begun == 0);
    }
    if (last) {
        *link = p->next;
        free(p);
    }
    pthread_mutex_unlock(&lock);
    return last;
}

/* Tensors of the pool that live on are ordinary ones from now on. */
void gpu_torch_release(int device, const memspan_torch_pool_t *name)
{
    int i;

    pthread_mutex_lock(&lock);
    for (i = 0; i < NOTE_LISTS; i++) {
        struct note **link = &notes[i];
        while (*link != NULL) {
            if (((*link)->device != device) || !same(&(*link)->pool, name)) {
                link = &(*link)->next;
                continue;
            }
            if ((*link)->freed) {
                (void)memspan_free((*link)->address);
            }
            drop_note(link);
        }
    }
    pthread_mutex_unlock(&lock);
}
