#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh LIBRARY SUITE...: OpenMP programs of public suites, three times each: stock, with the library preloaded,
# and linked with it first. What passes stock must pass with the library. A SUITE is a folder with sources, of
# which the tests of allocators and devices are run: GCC's libgomp/testsuite, LLVM's openmp/runtime/test, or
# OpenMP_VV. CC, FC and CLANG (gcc, gfortran, clang-19 or clang): the compilers. A line for each program and
# compiler with three results, then how many; 1 when something that passes stock fails. Output: build/omp-suites.
set -u
[ $# -ge 2 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
library=$1
folder=$(dirname "$library")
shift
gcc=${CC:-gcc} gfortran=${FC:-gfortran} clang=${CLANG:-$(command -v clang-19 || echo clang)}
place=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)/build/omp-suites
mkdir -p "$place/out" && cd "$place" || exit 2
runtime_path=$(dirname "$("$clang" -print-file-name=libomp.so)")
regressions=0 passed=0 stock_fails=0 not_built=0
seconds=60

# build OUTPUT COMPILER FLAG...
build() {
    output=$1
    shift
    "$@" -o "$output" >"$output.build" 2>&1
}

# try NAME ENVIRONMENT... -- PROGRAM
try() {
    try_name=$1
    shift
    if timeout "$seconds" env "$@" >"out/$try_name.out" 2>&1 </dev/null; then
        result=pass
    else
        result=fail
    fi
}

# compare NAME SETTINGS COMPILER FLAG... : built stock and linked, run stock, preloaded and linked.
compare() {
    name=$1 settings=$2
    shift 2
    if ! build "out/$name" "$@" "-Wl,-rpath,$runtime_path" -lm; then
        not_built=$((not_built + 1))
        return
    fi
    # shellcheck disable=SC2086 # settings are words
    {
        try "$name.stock" $settings "out/$name"
        stock=$result
        try "$name.preloaded" $settings LD_PRELOAD="$library" "out/$name"
        preloaded=$result
        linked=not-built
        if build "out/$name.with" "$@" -Wl,--no-as-needed "$library" "-Wl,-rpath,$folder" \
            "-Wl,-rpath,$runtime_path" -Wl,--allow-shlib-undefined -lm; then
            try "$name.linked" $settings "out/$name.with"
            linked=$result
        fi
    }
    printf '%-44s stock %-5s preloaded %-5s linked %s\n' "$name" "$stock" "$preloaded" "$linked"
    if [ "$stock" = fail ]; then
        stock_fails=$((stock_fails + 1))
    elif [ "$preloaded $linked" != 'pass pass' ]; then
        regressions=$((regressions + 1))
        tail -n 4 "out/$name.preloaded.out" | sed 's/^/    /'
    else
        passed=$((passed + 1))
    fi
}

# What DejaGnu's comments in a source ask for.
options_of() {
    sed -n 's/.*{ *dg-\(additional-\)*options *"\([^"]*\)" *}.*/\2/p' "$1" | tr '\n' ' '
}

settings_of() {
    sed -n 's/.*{ *dg-set-target-env-var *\([A-Z_]*\) *"\([^"]*\)" *}.*/\1=\2/p' "$1" | tr '\n' ' '
}

sources_of() {
    sed -n 's/.*{ *dg-additional-sources *"*\([^"} ]*\)"* *}.*/\1/p' "$1" |
        while read -r source; do
            printf '%s/%s ' "$(dirname "$1")" "$source"
        done
}

libgomp_suite() {
    for file in "$1"/libgomp.c/*alloc*.c "$1"/libgomp.c/device_uid.c "$1"/libgomp.c-c++-common/*alloc*.c \
        "$1"/libgomp.c-c++-common/omp-default-device.c "$1"/libgomp.c-c++-common/*mem[cs]*.c \
        "$1"/libgomp.c-c++-common/target-has-device*.c "$1"/libgomp.c/target-[0-9]*.c \
        "$1"/libgomp.fortran/alloc*.[fF]* "$1"/libgomp.fortran/*uid*.f90 \
        "$1"/libgomp.fortran/*uses*alloc*.f90 "$1"/libgomp.fortran/omp-default-device.f90 \
        "$1"/libgomp.fortran/target-alloc*.f90 "$1"/libgomp.fortran/is_device_ptr*.f90; do
        if [ ! -f "$file" ] || grep -q 'dg-do *compile' "$file"; then
            continue
        fi
        case $file in
        *.c) compiler=$gcc ;;
        *) compiler=$gfortran ;;
        esac
        # shellcheck disable=SC2046 # words
        compare "gcc-$(basename "$(dirname "$file")")-$(basename "$file")" "$(settings_of "$file")" \
            "$compiler" -fopenmp -O1 -g -w "-I$(dirname "$file")" $(options_of "$file") "$file" \
            $(sources_of "$file")
    done
}

llvm_suite() {
    for file in "$1"/api/omp_*alloc*.c "$1"/api/omp6*.c "$1"/api/omp_device_uid.c "$1"/api/omp_pinned.c \
        "$1"/api/omp_get_*device*.c "$1"/env/*alloc*.c "$1"/api/kmp_aligned*.c "$1"/api/omp_get_d*.c; do
        [ -f "$file" ] || continue
        compare "llvm-$(basename "$file")" A=b "$clang" -fopenmp -O1 -g -w "-I$1" "$file" \
            -Wl,--export-dynamic -ldl -lpthread
    done
}

openmp_vv() {
    for file in "$1"/tests/*/*alloc*/*.c "$1"/tests/*/*/*alloc*.c "$1"/tests/*/application_kernels/*alloc*.c \
        "$1"/tests/*/memory*/*.c "$1"/tests/*/device*/*.c "$1"/tests/*/*target*mem*/*.c; do
        [ -f "$file" ] || continue
        case " $seen " in
        *" $file "*) continue ;;
        esac
        seen="$seen $file"
        tag=$(echo "${file#"$1"/tests/}" | tr / -)
        compare "vv-gcc-$tag" OMP_NUM_THREADS=4 $gcc -fopenmp -O1 -w "-I$1/ompvv" "$file"
        compare "vv-llvm-$tag" OMP_NUM_THREADS=4 "$clang" -fopenmp -O1 -w "-I$1/ompvv" "$file"
    done
}

seen=
echo "$("$gcc" --version | head -n 1); $("$clang" --version | head -n 1)"
for suite; do
    if [ -d "$suite/libgomp.c" ]; then
        libgomp_suite "$suite"
    elif [ -d "$suite/api" ]; then
        llvm_suite "$suite"
    elif [ -d "$suite/ompvv" ]; then
        openmp_vv "$suite"
    else
        echo "$suite is none of the suites"
        exit 2
    fi
done
echo "$passed pass, $regressions fail with the library only, $stock_fails fail stock, $not_built do not build"
[ "$regressions" -eq 0 ] && [ "$passed" -gt 0 ]
