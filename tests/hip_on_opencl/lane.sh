#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh BUILD [REGEX]: the HIP backend on an independent HIP: chipStar, which runs on OpenCL, here
# on PoCL 7. What is run: conformance, the soak, daxpy, OpenSHMEM's kinds of memory and reductions on
# the device, and lists of devices of two drivers; REGEX (default: all) is on the names of these runs.
#
# CHIPSTAR_BUILD names a folder in which chipStar is built for this system, or installed: bin/hipcc and
# libCHIP.so. It is neither fetched, built nor changed here. PoCL is that of the root of `bootstrap on sid`, which
# is made where it is not there; the programs run there by chroot, and the compiler that chipStar calls runs in
# this system (compile.sh). Needed: what cmake/on needs.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
work=$tree/build/hip-on-opencl

say() {
    printf '%s\n' "hip-on-opencl: $*" >&2
}

root=$tree/build/on/sid/root

# inside NAME=VALUE... COMMAND...: in that root, with no network. inside_mounts: shell text that mounts more of
# this system below "$root".
inside() {
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --net sh -c '
        root=$0 tree=$1 mounts=$2
        shift 2
        eval "$mounts"
        for folder in proc sys dev; do
            mount --rbind "/$folder" "$root/$folder" || exit 2
        done
        mount --bind "$tree" "$root$tree" || exit 2
        exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/usr/sbin:/bin HOME=/tmp LC_ALL=C \
            POCL_CACHE_DIR=/tmp/pocl-cache "$@"' "$root" "$tree" "$inside_mounts" "$@"
}

[ $# -ge 1 ] || { sed -n '3,11s/^# //p' "$0" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { say 'root is needed'; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd)
expression=${2:-.}
hip=$(CDPATH='' cd -- "${CHIPSTAR_BUILD:-/nowhere}" 2>/dev/null && pwd) ||
    { say 'CHIPSTAR_BUILD names no folder: where chipStar is built or installed'; exit 2; }
runtime=
for library in "$hip/libCHIP.so" "$hip/lib/libCHIP.so"; do
    [ ! -e "$library" ] || runtime=$library
done
if [ -z "$runtime" ] || [ ! -x "$hip/bin/hipcc" ]; then
    say "$hip has no libCHIP.so or no bin/hipcc"
    exit 2
fi

# The names under which the backend looks for HIP's runtime and its compiler.
prepare() {
    rm -rf "$work/tmp" "$work/logs"
    mkdir -p "$work/lib" "$work/tmp" "$work/logs" "$work/cache/modules"
    "$tree/cmake/on" sid --only-make
    mkdir -p "$root/host" "$root$hip" "$root$tree"
    ln -sf "$runtime" "$work/lib/libamdhip64.so.6"
    ln -sf "$runtime" "$work/lib/libhiprtc.so.1"
    # The cache holds what this compiler made.
    if [ "$(cat "$work/cache/of" 2>/dev/null)" != "$hip $(stat -Lc %Y "$hip/bin/hipcc")" ]; then
        rm -rf "$work/cache"
        mkdir -p "$work/cache/modules"
        echo "$hip $(stat -Lc %Y "$hip/bin/hipcc")" >"$work/cache/of"
    fi
    sed -e "s|@HIPCC@|$hip/bin/hipcc|; s|@CACHE@|$work/cache|; s|@PATH@|$PATH|; s|@TMPDIR@|$work/tmp|" \
        "$here/compile.sh" >"$work/hipcc"
    chmod +x "$work/hipcc"
    inside_mounts="mount --rbind / '$root/host' && mount --bind '$hip' '$root$hip' &&
        mount --bind '$work/hipcc' '$root$hip/bin/hipcc' || exit 2"
}

# on DEVICES NAME=VALUE... COMMAND...: with these devices.
on() {
    devices=$1
    shift
    inside OCL_ICD_VENDORS=pocl.icd LD_LIBRARY_PATH="$work/lib" TMPDIR="$work/tmp" CHIP_BE=opencl \
        CHIP_DEVICE_TYPE=cpu CHIP_PLATFORM=0 CHIP_DEVICE=0 CHIP_LOGLEVEL=crit \
        CHIP_MODULE_CACHE_DIR="$work/cache/modules" MEMSPAN_DEVICES="$devices" timeout -k 5 300 env "$@"
}

# known NAME LOG: why chipStar, or PoCL below it, makes this run fail, if LOG says so too. Any other failure
# is ours.
known() {
    case $1 in
    shmem-kind-MANAGED-*)
        grep -q 'the driver answers ManagedMemory 0' "$2" &&
            echo 'chipStar answers ManagedMemory 0, though it has hipMallocManaged()'
        ;;
    shmem-kind-COHERENT-*)
        grep -q 'does not support hipHostMallocCoherent' "$2" &&
            echo 'chipStar has no hipHostMallocCoherent and no large BAR'
        ;;
    *) return 1 ;;
    esac
}

# What a run says of itself, in a line. For Criterion a skipped case has passed.
words_of() {
    case $1 in
    conform*) awk '/^\[PASS/ { p++ } /^\[FAIL/ { f++ } /^\[SKIP/ { s++ }
        END { printf "%d cases passed, %d failed, %d skipped", p - s, f, s }' "$2" ;;
    daxpy*) awk '/ verified$/ { v++ } / waived$/ { w++ } / WRONG$| FAILED$/ { f++ }
        END { printf "%d rows verified, %d wrong or failed, %d waived", v, f, w }' "$2" ;;
    *) tail -n 1 "$2" ;;
    esac
}

# try NAME DEVICES NAME=VALUE... COMMAND...: 77 is a skip.
try() {
    name=$1 code=0
    shift
    echo "$name" | grep -qE -- "$expression" || return 0
    on "$@" >"$work/logs/$name" 2>&1 </dev/null || code=$?
    case $code in
    0) passed=$((passed + 1)) result=passed ;;
    77) skipped=$((skipped + 1)) result=skipped ;;
    *)
        if why=$(known "$name" "$work/logs/$name"); then
            known=$((known + 1))
            echo "known to fail $name: $why"
            return
        fi
        failed=$((failed + 1)) result="failed ($code)"
        ;;
    esac
    words=$(words_of "$name" "$work/logs/$name")
    echo "$result $name${words:+: $words}"
}

# Devices that one process has beside HIP's: each backend is tested with the other one open.
conformance() {
    for case in hip:hip:0 hip:emu:1,hip:0 hip:hip:0,opencl:0 opencl:hip:0,opencl:0; do
        devices=${case#*:}
        try "conform-${case%%:*}-on-$devices" "$devices" CONFORM_BACKEND="${case%%:*}" \
            "$build/tests/conform/conform" -j1 --verbose
    done
}

soaks() {
    try soak-forks hip:0 "$build/tests/soak/memspan-soak" --seconds 20 --threads 2 --seed 1
    for devices in emu:1,hip:0 hip:0,opencl:0; do
        try "soak-on-$devices" "$devices" "$build/tests/soak/memspan-soak" --seconds 20 --threads 2 --seed 2 --no-forks
    done
    # No host pages are imported into both: chipStar's hipHostRegister() gives them another address.
    for devices in emu:1,hip:0 hip:0,opencl:0; do
        backends=$(echo "$devices" | sed 's/:[0-9]*//g')
        try "mixed-$devices" "$devices" MIXED="$backends" MIXED_REFUSED=1 "$build/tests/fakes/hip/hip_mixed" -j1
    done
}

benchmarks() {
    for round in 1 2 3; do
        try "daxpy-$round" hip:0 "$build/bin/memspan-bench" daxpy --n 64k,1m --reps 1,10 --rounds 1
    done
    try daxpy-second emu:1,hip:0 "$build/bin/memspan-bench" daxpy --device 1 --n 64k --reps 1,10 --rounds 1
    try probe hip:0 "$build/bin/memquery" --probe=full
    try measure hip:0 "$build/bin/memquery" --measure=quick
}

shmem() {
    for kind in DEVICE PINNED MANAGED COHERENT; do
        for pes in 2 4; do
            try "shmem-kind-$kind-n$pes" hip:0 SHMEM_SYMMETRIC_SIZE=16m SHMEM_SYMMETRIC_PARTITION5="16m:KIND=$kind" \
                "$build/bin/oshrun" -n "$pes" "$build/tests/shmem/partition/shmem-kinds" "$kind" 0 hip
        done
    done
    for pes in 2 3 4; do
        try "shmem-ends-n$pes" hip:0 SHMEM_SYMMETRIC_SIZE=16m SHMEM_SYMMETRIC_PARTITION5=16m:KIND=DEVICE \
            "$build/bin/oshrun" -n "$pes" "$build/tests/shmem/partition/shmem-ends" hip
        try "shmem-device-reduce-n$pes" hip:0 SHMEM_DEBUG=1 SHMEM_SYMMETRIC_PARTITION5=8m:KIND=DEVICE \
            sh -c "'$build/bin/oshrun' -n $pes '$build/tests/shmem/collective/shmem-device-reduce' >'$work/tmp/reduce' 2>&1 ||
                { cat '$work/tmp/reduce'; exit 1; }; grep 'reduce by kernels' '$work/tmp/reduce'"
    done
}

prepare
passed=0 failed=0 known=0 skipped=0
version=$(on hip:0 "$build/bin/memquery" -o json 2>"$work/logs/memquery" |
    jq -r '.devices[] | select(.backend == "hip") | "\(.name), \(.driver)"' 2>/dev/null || true)
[ -n "$version" ] || { say "no device of HIP: see $work/logs/memquery"; exit 1; }
say "$version"
conformance
soaks
benchmarks
shmem
echo "$passed passed, $failed failed, $known known to fail, $skipped skipped; output in $work/logs"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
