/* SPDX-License-Identifier: BSD-3-Clause */
/* died.c: PE 1 ends without a word while a queue of PE 0 waits for its signal: the job ends, though
 * PE 0 is in shmem_finalize(). */

#include <memspan/memspan.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t signal_word;

int main(void)
{
    memspan_queue_h queue;

    shmem_init();
    if (memspan_queue_open(0, MEMSPAN_QUEUE_OWN, NULL, 0, &queue) != MEMSPAN_OK) {
        fprintf(stderr, "%s\n", memspan_error_text());
        shmem_global_exit(2);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        _exit(1);
    }
    if (shmemx_signal_wait_until_on_queue(&signal_word, SHMEM_CMP_EQ, 1, queue) != 0) {
        fprintf(stderr, "%s\n", memspan_error_text());
        shmem_global_exit(2);
    }
    fprintf(stderr, "the call has returned\n");
    shmem_finalize();
    return 0;
}
