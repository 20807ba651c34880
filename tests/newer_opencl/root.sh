#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# root.sh: PoCL 7 and Mesa's rusticl of Debian sid, unpacked and not installed, under build/newer-opencl. A script
# sources it after it has set tree (this tree's folder) and say() (a message).
# shellcheck disable=SC2154 # they are set
place=$tree/build/newer-opencl
root=$place/root
opencl_packages='pocl-opencl-icd mesa-opencl-icd ocl-icd-libopencl1 opencl-c-headers clinfo libhwloc15
    libjansson4 libcriterion3 cmake jq libc6-dev libc-bin base-files bash dash coreutils diffutils
    findutils gawk grep sed binutils procps util-linux'

. "$tree/tests/guest/debian.sh"

# NEWER_OPENCL=kept: what was unpacked before is used as it is.
newer_opencl_unpack() {
    mkdir -p "$place"
    if [ "${NEWER_OPENCL:-}" != kept ] || [ ! -e "$place/unpacked" ]; then
        say 'fetching PoCL and rusticl from Debian sid'
        # shellcheck disable=SC2086 # a list of names
        debian_unpack "$(dpkg --print-architecture)" sid $opencl_packages ||
            { say 'the packages of Debian sid cannot be had'; exit 1; }
    fi
    # The loader takes the drivers of one folder: one driver in each.
    mkdir -p "$root/tmp" "$root$tree"
    [ -e "$root/usr/bin/awk" ] || ln -s gawk "$root/usr/bin/awk" # what installing it would do
    for driver in pocl rusticl; do
        mkdir -p "$root/vendors/$driver"
        cp "$root/etc/OpenCL/vendors/$driver.icd" "$root/vendors/$driver/"
    done
    inside sh -c ldconfig
}

# inside NAME=VALUE... COMMAND...: in the unpacked system, with no network. inside_mounts: shell text that mounts
# more of this system below "$root".
inside() {
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --net sh -c '
        root=$0 tree=$1 mounts=$2
        shift 2
        eval "$mounts"
        for folder in proc sys dev; do
            mkdir -p "$root/$folder" && mount --rbind "/$folder" "$root/$folder" || exit 2
        done
        mount --bind "$tree" "$root$tree" || exit 2
        exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/usr/sbin:/bin HOME=/tmp LC_ALL=C \
            POCL_CACHE_DIR=/tmp/pocl-cache RUSTICL_ENABLE=llvmpipe RUSTICL_FEATURES=fp64 "$@"' "$root" "$tree" "${inside_mounts:-}" "$@"
}
