#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh BUILD [REGEX]: the tests of OpenCL (ctest -R; default: opencl) and the soak, on other
# runtimes than this system's: PoCL 7 and Mesa's rusticl from Debian sid, one after the other.
#
# The packages are unpacked, not installed, under build/newer-opencl, and the tests of BUILD run
# there by chroot, with the tree at its own path. Nothing of this system changes. Needed: apt-get,
# unshare, root; 1.2 GB. NEWER_OPENCL=kept: what was unpacked before is used as it is.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
say() {
    printf '%s\n' "newer-opencl: $*" >&2
}

. "$tree/tests/newer_opencl/root.sh"

[ $# -ge 1 ] || { sed -n '3,9s/^# //p' "$0" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { say 'root is needed'; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd)
expression=${2:-opencl}
newer_opencl_unpack

bad=0
for driver in pocl rusticl; do
    set -- OCL_ICD_VENDORS="/vendors/$driver"
    inside "$@" clinfo --raw >"$place/$driver.clinfo" 2>&1 || true
    version=$(sed -n 's/.*CL_DRIVER_VERSION  *//p' "$place/$driver.clinfo" | head -n 1)
    if [ -z "$version" ]; then
        say "$driver has no device: see $place/$driver.clinfo"
        bad=1
        continue
    fi
    say "$driver $version: the tests of $expression"
    inside "$@" ctest --test-dir "$build" -R "$expression" --no-tests=error -j2 --output-on-failure \
        >"$place/$driver.log" 2>&1 || bad=1
    # A line for each test that failed, and how many passed.
    sed -n '/The following tests FAILED/,/Errors while/p' "$place/$driver.log" | grep -E '^[[:space:]]+[0-9]' || true
    echo "$driver $version: $(grep -E '[0-9]+% tests passed' "$place/$driver.log")"
    inside "$@" MEMSPAN_DEVICES=opencl:0 "$build/tests/soak/memspan-soak" --seconds 20 --threads 2 \
        --seed 1 --no-forks >"$place/$driver.soak" 2>&1 || bad=1
    echo "$driver $version: soak: $(tail -n 1 "$place/$driver.soak")"
done
exit "$bad"
