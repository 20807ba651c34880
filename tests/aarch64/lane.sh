#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh [REGEX]: the tests on aarch64. Debian's cross compilers build in build/aarch64/dev against an aarch64
# Debian 12, which is unpacked in build/aarch64/root, and ctest runs in a virtual machine (tests/guest) with that
# as its root and Debian's kernel. Without REGEX: all tests but those of the tree itself, which no processor
# changes. A test for which that Debian has not what it needs is skipped.
#
# The processor is emulated: it orders memory as this machine's does.
# AARCH64_LIMIT: seconds until the machine is ended (21600). AARCH64=kept: what was unpacked before is used as
# it is.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
name=aarch64
modules=
processor=aarch64
system=$tree/build/aarch64/root
packages='base-files base-passwd bash dash coreutils diffutils findutils gawk grep sed procps util-linux mount iproute2
    jq strace valgrind libc6-dbg libc-bin gcc g++ cmake make pkg-config libc6-dev libgomp1 libgfortran5
    libhwloc-dev hwloc-nox libjansson-dev libcriterion-dev libpmix-dev openmpi-bin libucx-dev libfabric-dev
    ocl-icd-opencl-dev opencl-c-headers pocl-opencl-icd clinfo kmod linux-image-arm64 busybox-static'
. "$tree/tests/guest/guest.sh"

# unpack_system: into $system, with what the packages' own scripts would have made there.
unpack_system() {
    place=$tree/build/aarch64
    . "$tree/tests/guest/debian.sh"
    say 'fetching Debian 12 for aarch64'
    # shellcheck disable=SC2086 # a list of names
    debian_unpack arm64 bookworm $packages || die 'the packages of Debian 12 cannot be had'
    cp "$system/usr/share/base-passwd/passwd.master" "$system/etc/passwd"
    cp "$system/usr/share/base-passwd/group.master" "$system/etc/group"
    for link in awk:gawk cc:gcc c++:g++ mpirun:mpirun.openmpi; do
        ln -sf "${link#*:}" "$system/usr/bin/${link%%:*}"
    done
    mkdir -p "$system/tmp" "$system/mnt" "$system$tree"
}

guest_check aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu aarch64-linux-gnu-g++:g++-aarch64-linux-gnu
if [ "${AARCH64:-}" != kept ] || [ ! -e "$tree/build/aarch64/unpacked" ]; then
    (unpack_system)
fi
say 'building'
build=$tree/build/aarch64/dev
mkdir -p "$build"
{ cd "$tree" && cmake --preset dev -B "$build" --toolchain cmake/aarch64.cmake -DCMAKE_SYSROOT="$system" &&
    cmake --build "$build"; } >"$build/log" 2>&1 || { tail -n 60 "$build/log" >&2; die 'it does not build'; }
guest_prepare "$here/guest.sh"
printf '%s\n' "$build" >"$share/build"
printf '%s\n' "$@" >"$share/tests"
guest_run "${AARCH64_LIMIT:-21600}" -m 3072M
