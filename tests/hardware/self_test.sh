#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# self_test.sh BUILD DRIVER: what pack.sh gathers does all that run.sh asks of it on a bare machine: a
# root with a few programs, the libraries that those need, and the pretended CUDA driver where the
# real one would be. 77 where no such root can be made.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
driver=$2
unset LD_LIBRARY_PATH
as_root=
[ "$(id -u)" -eq 0 ] || as_root=--map-root-user
# shellcheck disable=SC2086 # one word or none
unshare $as_root --mount --net --pid --fork true 2>/dev/null || { echo 'no namespaces here'; exit 77; }
folder=$(mktemp -d)
root=$folder/root
trap 'rm -rf "$folder"' EXIT INT TERM
mkdir -p "$root/kit" "$root/out" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/etc"

# bring FILE: with the libraries that it needs, where it is.
bring() {
    for file in "$1" $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
        mkdir -p "$root${file%/*}"
        [ -e "$root$file" ] || cp -L "$file" "$root$file"
    done
}
mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64"
for name in bin lib lib64; do
    ln -s "usr/$name" "$root/$name"
done
for tool in sh cat cp cut date dirname env grep gzip head id ls mkdir mktemp mv nproc rm sed sleep sort tail tar \
    tee timeout tr uname; do
    bring "$(command -v $tool)"
done
libc=$(ldd /bin/sh | sed -n 's/.* => \(\/[^ ]*\/libc\.so\.6\) .*/\1/p')
for name in libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2; do
    bring "${libc%/*}/$name"
done
cp "$driver/libcuda.so.1" "$root${libc%/*}/"
echo 'PRETTY_NAME="bare"' >"$root/etc/os-release"
# The pretended driver runs no device code of GCC or nvcc.
HARDWARE_CC=none HARDWARE_NVCC=none "$here/pack.sh" "$build" "$root/kit" >"$folder/packed"
[ "$(du -sm "$root/kit" | cut -f 1)" -lt 64 ] || { echo "too large to carry: $(cat "$folder/packed")"; exit 1; }

# bare NAME=VALUE... COMMAND...
bare() {
    # shellcheck disable=SC2016,SC2086 # for the inner shell; one word or none
    unshare $as_root --mount --net --pid --fork sh -c '
        mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" || exit 2
        mount -t tmpfs tmpfs "$0/tmp" && exec chroot "$0" /usr/bin/env -i PATH=/usr/bin "$@"' "$root" "$@"
}

sizes='HARDWARE_SCALE=5 DAXPY_N=10k DAXPY_N_LARGE=20k SOAK_SECONDS=2 MODEL_SECONDS=2 RACE_ROUNDS=3 RACE_KIB=256 CALLS_MIB=16 PES=2 FAKE_CUDA_MEMORY=1073741824'
# All but kernels: the pretended driver loads no image.
steps='facts query share suite program queues frameworks regions shmem race soak measure calls daxpy blocks sanitizer'
bad=0
# shellcheck disable=SC2086 # words
bare $sizes HARDWARE_SECONDS=${HARDWARE_SECONDS:-900} /kit/run.sh cuda /out $steps >"$folder/said" 2>&1 || bad=1
tar -xzf "$root/out/results.tar.gz" -C "$folder"
if [ "$bad" -ne 0 ]; then
    cat "$folder/said"
    grep -l 'exit code' "$folder"/results/* | while read -r file; do
        echo "== $file"
        tail -n 20 "$file"
    done
fi
# FILE has the WORDS.
has() {
    grep -q "$2" "$folder/results/$1" || {
        echo "$1 lacks \"$2\""
        bad=1
    }
}
[ "$(find "$root/out" -type f | wc -l)" -le 8 ] || { echo 'too many result files'; bad=1; }
has facts.txt '^commit  '
has facts.txt '^pidfd_getfd '
has memquery.txt '^d0 .*cuda:0'
has memquery.txt 'memquery --shmem'
has memquery.json '"cuda"'
has share.txt 'proved'
has conform-0.txt 'Synthesis.*Failing: 0'
has program.txt '^right: the capture ends with 0'
has program.txt '^right: memory is freed when the process ends'
has queues.txt '^right: two streams of the program.s, by the same block'
has queues.txt '^right: a queue and the legacy default stream'
has queues.txt '^right: the queue serves after a capture'
has queues.txt '^right: 64 KiB on one stream: ours'
has frameworks.txt '^skipped: no Python 3'
has frameworks.txt '^skipped: there was no nvcc'
has race.txt 'PE 1: 3 copies of 256 KiB: 0 puts and 0 gets'
has shmem.txt 'shmem-kinds CUDA'
has shmem.txt 'shmem-device-reduce'
has handles.txt 'no-descriptors.*shmem-kinds DEVICE'
has handles.txt 'no right to fetch'
has soak.txt 'steps'
has measure.txt 'GB/s'
has calls.txt '^8 bytes to the device  *ours'
has calls.txt '^the same without waiting  *ours *[0-9]'
has calls.txt 'daxpy [0-9]* GB/s$'
for variant in host naive copy-once host-pinned managed coherent device-resident; do
    has daxpy.txt "^$variant .*verified"
done
has daxpy.svg '<svg'
has daxpy-large.txt 'device-resident [0-9.]* %'
has blocks.txt '^ *256 '
for step in facts query share suite program queues shmem race soak measure calls daxpy blocks; do
    has summary.txt "^$step: green"
done
has summary.txt '^frameworks: skipped (3 of 3'
has summary.txt '^sanitizer: skipped'
grep -q '^green on 2 device(s) of cuda: facts .* blocks$' "$folder/said" || { echo 'not the steps that ran'; bad=1; }
[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && cp -r "$root/out/." "$folder/said" "$folder/packed" "$KEEP"; }
# Steps that have no time left are named, in the archive as well, and the status tells.
code=0
bare HARDWARE_SECONDS=4 /kit/run.sh cuda /out facts query >"$folder/said" 2>&1 || code=$?
tar -xzf "$root/out/results.tar.gz" -C "$folder"
[ "$code" -eq 1 ] || { echo "steps left out: $code"; bad=1; }
has summary.txt '^query: left out: no time'
grep -q '^green' "$folder/said" && { echo 'green without a step'; bad=1; }
code=0
bare /kit/run.sh cuda /out fact >"$folder/said" 2>&1 || code=$?
[ "$code" -eq 2 ] || { echo "with a step that does not exist: $code"; bad=1; }
# A driver that hangs is left.
bare DRIVER_SECONDS=1 FAKE_CUDA_HANG=1 /kit/run.sh cuda /out facts >"$folder/said" 2>&1 && code=0 || code=$?
[ "$code" -eq 77 ] || { echo "with a driver that hangs: $code"; cat "$folder/said"; bad=1; }
code=0
bare FAKE_CUDA_DEVICES=0 /kit/run.sh cuda /out >"$folder/said" 2>&1 || code=$?
[ "$code" -eq 77 ] || { echo "without a device: $code"; bad=1; }
exit "$bad"
