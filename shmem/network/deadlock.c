/* SPDX-License-Identifier: BSD-3-Clause */
/* deadlock.c: a program that waits for ever: one PE is in shmem_finalize(), or has left main(), and
 * all others wait for something else. No PE is left that could end a wait.
 *
 * Liveness messages carry the wait of a PE (msp_wait_state(), control/wait.h). A PE in
 * shmem_finalize() notifies PE 0, which then queries all PEs. Each must be in the same wait in
 * several answers, while no message has ended it. Larger jobs are not checked, as PE 0 would
 * connect to all of them. */

#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/network/peer.h"

enum {
    PES_MAX  = 64,
    SAME_MIN = 5, /* answers in a row that name the same wait */
};

struct view {
    int ending;  /* a PE in shmem_finalize(), -1: none */
    int waiting; /* one that waits elsewhere */
    bool is_stuck;
};

static void add(struct view *view, int pe, uint64_t state, bool is_stuck)
{
    view->is_stuck = view->is_stuck && is_stuck;
    if ((state & 1) != 0) {
        view->ending = pe;
    } else {
        view->waiting = pe;
    }
}

/* The waits of this host's PEs when the thread looked last; the main channel's lock. */
static struct {
    uint64_t state;
    unsigned same_count;
} locals[PES_MAX];

static void add_host(struct view *view)
{
    int i;

    for (i = 0; i < msp_job.local_count; i++) {
        uint64_t state = msp_wait_state(i);
        bool is_same   = (state != 0) && (state == locals[i].state);

        locals[i].same_count = is_same ? (locals[i].same_count + 1) : 0;
        locals[i].state      = state;
        add(view, msp_job.local_pes[i], state, locals[i].same_count >= SAME_MIN);
    }
}

static void add_others(struct view *view)
{
    int pe;

    for (pe = 0; pe < msp_job.pe_count; pe++) {
        if (msp_job_local_index(pe) < 0) {
            const struct msp_network_contact *contact =
                msp_network_contact_find(msp_network.main, pe);

            add(view, pe, contact->state, contact->same_count >= SAME_MIN);
        }
    }
}

static void contact_all(void)
{
    int pe;

    for (pe = 0; pe < msp_job.pe_count; pe++) {
        if (msp_job_local_index(pe) < 0) {
            (void)msp_network_contact_open("shmem_finalize", msp_network.main, pe);
        }
    }
}

void msp_network_deadlock_heard(struct msp_network_contact *contact, uint64_t state)
{
    bool is_same = (state != 0) && (state == contact->state);

    contact->same_count = is_same ? (contact->same_count + 1) : 0;
    contact->state      = state;
}

bool msp_network_deadlock_look(int *ending_p, int *waiting_p)
{
    struct view view = {.ending = -1, .waiting = -1, .is_stuck = true};

    if ((msp_job.pe_count > PES_MAX) || (msp_wait_state(msp_job.local_index) == 0)) {
        return false;
    }
    if (msp_job.pe != 0) {
        if (((msp_wait_state(msp_job.local_index) & 1) != 0) && (msp_job_local_index(0) < 0)) {
            (void)msp_network_contact_open("shmem_finalize", msp_network.main, 0);
        }
        return false;
    }
    add_host(&view);
    add_others(&view);
    if (view.ending >= 0) {
        contact_all();
    }
    *ending_p  = view.ending;
    *waiting_p = view.waiting;
    return view.is_stuck && (view.ending >= 0) && (view.waiting >= 0);
}
