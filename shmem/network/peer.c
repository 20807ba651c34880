/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c: channels, contacts by a hash of their PE, and the keys of their memory. */

#include "shmem/network/peer.h"
#include "shmem/bootstrap.h"
#include "shmem/network/network.h"
#include <stdlib.h>
#include <string.h>

enum { CONTACTS_MIN = 16 }; /* slots; a power of 2 */

_Thread_local char msp_network_self;

static struct msp_network_channel *_Atomic channels;             /* the newest first */
static pthread_mutex_t channel_lock = PTHREAD_MUTEX_INITIALIZER; /* to add and to take one */

/* Of segments' indices: keys of earlier segments are stale. */
static atomic_uint generations[MSP_SEGMENT_MAX];

/* ---- channels ---- */

static memspan_status_t make(bool is_main, struct msp_network_channel **channel_p)
{
    struct msp_network_channel *channel = calloc(1, sizeof *channel);
    pthread_mutexattr_t adaptive;
    memspan_status_t status;

    if (channel == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a queue of the network");
    }
    status = msp_network.driver->queue_open(is_main, &channel->queue);
    if (status != MEMSPAN_OK) {
        free(channel);
        return status;
    }
    channel->is_main = is_main;
    channel->next    = atomic_load(&channels);
    pthread_mutexattr_init(&adaptive);
    pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&channel->lock, &adaptive);
    pthread_mutexattr_destroy(&adaptive);
    atomic_store_explicit(&channels, channel, memory_order_release);
    *channel_p = channel;
    return MEMSPAN_OK;
}

memspan_status_t msp_network_channel_open(bool is_main, bool is_shared,
                                          struct msp_network_channel **channel_p)
{
    struct msp_network_channel *channel;
    memspan_status_t status = MEMSPAN_OK;

    pthread_mutex_lock(&channel_lock);
    channel = atomic_load(&channels);
    while ((channel != NULL) && channel->is_taken) {
        channel = channel->next;
    }
    if (channel == NULL) {
        status = make(is_main, &channel);
    }
    if (status == MEMSPAN_OK) {
        channel->is_shared = is_shared;
        channel->is_taken  = true;
        *channel_p         = channel;
    }
    pthread_mutex_unlock(&channel_lock);
    return status;
}

void msp_network_channel_leave(struct msp_network_channel *channel)
{
    MSP_NETWORK_WAIT(channel, channel->in_flight == 0);
    msp_network_use(channel, false);
    pthread_mutex_lock(&channel_lock);
    channel->is_taken = false;
    pthread_mutex_unlock(&channel_lock);
}

struct msp_network_channel *msp_network_channel_first(void)
{
    return atomic_load_explicit(&channels, memory_order_acquire);
}

static void close_contact(struct msp_network_contact *contact)
{
    if (contact->peer != NULL) {
        size_t i;

        for (i = 0; i < contact->reach_count; i++) {
            if (contact->reaches[i].key != NULL) {
                msp_network.driver->key_close(contact->peer, contact->reaches[i].key);
            }
        }
        msp_network.driver->peer_close(contact->peer, true);
    }
    free(contact->aggregate);
    free(contact->reaches);
    free(contact);
}

static void close_channel(struct msp_network_channel *channel)
{
    struct msp_network_operation *operation;
    unsigned i;

    for (i = 0; (channel->contacts != NULL) && (i <= channel->contact_mask); i++) {
        if (channel->contacts[i] != NULL) {
            close_contact(channel->contacts[i]);
        }
    }
    free((void *)channel->contacts);
    msp_network.driver->queue_close(channel->queue);
    while ((operation = channel->idle) != NULL) {
        channel->idle = operation->next;
        free(operation);
    }
    pthread_mutex_destroy(&channel->lock);
    free(channel);
}

void msp_network_channel_close_all(void)
{
    struct msp_network_channel *channel = atomic_exchange(&channels, NULL);

    while (channel != NULL) {
        struct msp_network_channel *next = channel->next;

        close_channel(channel);
        channel = next;
    }
}

/* ---- contacts ---- */

static unsigned slot_of(const struct msp_network_channel *channel, int pe)
{
    unsigned at = ((unsigned)pe * 0x9e3779b1u) & channel->contact_mask;

    while ((channel->contacts[at] != NULL) && (channel->contacts[at]->pe != pe)) {
        at = (at + 1) & channel->contact_mask;
    }
    return at;
}

static void grow(struct msp_network_channel *channel)
{
    struct msp_network_contact **before = channel->contacts;
    unsigned count = (before != NULL) ? 2 * (channel->contact_mask + 1) : CONTACTS_MIN;
    unsigned i;

    channel->contacts = calloc(count, sizeof(struct msp_network_contact *));
    if (channel->contacts == NULL) {
        msp_fatal("no memory for the peers of a PE (%u)", count);
    }
    for (i = 0; (before != NULL) && (i < count / 2); i++) {
        if (before[i] != NULL) {
            unsigned mask = channel->contact_mask;

            channel->contact_mask                              = count - 1;
            channel->contacts[slot_of(channel, before[i]->pe)] = before[i];
            channel->contact_mask                              = mask;
        }
    }
    channel->contact_mask = count - 1;
    free((void *)before);
}

/* With the error's record: the PE, or the path to it, has failed. */
static _Noreturn void lost(const char *call)
{
    msp_bootstrap_let_launcher_speak();
    msp_fatal_error(call);
}

struct msp_network_contact *msp_network_contact_find(struct msp_network_channel *channel, int pe)
{
    struct msp_network_contact *contact;
    unsigned at;

    if (MSP_LIKELY(channel->contacts != NULL)) {
        contact = channel->contacts[slot_of(channel, pe)];
        if (MSP_LIKELY(contact != NULL)) {
            return contact;
        }
    }
    if ((channel->contacts == NULL) || (channel->contact_count > channel->contact_mask / 2)) {
        grow(channel);
    }
    at      = slot_of(channel, pe);
    contact = calloc(1, sizeof *contact);
    if (contact == NULL) {
        msp_fatal("no memory for PE %d", pe);
    }
    contact->pe           = pe;
    contact->channel      = channel;
    channel->contacts[at] = contact;
    channel->contact_count++;
    return contact;
}

struct msp_network_contact *msp_network_contact_open(const char *call,
                                                     struct msp_network_channel *channel, int pe)
{
    struct msp_network_contact *contact = msp_network_contact_find(channel, pe);
    unsigned char address[MSP_NETWORK_ADDRESS_MAX];
    size_t address_bytes = sizeof address;
    uint64_t token       = 0;
    memspan_status_t status;

    if (MSP_LIKELY(contact->peer != NULL)) {
        return contact;
    }
    /* The bootstrap may have to query another host. */
    msp_network_unlock(channel);
    status = msp_network_card_get(pe, &token, address, &address_bytes);
    msp_network_lock(channel);
    if ((status == MEMSPAN_OK) && (contact->peer == NULL)) {
        contact->token = token;
        status         = msp_network.driver->peer_open(channel->queue, pe, address, address_bytes,
                                                       &contact->peer);
    }
    if (status != MEMSPAN_OK) {
        msp_network_unlock(channel);
        lost(call);
    }
    return contact;
}

/* ---- memory of peers ---- */

void msp_network_reach_forget(unsigned segment)
{
    atomic_fetch_add(&generations[segment], 1);
}

/* The first entry that ends behind that place, or the number of entries. */
static size_t entry_behind(const struct msp_network_contact *contact, unsigned segment,
                           uint64_t offset_bytes)
{
    size_t low  = 0;
    size_t high = contact->reach_count;

    while (low < high) {
        size_t middle                         = (low + high) / 2;
        const struct msp_network_reach *reach = &contact->reaches[middle];

        if ((reach->segment < segment) ||
            ((reach->segment == segment) && (reach->end_bytes <= offset_bytes))) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void drop_entry(struct msp_network_contact *contact, size_t at)
{
    if (contact->reaches[at].key != NULL) {
        msp_network.driver->key_close(contact->peer, contact->reaches[at].key);
    }
    contact->reach_count--;
    memmove(&contact->reaches[at], &contact->reaches[at + 1],
            (contact->reach_count - at) * sizeof contact->reaches[0]);
}

/* Entries of the segment that had that index before. */
static void drop_stale(struct msp_network_contact *contact, unsigned segment, unsigned generation)
{
    size_t at = entry_behind(contact, segment, 0);

    while ((at < contact->reach_count) && (contact->reaches[at].segment == segment)) {
        if (contact->reaches[at].generation != generation) {
            drop_entry(contact, at);
        } else {
            at++;
        }
    }
}

static bool look_up(struct msp_network_contact *contact, unsigned segment, uint64_t offset_bytes,
                    struct msp_network_reach *reach_p)
{
    unsigned generation = atomic_load_explicit(&generations[segment], memory_order_acquire);
    size_t at           = entry_behind(contact, segment, offset_bytes);

    if ((at < contact->reach_count) && (contact->reaches[at].segment == segment) &&
        (contact->reaches[at].first_bytes <= offset_bytes)) {
        if (MSP_LIKELY(contact->reaches[at].generation == generation)) {
            *reach_p = contact->reaches[at];
            return true;
        }
        drop_stale(contact, segment, generation);
    }
    return false;
}

static void insert(struct msp_network_contact *contact, const struct msp_network_reach *reach)
{
    size_t at;

    drop_stale(contact, reach->segment, reach->generation);
    at = entry_behind(contact, reach->segment, reach->first_bytes);
    if (contact->reach_count == contact->reach_max) {
        contact->reach_max = (contact->reach_max == 0) ? 8 : 2 * contact->reach_max;
        contact->reaches =
            realloc(contact->reaches, contact->reach_max * sizeof contact->reaches[0]);
        if (contact->reaches == NULL) {
            msp_fatal("no memory for the keys of PE %d", contact->pe);
        }
    }
    memmove(&contact->reaches[at + 1], &contact->reaches[at],
            (contact->reach_count - at) * sizeof contact->reaches[0]);
    contact->reaches[at] = *reach;
    contact->reach_count++;
}

/* The owner's answer. */
static void request_key(const struct msp_target *target, struct msp_network_channel *channel,
                        struct msp_network_contact *contact, uint64_t offset_bytes,
                        struct msp_network_answer *answer_p)
{
    struct msp_network_record *record =
        msp_network_record_take(target->call, contact->pe, answer_p, sizeof *answer_p);
    struct msp_network_operation *operation =
        msp_network_operation_take(channel, target->call, contact->pe);

    operation->header = (struct msp_network_header){
        .kind         = MSP_NETWORK_KEY,
        .pe           = msp_job.pe,
        .context      = (uint16_t)(target->context - msp_contexts),
        .segment      = (uint16_t)(target->segment - msp_segments),
        .offset_bytes = offset_bytes,
        .record       = msp_network_record_ask(record),
    };
    msp_network_send(contact, operation, NULL, 0);
    msp_network_unlock(channel);
    MSP_NETWORK_WAIT(channel, atomic_load_explicit(&record->left, memory_order_acquire) == 0);
    msp_network_record_give(record);
    msp_network_lock(channel);
}

/* A chunk holds the requested place. */
static void check_answer(const struct msp_network_contact *contact, uint64_t offset_bytes,
                         const struct msp_network_answer *answer)
{
    bool is_chunk = (answer->offset_bytes <= offset_bytes) &&
                    (answer->size_bytes > offset_bytes - answer->offset_bytes) &&
                    (answer->size_bytes <= UINT64_MAX - answer->offset_bytes);
    bool is_given = (answer->status == MEMSPAN_OK) || (answer->status == MEMSPAN_ERR_UNSUPPORTED);

    if ((answer->key_bytes > sizeof answer->bytes) || (is_given && !is_chunk)) {
        msp_fatal("PE %d has sent a malformed message: a key of %u bytes", contact->pe,
                  answer->key_bytes);
    }
}

void msp_network_reach_find(const struct msp_target *target, struct msp_network_channel *channel,
                            struct msp_network_contact *contact, uint64_t offset_bytes,
                            struct msp_network_reach *reach_p)
{
    unsigned segment                 = (unsigned)(target->segment - msp_segments);
    struct msp_network_answer answer = {.status = MEMSPAN_ERR_INTERNAL};
    memspan_status_t status          = MEMSPAN_OK;

    if (look_up(contact, segment, offset_bytes, reach_p)) {
        return;
    }
    request_key(target, channel, contact, offset_bytes, &answer);
    check_answer(contact, offset_bytes, &answer);
    if (look_up(contact, segment, offset_bytes, reach_p)) {
        return; /* another thread has sent a request meanwhile */
    }
    *reach_p = (struct msp_network_reach){
        .segment     = segment,
        .generation  = atomic_load_explicit(&generations[segment], memory_order_acquire),
        .first_bytes = answer.offset_bytes,
        .end_bytes   = answer.offset_bytes + answer.size_bytes,
        .address     = answer.address,
    };
    channel->counters.keys++;
    if ((answer.status != MEMSPAN_OK) && (answer.status != MEMSPAN_ERR_UNSUPPORTED)) {
        msp_fatal("%s: PE %d gives no access to offset %llu of its segment %u: %.*s", target->call,
                  target->pe, (unsigned long long)offset_bytes, segment, (int)answer.key_bytes,
                  (const char *)answer.bytes);
    }
    if (answer.status == MEMSPAN_OK) {
        status = msp_network.driver->key_open(contact->peer, answer.bytes, answer.key_bytes,
                                              &reach_p->key);
    } else {
        msp_debug_note("segment %u of PE %d is reached by messages: %.*s", segment, target->pe,
                       (int)answer.key_bytes, (const char *)answer.bytes);
    }
    if (status != MEMSPAN_OK) {
        msp_network_unlock(channel);
        lost(target->call);
    }
    insert(contact, reach_p);
}

/* ---- operations ---- */

static void complete(struct msp_network_request *request, memspan_status_t status);

struct msp_network_operation *msp_network_operation_take(struct msp_network_channel *channel,
                                                         const char *call, int pe)
{
    struct msp_network_operation *operation = channel->idle;

    if (MSP_LIKELY(operation != NULL)) {
        channel->idle = operation->next;
    } else {
        operation = aligned_alloc(_Alignof(struct msp_network_operation), sizeof *operation);
        if (operation == NULL) {
            msp_fatal("%s: no memory for an outstanding operation", call);
        }
        operation->request.complete = complete;
        operation->channel          = channel;
    }
    operation->header.kind = MSP_NETWORK_PUT; /* not that of its last use */
    operation->call        = call;
    operation->pe          = pe;
    operation->is_done     = NULL;
    operation->transfers   = NULL;
    operation->flushed     = NULL;
    operation->owned       = NULL;
    operation->may_wait    = false;
    return operation;
}

/* The waiting caller's variables may end with its wait: they are written last. */
static void finish(struct msp_network_operation *operation)
{
    struct msp_network_channel *channel = operation->channel;
    struct msp_network_contact *flushed = operation->flushed;
    atomic_bool *is_done                = operation->is_done;
    _Atomic uint64_t *transfers         = operation->transfers;

    if ((flushed != NULL) && (flushed->flushed < operation->flushed_puts)) {
        flushed->flushed = operation->flushed_puts;
    }
    free(operation->owned);
    operation->next = channel->idle;
    channel->idle   = operation;
    if (transfers != NULL) {
        atomic_fetch_sub_explicit(transfers, 1, memory_order_release);
    }
    if (is_done != NULL) {
        atomic_store_explicit(is_done, true, memory_order_release);
    }
}

static void complete(struct msp_network_request *request, memspan_status_t status)
{
    struct msp_network_operation *operation = (struct msp_network_operation *)(void *)request;

    operation->channel->in_flight--;
    msp_network_alive_count(&operation->header);
    if ((status != MEMSPAN_OK) && !atomic_load(&msp_network.is_closing)) {
        msp_error_hint("PE %d, or the path to it, may have failed", operation->pe);
        lost(operation->call);
    }
    finish(operation);
}

void msp_network_operation_started(struct msp_network_operation *operation,
                                   enum msp_network_result result)
{
    if (result == MSP_NETWORK_DONE) {
        finish(operation);
    } else if (result == MSP_NETWORK_STARTED) {
        operation->channel->in_flight++;
    } else if (!atomic_load(&msp_network.is_closing)) {
        lost(operation->call);
    }
}
