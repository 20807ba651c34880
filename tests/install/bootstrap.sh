#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bootstrap.sh SOURCES: `bootstrap test` with a cmake that builds nothing and a ctest that lists the tests
# it would run, of a build folder that has a test of every label. It names the log of each quiet step and
# says how far that is; the rules about the sources are for CI.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
mkdir -p "$scratch/tree/cmake" "$scratch/bin"
cp -r "$1/cmake/bootstrap" "$1/cmake/bootstrap.d" "$scratch/tree/cmake/"
printf '#!/bin/sh\n' >"$scratch/tree/cmake/on" # another Debian, where all pass
chmod +x "$scratch/tree/cmake/on"
cp "$1/CMakePresets.json" "$scratch/tree/CMakePresets.json"
real=$(command -v ctest)
for preset in dev release asan tsan; do
    mkdir -p "$scratch/tree/build/$preset"
    for label in plain house slow tree waits memquery; do
        printf 'add_test(of-%s true)\nset_tests_properties(of-%s PROPERTIES LABELS %s)\n' $label $label $label
    done >"$scratch/tree/build/$preset/CTestTestfile.cmake"
    echo 'add_test(unit_a true)' >>"$scratch/tree/build/$preset/CTestTestfile.cmake"
done

stub() {
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
sed -n "/^[a-z]*_packages='/,/'\$/p" "$scratch/tree/cmake/bootstrap.d/packages.sh" | tr "' |" '\n' |
    sed -n 's/LLVM/19/; s/^[a-z].*[^=]$/installed &/p' >"$scratch/packages" # nothing is missing
stub dpkg-query "exec cat $scratch/packages"
stub apt-get 'exit 1'
stub dpkg 'echo none'
stub cmake 'echo "[12/34] Building C object"; exec /bin/sleep 0.5'
stub sleep 'exec /bin/sleep 0.1'
# shellcheck disable=SC2016 # for the stub
stub ctest 'case " $* " in *" -N "*) exec "$REAL" "$@" ;; esac
"$REAL" "$@" -N | sed -n "s/.*Test *#[0-9]*: //p" | sed "s/of-//" | paste -sd " " >>"$RECORD"
while [ "$1" != --output-junit ]; do shift; done
printf "<testcase name=\"a\" status=\"run\">\n</testcase>\n" >"$2"'

# try NAME VARIABLE=VALUE... PRESET...: what it says, and the tests of each preset that it runs.
try() {
    name=$1
    shift
    env -u CI RECORD="$scratch/$name.tests" REAL="$real" PATH="$scratch/bin:$PATH" "$@" \
        >"$scratch/$name" 2>&1 || { cat "$scratch/$name"; exit 1; }
}
expect() {
    grep -qF -e "$2" "$scratch/$1" || { echo "$1 has no \"$2\":"; cat "$scratch/$1"; exit 1; }
}
# expect_tests NAME LABELS...: a preset's tests each, by their labels.
expect_tests() {
    name=$1
    shift
    printf '%s\n' "$@" | diff - "$scratch/$name.tests" || { echo "$name runs other tests"; exit 1; }
}

bootstrap=$scratch/tree/cmake/bootstrap
try user "$bootstrap" test
expect user 'output in build/dev-build.log'
expect user '30 s: [12/34]'
expect user 'run where CI is set'
expect_tests user 'plain tree waits memquery unit_a'
try named "$bootstrap" test release asan
expect_tests named 'plain slow tree waits memquery unit_a' 'plain house memquery unit_a'
try ci CI=1 "$bootstrap" test
expect_tests ci 'plain house tree waits memquery' 'plain house memquery unit_a' 'plain house waits unit_a'

# A test that CI leaves out of dev, and asan lacks.
sed -i /unit_a/d "$scratch/tree/build/asan/CTestTestfile.cmake"
(try lost CI=1 "$bootstrap" test) >/dev/null && { echo 'a test that does not run is not missed'; exit 1; }
expect lost 'asan runs unit_a'
