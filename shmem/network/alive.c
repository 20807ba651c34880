/* SPDX-License-Identifier: BSD-3-Clause */
/* alive.c: a PE that waits pings the PEs that it has contacted.
 *
 * A network may report nothing when a link is cut or a host stops. So a thread that waits for long
 * sends a message to each contact, about once in a tenth of the limit (SHMEMX_PEER_TIMEOUT). The
 * peer's progress thread answers, also while its program computes. A peer that has not answered
 * within the limit ends the job. A PE pings the next PE of another host, too: so a host that no PE
 * has contacted is watched by one. */

#include "shmem/control/wait.h"
#include "shmem/network/message.h"
#include "shmem/network/network.h"
#include "shmem/network/peer.h"
#include "shmem/option.h"
#include <time.h>

enum {
    TICK_MIN_MS   = 50, /* between two looks at the contacts */
    TICK_MAX_MS   = 2000,
    SELDOM        = 1024, /* calls in a busy loop */
    ASK_MAX       = 64,   /* contacts that are pinged in one tick; the others follow */
    TICKS_A_LIMIT = 10,
};

unsigned msp_network_alive_messages;

static _Atomic int64_t looked_ms; /* the last tick; 0: none */
static bool has_neighbour;  /* the next PE of another host is a contact; main channel's lock */
static unsigned next_asked; /* slot of the contact table; likewise */

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return ((int64_t)now.tv_sec * 1000) + (now.tv_nsec / 1000000);
}

static int64_t limit_ms(void)
{
    return (int64_t)msp_shmem_option_number(MEMSPAN_SHMEM_PEER_TIMEOUT) * 1000;
}

static int64_t tick_ms(void)
{
    int64_t tick = limit_ms() / TICKS_A_LIMIT;

    return (tick < TICK_MIN_MS) ? TICK_MIN_MS : ((tick > TICK_MAX_MS) ? TICK_MAX_MS : tick);
}

/* ---- pings ---- */

static void ping_contact(struct msp_network_contact *contact)
{
    const struct msp_network_header header = {
        .kind = MSP_NETWORK_PING, .pe = msp_job.pe, .value = msp_wait_state(msp_job.local_index)};

    contact->is_asked = true;
    contact->is_sent  = msp_network_try_to_send(contact, &header, NULL, 0, NULL, NULL);
}

/* With the lock. The contact that has been silent for too long; NULL: none. */
static struct msp_network_contact *look_at(struct msp_network_contact *contact, int64_t passed_ms,
                                           unsigned *asked_p)
{
    if (contact->is_asked) {
        contact->silent_ms += (unsigned)passed_ms;
        if (!contact->is_sent) {
            ping_contact(contact); /* the driver takes no more for it */
        }
        return ((int64_t)contact->silent_ms > limit_ms()) ? contact : NULL;
    }
    if (*asked_p < ASK_MAX) {
        ++*asked_p;
        contact->silent_ms = 0;
        ping_contact(contact);
    }
    return NULL;
}

static struct msp_network_contact *look_at_all(int64_t passed_ms)
{
    struct msp_network_channel *channel = msp_network.main;
    struct msp_network_contact *silent  = NULL;
    unsigned asked                      = 0;
    unsigned i;

    for (i = 0; (channel->contacts != NULL) && (i <= channel->contact_mask); i++) {
        struct msp_network_contact *contact =
            channel->contacts[(next_asked + i) & channel->contact_mask];

        if ((contact != NULL) && (contact->peer != NULL)) {
            struct msp_network_contact *found = look_at(contact, passed_ms, &asked);

            silent = (silent != NULL) ? silent : found;
        }
    }
    next_asked += ASK_MAX;
    return silent;
}

/* The next PE, where it is on another host. Every host has such a PE before it. */
static void contact_neighbour(void)
{
    int next = (msp_job.pe + 1) % msp_job.pe_count;

    if (has_neighbour || (msp_job_local_index(next) >= 0)) {
        return;
    }
    has_neighbour = true;
    (void)msp_network_contact_open("shmem_init", msp_network.main, next);
}

/* ---- looking ---- */

/* False: another thread looks, or it is too early. A process that was stopped meanwhile has not
 * listened: that time does not count. */
static bool begin_tick(int64_t *passed_ms_p)
{
    int64_t now    = now_ms();
    int64_t before = atomic_load_explicit(&looked_ms, memory_order_relaxed);
    int64_t tick   = tick_ms();

    if ((now - before < tick) || !atomic_compare_exchange_strong(&looked_ms, &before, now)) {
        return false;
    }
    *passed_ms_p = (now - before < 2 * tick) ? (now - before) : (2 * tick);
    return true;
}

void msp_network_alive_look(void)
{
    const struct msp_network_contact *silent;
    int64_t passed_ms = 0;
    int ending        = -1;
    int waiting       = -1;
    bool is_stuck;
    int pe;

    if ((msp_network.main == NULL) || (limit_ms() == 0) || !begin_tick(&passed_ms)) {
        return;
    }
    msp_network_lock(msp_network.main);
    contact_neighbour();
    is_stuck = msp_network_deadlock_look(&ending, &waiting);
    silent   = look_at_all(passed_ms);
    pe       = (silent != NULL) ? silent->pe : -1;
    msp_network_unlock(msp_network.main);
    if (is_stuck) {
        char call[64] = "";

        if (waiting == msp_job.pe) {
            msp_wait_call_text(call, sizeof call);
        }
        msp_fatal("PE %d is at its end, in shmem_finalize() or after main(), while PE %d%s and all "
                  "others wait for something else",
                  ending, waiting, call);
    }
    if (pe >= 0) {
        msp_fatal(
            "PE %d on %s does not answer for %lld s (link or host down, or the PE is stopped; "
            "SHMEMX_PEER_TIMEOUT is the limit)",
            pe, msp_network_card_host(pe), (long long)limit_ms() / 1000);
    }
}

void msp_network_alive_look_seldom(void)
{
    static _Thread_local unsigned calls;

    if (++calls % SELDOM == 0) {
        msp_network_alive_look();
    }
}

void msp_network_alive_heard(const struct msp_network_header *header)
{
    struct msp_network_contact *contact = msp_network_contact_find(msp_network.main, header->pe);

    msp_network_alive_count(header);
    contact->is_asked  = false;
    contact->silent_ms = 0;
    msp_network_deadlock_heard(contact, header->value);
}

void msp_network_alive_reset(void)
{
    atomic_store(&looked_ms, now_ms());
    has_neighbour = false;
    next_asked    = 0;
}
