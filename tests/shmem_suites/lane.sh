#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh BUILD SUITE...: programs of public OpenSHMEM suites, which their authors wrote for other libraries. A SUITE is
# a folder with the sources of tests-sos (Sandia), tests-uh (University of Houston), tests-cray, tests-mellanox (all of
# github.com/openshmem-org), shmemvv (michael-beebe) or shmem4py (mpi4py). BUILD is a build folder with oshcc, oshrun.
#
# RUNS: PES or PES:TRANSPORT:PES_A_HOST, several (default "2 4 4:tcp:1 4:ucx:2"). Results are in build/shmem-suites.
# Debian: autoconf automake libtool; libopenmpi-dev (mpi.h) for tests-mellanox; python3-cffi, -numpy, -setuptools and
# -dev for shmem4py.
set -eu
tree=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
place=$tree/build/shmem-suites
runs=${RUNS:-2 4 4:tcp:1 4:ucx:2}

# Programs that ask for what OpenSHMEM does not promise. SUITE PROGRAM: the reason is beside it.
left_out() {
    case "$1 $2" in
    'shmemvv c_shmem_info_get_version') ;;      # version 1.5 and no other
    'shmemvv c11_shmem_sync') ;;                # PE 0 gets results that other PEs may not have written yet
    'shmemvv c11_shmem_sync_all') ;;            # the same
    'tests-cray align') ;;                      # alignments that are no power of 2
    'tests-cray shmem_broadcast_all') ;;        # routines of Cray's library alone, as of those below
    'tests-cray shmem_both_put_nb_size' | 'tests-cray shmem_num_put_nb' | 'tests-cray shmem_num_put_nb_size') ;;
    'tests-cray shmem_type_put_nb') ;;
    *) return 1 ;;
    esac
}

# try SUITE PROGRAM COMMAND...: in every run.
try() {
    suite=$1 program=$2
    shift 2
    if left_out "$suite" "$program"; then
        return
    fi
    for run in $runs; do
        transport=${run#*:} log=$place/$suite/logs/$(echo "$program-$run" | tr :/ -_) code=0
        [ "$transport" != "$run" ] || transport=
        SHMEM_SYMMETRIC_SIZE=1g timeout 200 env ${transport:+SHMEMX_TRANSPORT=$transport} \
            oshrun --timeout 180 -n "${run%%:*}" "$@" >"$log" 2>&1 || code=$?
        [ "$program" != test_shmem_global_exit.x ] || [ $code -ne 99 ] || code=0 # what it asks for
        if [ $code -ne 0 ] || grep -qE 'FAILED|^FAIL|: Failed' "$log"; then
            echo "failed $suite $program $run, status $code: $log"
        else
            echo "passed $suite $program $run"
        fi
    done
}

# try_each SUITE FOLDER...: each executable file there.
try_each() {
    of=$1
    shift
    for program in $(find "$@" -maxdepth 1 -type f -perm -u=x ! -name '*.*' -o -maxdepth 1 -name '*.x' | sort); do
        try "$of" "$(basename "$program")" "$program"
    done
}

# Functions by suite: build it in the folder where the caller is, and run its programs.

tests_sos() {
    { ./autogen.sh && ./configure CC=oshcc CXX=oshc++ --disable-fortran && make -j2 check TESTS=; } >build.log 2>&1
    try_each tests-sos test/unit test/spec-example test/apps
}

tests_uh() {
    make -C feature_tests/C CC=oshcc >build.log 2>&1
    try_each tests-uh feature_tests/C
}

tests_cray() {
    mkdir programs
    for source in sma1/*.c; do
        name=$(basename "$source" .c)
        left_out tests-cray "$name" || oshcc -w "$source" -o "programs/$name"
    done
    for source in sma2/*.cpp; do
        oshc++ -w "$source" -o "programs/$(basename "$source" .cpp)"
    done
    try_each tests-cray programs
}

# Its own switches: calls by members of an active set alone, and no calls of Open MPI's progress.
tests_mellanox() {
    cd verifier
    mpi=$(find /usr/lib /usr/include -name mpi.h -printf '%h\n' | head -n 1)
    { ./autogen.sh && ./configure CC=oshcc CPPFLAGS="-idirafter $mpi" LIBS= &&
        make -j2 LDFLAGS= LIBS=-lmpi CFLAGS='-O2 -w -DHAVE_NBI -DHAVE_ALLTOALL -DCHECK_ACTIVE_SET'; } >../build.log 2>&1
    # basic:shmalloc reallocates a freed block, mix calls MPI without MPI_Init().
    # Of coll, three read what the next broadcast may have begun to write.
    cases=$(for case in start whoami get put barrier static heap fence; do echo basic:$case; done)
    cases="$cases $(for case in bcast10int collect32 collect64 fcollect32 fcollect64 alltoall alltoalls; do
        echo coll:$case
    done)"
    for case in $cases atomic data lock misc nbi reduce stride sync; do
        try tests-mellanox "$case" ./oshmem_test exec --no-colour -t "$case"
    done
}

shmemvv() {
    cmake -B build -DCMAKE_C_COMPILER="$(command -v oshcc)" -DCMAKE_C_STANDARD_LIBRARIES=-lm >build.log 2>&1
    cmake --build build -j2 >>build.log 2>&1
    try_each shmemvv build/bin/*/
}

shmem4py() {
    OSHCC=oshcc CFLAGS="-w -include $PWD/src/libshmem/config/sandia.h" /usr/bin/python3 setup.py build \
        --build-lib="$PWD/lib" >build.log 2>&1
    export PYTHONPATH="$PWD/lib"
    # Of a PE that maps some others and not all, the test of shmem_ptr() expects too much.
    runs=${RUNS:-2 4 4:tcp:1 4:ucx:1}
    try shmem4py tests /usr/bin/python3 -m unittest discover -s test
}

[ $# -ge 2 ] || { sed -n '3,10s/^# *//p' "$0" >&2; exit 2; }
PATH=$(CDPATH='' cd -- "$1" && pwd)/bin:$PATH
export PATH
shift
for source in "$@"; do
    suite=$(basename "$source")
    function=$(echo "$suite" | tr - _)
    case $suite in
    tests-sos | tests-uh | tests-cray | tests-mellanox | shmemvv | shmem4py) ;;
    *)
        echo "no suite $suite: tests-sos, tests-uh, tests-cray, tests-mellanox, shmemvv and shmem4py are known" >&2
        exit 2
        ;;
    esac
    rm -rf "${place:?}/$suite"
    mkdir -p "$place"
    cp -r "$source" "$place/$suite"
    mkdir "$place/$suite/logs"
    (cd "$place/$suite" && $function) >"$place/$suite.results" || {
        echo "$suite is not built: $place/$suite/build.log" >&2
        exit 1
    }
    grep '^failed' "$place/$suite.results" || :
    count=$(grep -c '^failed' "$place/$suite.results") || :
    echo "$suite: $(grep -c '^passed' "$place/$suite.results") passed, $count failed"
    [ "$count" -eq 0 ] || failed=1
done
[ -z "${failed-}" ]
