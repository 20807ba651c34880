#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Fortran workshare that calls an elemental function is serial, with each compiler elsewhere.
#
# Expected: "omp workshare" divides array assignments among the threads, and the standard names
# calls of elemental functions among what it divides.
# Seen: of two statements with the same elemental function, gfortran has one thread do the plain
# assignment and divides the WHERE; flang divides the assignment and has one thread do the WHERE.
# Neither says so. An array expression is as fast as one processor after a move from the one
# compiler to the other, with the same source and the same directives.
#
# Versions: Debian 13, gfortran-14 14.2.0-19, flang-22 1:22.1.8-1~deb13u5. The same with gfortran-16
# 16.2.0-4 and flang-23 of sid.
# Output: the lines of "want" below, the threads that computed elements of the array.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='gfortran-14: assignment 1, where 4
flang-22: assignment 4, where 1'

RUN=$(cat <<'END'
cd /tmp
cat >thread.c <<'C'
#include <omp.h>
int thread_of(int element) { return element < 0 ? -1 : omp_get_thread_num(); }
C
cat >share.f90 <<'F'
module elements
  use iso_c_binding
  implicit none
  interface
    pure integer(c_int) function thread_of(element) bind(c)
      import c_int
      integer(c_int), value, intent(in) :: element
    end function
  end interface
contains
  elemental integer function thread(element)
    integer, intent(in) :: element
    thread = thread_of(element)
  end function
end module
program share
  use elements
  implicit none
  integer :: i, a(2000), b(2000), input(2000) = 1
  !$omp parallel num_threads(4)
  !$omp workshare
  a = thread(input)
  where (input > 0) b = thread(input)
  !$omp end workshare
  !$omp end parallel
  print '(2(a, i0))', 'assignment ', count([(any(a == i), i = 0, 3)]), &
    ', where ', count([(any(b == i), i = 0, 3)])
end program
F
gcc-14 -fopenmp -c thread.c
for compiler in gfortran-14 flang-22; do
    $compiler -fopenmp share.f90 thread.o -o share -Wl,-rpath,/usr/lib/llvm-22/lib
    echo "$compiler: $(./share)"
done 2>&1
END
)
export RUN
packages=base-files,dash,coreutils,libc6-dev,gfortran-14=14.2.0-19
packages=$packages,flang-22=1:22.1.8-1~deb13u5,libomp-22-dev=1:22.1.8-1~deb13u5
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
