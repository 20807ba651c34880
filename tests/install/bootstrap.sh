#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bootstrap.sh BOOTSTRAP: `bootstrap test` with cmake and ctest that only record how they are called. It
# names the log of each quiet step and says how far that is; the rules about the sources are for CI.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
mkdir -p "$scratch/tree/cmake" "$scratch/bin"
cp "$1" "$scratch/tree/cmake/bootstrap"

stub() {
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
stub dpkg-query 'echo "installed "' # nothing is missing
stub apt-get 'exit 1'
stub dpkg 'echo none'
stub cmake 'echo "[12/34] Building C object"; exec /bin/sleep 0.5'
stub sleep 'exec /bin/sleep 0.1'
# shellcheck disable=SC2016 # for the stub
stub ctest 'echo "$@" >>"$RECORD"
while [ "$1" != --output-junit ]; do shift; done
printf "<testcase name=\"a\" status=\"run\">\n</testcase>\n" >"$2"'

# try NAME VARIABLES...: what it says, and how ctest is called.
try() {
    name=$1
    shift
    mkdir -p "$scratch/tree/build/dev" "$scratch/tree/build/asan" "$scratch/tree/build/tsan"
    env -u CI "$@" RECORD="$scratch/$name.ctest" PATH="$scratch/bin:$PATH" "$scratch/tree/cmake/bootstrap" test \
        >"$scratch/$name" 2>&1 || { cat "$scratch/$name"; exit 1; }
}
expect() {
    grep -qF -e "$2" "$scratch/$1" || { echo "$1 has no \"$2\":"; cat "$scratch/$1"; exit 1; }
}

try user
expect user 'output in build/dev-build.log'
expect user '30 s: [12/34]'
expect user 'run where CI is set'
expect user.ctest '--label-exclude ^house$'
[ "$(wc -l <"$scratch/user.ctest")" -eq 1 ]
try ci CI=1
! grep -q 'label-exclude' "$scratch/ci.ctest" || { echo 'CI has no rules about the sources'; exit 1; }
[ "$(wc -l <"$scratch/ci.ctest")" -eq 3 ]
