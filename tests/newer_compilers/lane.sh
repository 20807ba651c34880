#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh LIBRARY [SUITE...]: OpenMP programs with compilers newer than this system's, GCC 16 and
# LLVM 22 from Debian sid, three times each: stock, with the library preloaded, and linked with it
# first. What passes stock must pass with the library. LLVM 22 compiles and links OpenSHMEM's operations for GPUs. The programs are those of tests/programs/omp,
# those of mapped variables of tests/programs/offload and tests/shmem/programs, linked, tests/ends, and
# tests/fortran/placed.f90, linked; a SUITE is a folder with public sources, of which the tests of allocators and devices are run:
# GCC's libgomp/testsuite, LLVM's openmp/runtime/test, or OpenMP_VV.
#
# The packages are unpacked, not installed, under build/newer-compilers, and run there by chroot, so
# nothing of this system changes. Needed: apt-get, unshare, and root or user namespaces.
# NEWER_COMPILERS=kept: what was unpacked before is used as it is.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
place=$tree/build/newer-compilers
root=$place/root
packages='gcc-16 g++-16 gfortran-16 clang-22 flang-22 libomp-22-dev liboffload-22-dev clang-tools-22 llvm-22
    libc6-dev libc-bin libhwloc15 base-files bash dash coreutils diffutils findutils gawk grep sed
    binutils'

say() {
    printf '%s\n' "newer-compilers: $*" >&2
}

. "$tree/tests/guest/debian.sh"

[ $# -ge 1 ] || { sed -n '3,12s/^# //p' "$0" >&2; exit 2; }
library=$1
shift
mkdir -p "$place"
if [ "${NEWER_COMPILERS:-}" != kept ] || [ ! -e "$place/unpacked" ]; then
    say 'fetching GCC 16 and LLVM 22 from Debian sid'
    # shellcheck disable=SC2086 # a list of names
    debian_unpack "$(dpkg --print-architecture)" sid $packages ||
        { say 'the packages of Debian sid cannot be had'; exit 1; }
fi

work=$root/lane
rm -rf "$work"
mkdir -p "$work/suites" "$root/tmp"
for name in libmemspan libmemspan-shmem; do
    cp "$(dirname "$library")/$name.so.0" "$work/$name.so.0"
    ln -s "$name.so.0" "$work/$name.so"
done
cp "$(dirname "$library")/../bin/oshrun" "$work/"
cp -r "$tree/include" "$here/run.sh" "$here/own_offload.c" "$tree/tests/programs/omp" \
    "$tree/tests/programs/offload" "$tree/tests/ends" "$work/"
cp "$tree/tests/fortran/placed.f90" "$work/"
python3 "$tree/include/fortran/modules.py" "$tree/include" "$work" memspan
mkdir -p "$work/tests/shmem"
cp -r "$tree/tests/shmem/check.h" "$tree/tests/shmem/device" "$tree/tests/shmem/programs" "$work/tests/shmem/"
for suite in "$@"; do
    cp -r "$suite" "$work/suites/$(echo "$suite" | tr -c 'A-Za-z0-9\n' _)"
done

as_root=
[ "$(id -u)" -eq 0 ] || as_root=--map-root-user
# shellcheck disable=SC2016,SC2086 # for the inner shell; one word or none
unshare $as_root --mount sh -c '
    for folder in proc sys dev; do
        mkdir -p "$0/$folder" && mount --rbind "/$folder" "$0/$folder" || exit 2
    done
    exec chroot "$0" /bin/sh -c "ldconfig; exec env -i PATH=/usr/bin:/usr/sbin:/bin HOME=/tmp LC_ALL=C \
        sh /lane/run.sh"' "$root"
