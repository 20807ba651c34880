/* SPDX-License-Identifier: BSD-3-Clause */
/* doorbell.c: waking the sleepers of a PE of this host. */

#include "shmem/control/doorbell.h"
#include "shmem/transport/segment.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

struct msp_doorbells msp_doorbells;

static void notify(struct msp_doorbell *doorbell)
{
    atomic_fetch_add_explicit(&doorbell->notifications, 1, memory_order_release);
    syscall(SYS_futex, &doorbell->notifications, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void msp_doorbell_notify_slow(int local_index)
{
    notify(&msp_doorbells.by_index[local_index]);
}

void msp_doorbell_notify_at_slow(int local_index, const void *address, size_t size_bytes)
{
    struct msp_doorbell *doorbell = &msp_doorbells.by_index[local_index];
    uint64_t key                  = msp_segment_key(address);

    if ((key + size_bytes > atomic_load(&doorbell->watch_first)) &&
        (key <= atomic_load(&doorbell->watch_last))) {
        notify(doorbell);
    }
}
