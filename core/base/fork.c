/* SPDX-License-Identifier: BSD-3-Clause */
/* fork.c: the handlers of fork(). They take mutexes past the check of ranks: the order is the
 * list's. */

#include "core/base/fork.h"
#include "core/base/platform.h"

/* The linker's names of the section's ends. */
extern const struct msp_fork_item __start_msp_fork[] MSP_HIDDEN;
extern const struct msp_fork_item __stop_msp_fork[] MSP_HIDDEN;

static bool is_exempt(void)
{
    const struct msp_fork_item *item = __start_msp_fork;

    while ((item < __stop_msp_fork) && ((item->is_exempt == NULL) || !item->is_exempt())) {
        item++;
    }
    return item < __stop_msp_fork;
}

static void call(void (*function)(void))
{
    if (function != NULL) {
        function();
    }
}

static void before(void)
{
    const struct msp_fork_item *item;
    int rank;

    if (is_exempt()) {
        return;
    }
    for (rank = 0; rank < MSP_RANK_COUNT; rank++) {
        for (item = __start_msp_fork; item < __stop_msp_fork; item++) {
            if ((int)item->rank == rank) {
                if (item->lock != NULL) {
                    pthread_mutex_lock(&item->lock->mutex);
                }
                call(item->before);
            }
        }
    }
}

static void after_item(const struct msp_fork_item *item, bool child)
{
    call(child ? item->after_child : item->after_parent);
    if (item->lock != NULL) {
        pthread_mutex_unlock(&item->lock->mutex);
    }
}

static void after(bool child)
{
    const struct msp_fork_item *item;
    int rank;

    if (is_exempt()) {
        return;
    }
    for (rank = MSP_RANK_COUNT - 1; rank >= 0; rank--) {
        for (item = __start_msp_fork; item < __stop_msp_fork; item++) {
            if ((int)item->rank == rank) {
                after_item(item, child);
            }
        }
    }
}

static void after_in_parent(void)
{
    after(false);
}

static void after_in_child(void)
{
    after(true);
}

static void prepare(void)
{
    pthread_atfork(before, after_in_parent, after_in_child);
}

void msp_fork_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, prepare);
}
