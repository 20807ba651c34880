/* SPDX-License-Identifier: BSD-3-Clause */
/* died.c: kernels wait for a PE that dies; the launcher, which would end the job, is stopped
 * before. The wait of the kernel ends, that of PE 0 by a loop of the program's. */

#include "tests/shmem/check.h"
#include <omp.h>
#include <shmemx.h>
#include <shmemx_device.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    static const char line[] = "the kernel has ended\n";
    const shmemx_device_view_t *view;
    long *word;
    int failed = 0;

    shmem_init();
    word = shmem_calloc(1, sizeof *word);
    CHECK(shmemx_device_open(omp_get_default_device(), &view) == 0, "%s", memspan_error_text());
    shmem_barrier_all();
    if (shmem_my_pe() == shmem_n_pes() - 1) {
        kill(getppid(), SIGSTOP);
        raise(SIGKILL);
    }
#pragma omp target is_device_ptr(word) firstprivate(view) map(tofrom : failed)
    if (shmemx_device_my_pe(view) == 0) {
        while (!failed) {
            failed = shmemx_device_failed(view);
        }
    } else {
        failed = shmemx_device_long_wait_until(view, word, SHMEMX_DEVICE_CMP_NE, 0);
    }
    if (failed && (write(STDERR_FILENO, line, strlen(line)) > 0)) {
        pause(); /* the library ends the job */
    }
    return 1;
}
