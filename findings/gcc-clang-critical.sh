#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One named critical section is two locks in a program of GCC's and Clang's objects.
#
# Expected: libomp has GCC's entry points (GOMP_critical_name_start) so that objects of both
# compilers can share one runtime, and the name of a critical section is global to the program.
# Seen: GCC names the lock .gomp_critical_user_ledger, Clang .gomp_critical_user_ledger.var. Two
# threads are inside "critical (ledger)" at the same time, one in each object. Neither the
# linker nor the runtime says a word. With both objects of Clang there is one thread inside.
# A program that is half gfortran and half clang loses updates of what the section protects.
#
# Versions: Debian 13, gcc-14 14.2.0-19, clang-19 and libomp5-19 1:19.1.7-3+b1. The same with
# gcc-16 16.2.0-4 and clang-22 1:22.1.8-3 on libomp5 1:23.1.4-2 of sid.
# Output: the line of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='gcc+clang: 2 threads inside; clang+clang: 1 threads inside'

RUN=$(cat <<'END'
cd /tmp
cat >section.c <<'C'
#include <stdatomic.h>
#include <time.h>
extern atomic_int inside, most;
void NAME(void)
{
#pragma omp critical(ledger)
    {
        const int here = atomic_fetch_add(&inside, 1) + 1;
        if (here > atomic_load(&most))
            atomic_store(&most, here);
        /* At most a second: the other thread comes in, or it is kept out. */
        for (int i = 0; i < 100 && atomic_load(&most) < 2; i++)
            nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
        atomic_fetch_sub(&inside, 1);
    }
}
C
cat >main.c <<'C'
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
atomic_int inside, most;
void first(void), second(void);
int main(void)
{
#pragma omp parallel num_threads(2)
    omp_get_thread_num() ? first() : second();
    printf("%d threads inside", atomic_load(&most));
}
C
clang-19 -fopenmp -DNAME=second -c section.c -o second.o
clang-19 -fopenmp -c main.c -o main.o
gcc-14 -fopenmp -DNAME=first -c section.c -o first.o
clang-19 -fopenmp main.o first.o second.o -o mixed
clang-19 -fopenmp -DNAME=first -c section.c -o first.o
clang-19 -fopenmp main.o first.o second.o -o same
printf 'gcc+clang: %s; clang+clang: %s\n' "$(./mixed)" "$(./same)"
END
)
export RUN
packages=base-files,dash,coreutils,gcc-14=14.2.0-19
packages=$packages,clang-19=1:19.1.7-3+b1,libomp-19-dev=1:19.1.7-3+b1
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
