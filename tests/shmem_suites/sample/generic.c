/* SPDX-License-Identifier: BSD-3-Clause */
/* generic.c: type-generic names within macros with static variables, as suites have them. */

#include <shmem.h>
#include <stdio.h>

#define TEST(TYPE)                                                                                 \
    do {                                                                                           \
        static TYPE word, other;                                                                   \
        const int me = shmem_my_pe(), all = shmem_n_pes();                                         \
        TYPE old;                                                                                  \
        shmem_p(&word, (TYPE)(me + 1), (me + 1) % all);                                            \
        shmem_barrier_all();                                                                       \
        old = shmem_atomic_fetch_add(&word, (TYPE)5, (me + 1) % all);                              \
        shmem_atomic_inc(&other, 0);                                                               \
        shmem_barrier_all();                                                                       \
        if (old != (TYPE)(me + 1) || shmem_g(&word, (me + 1) % all) != (TYPE)(me + 6) ||           \
            shmem_atomic_fetch(&other, 0) != (TYPE)all) {                                          \
            printf("PE %d: " #TYPE "\n", me);                                                      \
            bad++;                                                                                 \
        }                                                                                          \
    } while (0)

int main(void)
{
    int bad = 0;

    shmem_init();
    TEST(int);
    TEST(long);
    TEST(unsigned long long);
    TEST(uint32_t);
    TEST(size_t);
    if (shmem_my_pe() == 0) {
        printf("%d PEs: %d wrong\n", shmem_n_pes(), bad);
    }
    shmem_finalize();
    return bad != 0;
}
