/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c: tokens for device memory, and memory that was opened by them.
 *
 * A token is the backend's own, behind a head with the process that made it, the chunk that it is
 * of, and the offset of the memory in the chunk. Process and chunk are numbers that are never used
 * again, so a chunk that is open already is recognised and counted, and one that came after it at
 * the same place is not taken for it.
 *
 * One lock guards the list of opened memory. The driver is called under it, so that two threads
 * with one token open it once; drivers do not call back. */

#include "core/share.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/debug/guard.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct head {
    char magic[8];
    uint64_t owner;  /* a number of the process, never that of another */
    uint64_t serial; /* of the chunk in that process */
    uint64_t offset; /* of the memory in the chunk */
    uint64_t size_bytes;
    uint32_t kind;
    uint32_t token_bytes; /* of the backend's token, which follows */
    char backend[16];
    char uid[72]; /* of the device */
};

struct opened {
    struct msp_opened view;
    memspan_block_t block;
    uint64_t owner;
    uint64_t serial;
    size_t references;
    bool is_busy; /* a driver opens or closes it: no call uses it meanwhile */
    struct opened *next;
};

static const char magic[8] = "mspshr2";

atomic_size_t msp_opened_count;
static struct opened *first;
MSP_LOCK_STATIC(opened_lock, MSP_RANK_SHARED);
static pthread_cond_t opened_changed = PTHREAD_COND_INITIALIZER; /* a busy one is not any more */

static uint64_t owner_number;
static pthread_once_t owner_once = PTHREAD_ONCE_INIT;

/* A forked child has no memory of devices to share, so it needs no number of its own. */
static void choose_owner(void)
{
    if (getrandom(&owner_number, sizeof(owner_number), GRND_NONBLOCK) !=
        (ssize_t)sizeof(owner_number)) {
        owner_number = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&owner_number;
    }
}

/* ---- giving ---- */

/* The live block that holds the range. */
static memspan_status_t find_range(const void *pointer, size_t size_bytes,
                                   struct msp_block_view *view_p)
{
    size_t offset;

    if ((pointer == NULL) || !msp_block_find(pointer, view_p)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is not in a live block of Memspan", pointer);
        return msp_error_hint("only memory that this process allocated can be shared");
    }
    offset = (size_t)((const char *)pointer - (const char *)view_p->address);
    if ((offset >= view_p->owner.requested_bytes) ||
        (size_bytes > view_p->owner.requested_bytes - offset)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "%zu bytes at %p run past their block of %zu bytes at %p", size_bytes,
                             pointer, view_p->owner.requested_bytes, view_p->address);
    }
    return MEMSPAN_OK;
}

/* The same, if it may be shared by @p call, which its backend has or lacks. */
static memspan_status_t find_shareable(const void *pointer, size_t size_bytes,
                                       bool has_call(const memspan_backend_t *),
                                       unsigned capability, struct msp_block_view *view_p)
{
    const struct msp_provider_spec *spec;
    const struct msp_device *d;
    char label[48];
    memspan_status_t status = find_range(pointer, size_bytes, view_p);

    if (status != MEMSPAN_OK) {
        return status;
    }
    spec = &view_p->chunk->provider->spec;
    d    = spec->device;
    msp_device_label(d, label, sizeof(label));
    if ((spec->flags & MEMSPAN_REQUEST_SHARED) == 0) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "the memory at %p (%s) was not taken to be shared",
                      pointer, label);
        return msp_error_hint("give its allocator the trait shareable=true");
    }
    if (!has_call(d->table)) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s has no such way to share memory", label);
        return msp_error_hint("%s", d->info.capability_note[__builtin_ctz(capability)]);
    }
    return MEMSPAN_OK;
}

static bool has_ipc(const memspan_backend_t *table)
{
    return table->ipc_export != NULL;
}

static bool has_dmabuf(const memspan_backend_t *table)
{
    return table->dmabuf_export != NULL;
}

memspan_status_t memspan_share_export(const void *pointer, void *token, size_t *token_size_p)
{
    struct msp_block_view view;
    const struct msp_device *d;
    struct head head = {.offset = 0};
    size_t own_bytes = 0;
    memspan_status_t status;

    if (token_size_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "token_size_p is NULL");
    }
    status = find_shareable(pointer, 0, has_ipc, MEMSPAN_CAN_IPC, &view);
    if (status != MEMSPAN_OK) {
        return status;
    }
    d      = view.chunk->provider->spec.device;
    status = d->table->ipc_export(d->state, d->ordinal, &view.chunk->block, NULL, &own_bytes);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (own_bytes > MEMSPAN_SHARE_TOKEN_MAX_BYTES - sizeof(head)) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "a token of %s has %zu bytes", d->table->name,
                             own_bytes);
    }
    if (token == NULL) {
        *token_size_p = sizeof(head) + own_bytes;
        return MEMSPAN_OK;
    }
    if (*token_size_p < sizeof(head) + own_bytes) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%zu bytes are not enough for a token: %zu",
                             *token_size_p, sizeof(head) + own_bytes);
    }
    status = d->table->ipc_export(d->state, d->ordinal, &view.chunk->block,
                                  (char *)token + sizeof(head), &own_bytes);
    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_once(&owner_once, choose_owner);
    memcpy(head.magic, magic, sizeof(magic));
    memcpy(head.backend, d->table->name, strlen(d->table->name));
    snprintf(head.uid, sizeof(head.uid), "%s", d->info.uid);
    head.owner  = owner_number;
    head.serial = view.chunk->serial;
    head.offset = (uint64_t)((const unsigned char *)pointer - view.chunk->address);
    head.size_bytes =
        view.owner.requested_bytes - (uint64_t)((const char *)pointer - (const char *)view.address);
    head.kind        = (uint32_t)view.chunk->provider->spec.kind;
    head.token_bytes = (uint32_t)own_bytes;
    memcpy(token, &head, sizeof(head));
    *token_size_p = sizeof(head) + own_bytes;
    return MEMSPAN_OK;
}

memspan_status_t memspan_share_dmabuf(const void *pointer, size_t size_bytes, int *fd_p,
                                      uint64_t *offset_p)
{
    struct msp_block_view view;
    const struct msp_device *d;
    memspan_status_t status;

    if ((fd_p == NULL) || (offset_p == NULL) || (size_bytes == 0)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "size_bytes is 0, or fd_p or offset_p is NULL");
    }
    status = find_shareable(pointer, size_bytes, has_dmabuf, MEMSPAN_CAN_DMABUF, &view);
    if (status != MEMSPAN_OK) {
        return status;
    }
    d = view.chunk->provider->spec.device;
    return d->table->dmabuf_export(d->state, d->ordinal, pointer, size_bytes, fd_p, offset_p);
}

/* ---- for the host and its network ---- */

static memspan_status_t find_host(const void *pointer, size_t size_bytes,
                                  const struct msp_device **device_p)
{
    struct msp_block_view view;
    const struct msp_provider_spec *spec;
    char label[48];
    memspan_status_t status;

    if (size_bytes == 0) {
        return memspan_error(MEMSPAN_ERR_INVALID, "size_bytes is 0");
    }
    status = find_range(pointer, size_bytes, &view);
    if (status != MEMSPAN_OK) {
        return status;
    }
    spec = &view.chunk->provider->spec;
    msp_device_label(spec->device, label, sizeof(label));
    if (spec->kind != MEMSPAN_KIND_DEVICE) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                             "the memory at %p (%s) is %s memory, which the host reaches itself",
                             pointer, label, memspan_kind_name(spec->kind));
    }
    if (spec->device->table->host_open == NULL) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "memory of %s is not pages of the host", label);
        return msp_error_hint("memspan_copy() reaches it");
    }
    *device_p = spec->device;
    return MEMSPAN_OK;
}

memspan_status_t memspan_share_host_open(const void *pointer, size_t size_bytes, void **host_p)
{
    const struct msp_device *d = NULL;
    memspan_status_t status;

    if (host_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "host_p is NULL");
    }
    status = find_host(pointer, size_bytes, &d);
    return (status == MEMSPAN_OK)
               ? d->table->host_open(d->state, d->ordinal, pointer, size_bytes, host_p)
               : status;
}

memspan_status_t memspan_share_host_close(const void *pointer, size_t size_bytes)
{
    const struct msp_device *d = NULL;
    memspan_status_t status    = find_host(pointer, size_bytes, &d);

    return (status == MEMSPAN_OK) ? d->table->host_close(d->state, d->ordinal, pointer, size_bytes)
                                  : status;
}

/* ---- opening ---- */

static memspan_status_t read_head(const void *token, size_t token_size, struct head *head_p)
{
    if ((token != NULL) && (token_size >= sizeof(*head_p))) {
        memcpy(head_p, token, sizeof(*head_p));
    }
    if ((token == NULL) || (token_size < sizeof(*head_p)) ||
        (memcmp(head_p->magic, magic, sizeof(magic)) != 0) ||
        (head_p->token_bytes != token_size - sizeof(*head_p)) ||
        (memchr(head_p->backend, '\0', sizeof(head_p->backend)) == NULL) ||
        (memchr(head_p->uid, '\0', sizeof(head_p->uid)) == NULL) || (head_p->size_bytes == 0) ||
        (head_p->kind <= MEMSPAN_KIND_NONE) || (head_p->kind >= MEMSPAN_KIND_COUNT)) {
        memspan_error(MEMSPAN_ERR_INVALID, "%zu bytes that are no token of shared memory",
                      token_size);
        return msp_error_hint("a token is what memspan_share_export() wrote, all of it");
    }
    return MEMSPAN_OK;
}

static memspan_status_t check_device(const struct msp_device *d, const struct head *head)
{
    char label[48];

    msp_device_label(d, label, sizeof(label));
    if (strcmp(d->table->name, head->backend) != 0) {
        memspan_error(MEMSPAN_ERR_CONFLICT, "the memory is of a device of %s, not of %s",
                      head->backend, label);
        return msp_error_hint("open it on the device that it is of");
    }
    if (d->table->ipc_import == NULL) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s opens no memory of other processes", label);
        return msp_error_hint("%s", d->info.capability_note[__builtin_ctz(MEMSPAN_CAN_IPC)]);
    }
    pthread_once(&owner_once, choose_owner);
    if (head->owner == owner_number) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "the token is for memory of this process");
        return msp_error_hint("use the address that was exported");
    }
    return MEMSPAN_OK;
}

/* The device that the memory is of; else, since it may be hidden from this process alone, another
 * of the same driver. */
static const struct msp_device *find_its_device(const struct head *head)
{
    const struct msp_device *other = NULL;
    int count                      = memspan_device_count();
    int i;

    for (i = 0; i < count; i++) {
        const struct msp_device *d = msp_device_find(i);
        if ((d == NULL) || (strcmp(d->table->name, head->backend) != 0)) {
            continue;
        }
        if (strcmp(d->info.uid, head->uid) == 0) {
            return d;
        }
        other = (other == NULL) ? d : other;
    }
    if (other == NULL) {
        memspan_error(MEMSPAN_ERR_CONFLICT, "the memory is of device %s of %s, which is not here",
                      head->uid, head->backend);
        msp_error_hint("memquery --why %s shows what this process sees", head->backend);
    }
    return other;
}

/* That which is open or becomes so. opened_lock held, which is released while a driver is at work
 * on it. */
static struct opened *find_open(const struct msp_device *d, const struct head *head)
{
    struct opened *o = first;

    while (o != NULL) {
        bool is_it =
            (o->view.device == d) && (o->owner == head->owner) && (o->serial == head->serial);

        if (is_it && !o->is_busy) {
            break;
        }
        if (is_it) {
            pthread_cond_wait(&opened_changed, &opened_lock.mutex);
        }
        o = is_it ? first : o->next;
    }
    return o;
}

/* opened_lock held. */
static void remove_opened(struct opened *o)
{
    struct opened **link = &first;

    while (*link != o) {
        link = &(*link)->next;
    }
    *link = o->next;
    pthread_cond_broadcast(&opened_changed);
    free(o);
}

static memspan_status_t call_import(const struct msp_device *d, const void *own_token,
                                    size_t token_bytes, memspan_block_t *block_p)
{
    memspan_status_t status =
        d->table->ipc_import(d->state, d->ordinal, own_token, token_bytes, block_p);

    if ((status == MEMSPAN_OK) && ((block_p->address == NULL) || (block_p->size_bytes == 0))) {
        status = msp_error_native(MEMSPAN_ERR_DRIVER, d->table->name, "ipc_import", MEMSPAN_OK, "",
                                  "repair or remove the backend",
                                  "the driver opened no memory: %zu bytes at %p",
                                  block_p->size_bytes, block_p->address);
    }
    return status;
}

/* opened_lock held, which is released while the driver opens it. */
static memspan_status_t open_new(const struct msp_device *d, const struct head *head,
                                 const void *own_token, struct opened **opened_p)
{
    struct opened *o = calloc(1, sizeof(*o));
    memspan_status_t status;

    if (o == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory to record what is opened");
    }
    o->view.device = d;
    o->owner       = head->owner;
    o->serial      = head->serial;
    o->is_busy     = true;
    o->next        = first;
    first          = o;
    msp_unlock(&opened_lock);
    status = call_import(d, own_token, head->token_bytes, &o->block);
    msp_lock(&opened_lock);
    if (status != MEMSPAN_OK) {
        remove_opened(o);
        return status;
    }
    o->view.kind       = (memspan_kind_t)head->kind;
    o->view.base       = o->block.address;
    o->view.size_bytes = o->block.size_bytes;
    o->is_busy         = false;
    pthread_cond_broadcast(&opened_changed);
    atomic_fetch_add_explicit(&msp_opened_count, 1, memory_order_relaxed);
    *opened_p = o;
    return MEMSPAN_OK;
}

/* One reference less; opened_lock held, which is released while the driver closes it. */
static memspan_status_t drop(struct opened *o)
{
    const struct msp_device *d = o->view.device;
    memspan_status_t status;

    o->references--;
    if (o->references > 0) {
        return MEMSPAN_OK;
    }
    o->is_busy = true;
    atomic_fetch_sub_explicit(&msp_opened_count, 1, memory_order_relaxed);
    msp_unlock(&opened_lock);
    status = d->table->ipc_close(d->state, d->ordinal, &o->block);
    msp_lock(&opened_lock);
    remove_opened(o);
    return status;
}

static memspan_status_t open_locked(const struct msp_device *d, const struct head *head,
                                    const void *own_token, void **address_p)
{
    struct opened *o        = find_open(d, head);
    memspan_status_t status = MEMSPAN_OK;

    if (o == NULL) {
        status = open_new(d, head, own_token, &o);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    o->references++;
    if ((head->offset > o->view.size_bytes) ||
        (head->size_bytes > o->view.size_bytes - head->offset)) {
        (void)drop(o);
        return memspan_error(MEMSPAN_ERR_INVALID, "the token's memory lies outside of its block");
    }
    *address_p = (char *)o->view.base + head->offset;
    return MEMSPAN_OK;
}

memspan_status_t memspan_share_import(const void *token, size_t token_size, int number,
                                      void **address_p, size_t *size_p)
{
    const struct msp_device *d;
    struct head head;
    memspan_status_t status;

    if (address_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "address_p is NULL");
    }
    status = read_head(token, token_size, &head);
    if (status != MEMSPAN_OK) {
        return status;
    }
    d = (number == MEMSPAN_SHARE_ITS_DEVICE) ? find_its_device(&head) : msp_device_find(number);
    if (d == NULL) {
        return memspan_error_last()->status;
    }
    status = check_device(d, &head);
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_fork_prepare();
    msp_lock(&opened_lock);
    status = open_locked(d, &head, (const char *)token + sizeof(head), address_p);
    msp_unlock(&opened_lock);
    if ((status == MEMSPAN_OK) && (size_p != NULL)) {
        *size_p = (size_t)head.size_bytes;
    }
    return status;
}

static struct opened *find_address(const void *address)
{
    struct opened *o;

    for (o = first; (o != NULL) &&
                    (o->is_busy || ((const char *)address < (const char *)o->view.base) ||
                     ((const char *)address >= (const char *)o->view.base + o->view.size_bytes));
         o = o->next) {
    }
    return o;
}

memspan_status_t memspan_share_close(void *address)
{
    memspan_status_t status;
    struct opened *o;

    if (address == NULL) {
        return MEMSPAN_OK;
    }
    msp_lock(&opened_lock);
    o      = find_address(address);
    status = (o != NULL) ? drop(o) : MEMSPAN_ERR_NOT_FOUND;
    msp_unlock(&opened_lock);
    if (o == NULL) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is not in memory of another process", address);
        return msp_error_hint("close what memspan_share_import() opened, once for each time");
    }
    return status;
}

bool msp_opened_search(const void *address, struct msp_opened *opened_p)
{
    struct opened *o;

    msp_lock(&opened_lock);
    o = find_address(address);
    if (o != NULL) {
        *opened_p = o->view;
    }
    msp_unlock(&opened_lock);
    return o != NULL;
}
