#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fetch.sh BOOTSTRAP: `deps` fetches Intel's driver once, and says why where it cannot. No package is
# downloaded here: apt-get and dpkg are stand-ins that note what they are asked for.
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/cmake" "$scratch/bin"
cp -r "$1" "$1.d" "$scratch/cmake/"

stand_in() {
    { echo '#!/bin/sh' && cat; } >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

# All that it could name is installed, for LLVM 19.
stand_in dpkg-query <<'S'
tr -cs 'a-zA-Z0-9.+-' '\n' <"$SCRATCH/cmake/bootstrap.d/packages.sh" | sed 's/LLVM/19/; s/^/installed /'
S
stand_in apt-cache <<'S'
exit 1
S
stand_in ldd <<'S'
cat "$SCRATCH/missing" 2>/dev/null || :
S
stand_in apt-get <<'S'
echo "$*" >>"$SCRATCH/asked"
case $* in
*download*)
    [ ! -e "$SCRATCH/offline" ] || { echo 'E: no network today' >&2; exit 100; }
    : >driver.deb
    ;;
*' install intel-opencl-icd')
    echo 'NOTE: This is only a simulation!'
    echo 'Inst libigc77 (1.2 Debian:77/testing [amd64])'
    echo 'Inst libc6 [2.1] (2.2 Debian:77/testing [amd64])'
    echo 'Inst intel-opencl-icd (3.4 Debian:77/testing [amd64])'
    ;;
*' install libze-intel-gpu1')
    echo 'E: Unable to locate package libze-intel-gpu1' >&2
    exit 100
    ;;
esac
S
stand_in dpkg <<'S'
case $1 in
--print-architecture) echo amd64 ;;
-x) mkdir -p "$3/usr/lib" && : >"$3/usr/lib/libze_intel_gpu.so.1" ;;
esac
S
SCRATCH=$scratch
PATH=$scratch/bin:$PATH
export SCRATCH PATH

fail() {
    echo "$*"
    cat "$scratch/said" "$scratch/asked" 2>/dev/null || :
    exit 1
}

deps() {
    : >"$scratch/asked"
    "$scratch/cmake/bootstrap" deps >"$scratch/said" 2>&1 || fail "deps failed: $*"
}

why=$scratch/build/intel/why
driver=$scratch/build/intel/lib/libze_intel_gpu.so.1

: >"$scratch/offline"
deps offline
grep -q 'not fetched.*no network today' "$scratch/said" || fail 'a failed download is not said'
grep -q 'no network today' "$why" || fail 'the reason is not kept for the tests'
rm "$scratch/offline"

echo '	libmissing.so.7 => not found' >"$scratch/missing"
deps incomplete
grep -q 'libmissing.so.7' "$why" || fail 'a missing library is not named'
[ ! -e "$driver" ] || fail 'a driver is left that does not load'
rm "$scratch/missing"

deps fetched
[ -e "$driver" ] || fail 'nothing was fetched'
[ ! -e "$why" ] || fail 'an old reason is left'
grep -q 'download intel-opencl-icd libigc77$' "$scratch/asked" ||
    fail 'not asked for what this release needs, and for that alone'

deps again
! grep -q download "$scratch/asked" || fail 'the second deps downloads again'
