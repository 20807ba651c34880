#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh: the part of lane.sh that runs among the newer compilers, in /lane. A line for each program
# and compiler with three results, then how many; 1 when something that passes stock fails.
set -u
cd /lane || exit 2
mkdir -p out
runtime_path=$(dirname "$(clang-22 -print-file-name=libomp.so)")
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
        try "$name.preloaded" $settings LD_PRELOAD=/lane/libmemspan.so.0 "out/$name"
        preloaded=$result
        linked=not-built
        if build "out/$name.with" "$@" -Wl,--no-as-needed /lane/libmemspan.so -Wl,-rpath,/lane \
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
        *.c) compiler=gcc-16 ;;
        *) compiler=gfortran-16 ;;
        esac
        # shellcheck disable=SC2046 # words
        compare "gcc16-$(basename "$(dirname "$file")")-$(basename "$file")" "$(settings_of "$file")" \
            "$compiler" -fopenmp -O1 -g -w "-I$(dirname "$file")" $(options_of "$file") "$file" \
            $(sources_of "$file")
    done
}

llvm_suite() {
    for file in "$1"/api/omp_*alloc*.c "$1"/api/omp6*.c "$1"/api/omp_device_uid.c "$1"/api/omp_pinned.c \
        "$1"/api/omp_get_*device*.c "$1"/env/*alloc*.c "$1"/api/kmp_aligned*.c "$1"/api/omp_get_d*.c; do
        [ -f "$file" ] || continue
        compare "llvm22-$(basename "$file")" A=b clang-22 -fopenmp -O1 -g -w "-I$1" "$file" \
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
        compare "vv-gcc16-$tag" OMP_NUM_THREADS=4 gcc-16 -fopenmp -O1 -w "-I$1/ompvv" "$file"
        compare "vv-llvm22-$tag" OMP_NUM_THREADS=4 clang-22 -fopenmp -O1 -w "-I$1/ompvv" "$file"
    done
}

own_programs() {
    for compiler in gcc-16 clang-22; do
        for program in api clauses default_allocator threads mixed; do
            name=own-$compiler-$program.c
            compare "$name" OMP_NUM_THREADS=4 "$compiler" -fopenmp -O0 -g -w "omp/$program.c" -ldl
            # The answers and the statistics too.
            if [ -x "out/$name.with" ] &&
                ! sh omp/run.sh /lane/libmemspan.so.0 "out/$name" "out/$name.with" >"out/$name.run" 2>&1; then
                regressions=$((regressions + 1))
                sed "s/^/    $name: run.sh: /" "out/$name.run"
            fi
        done
        for program in extended refused small_stacks; do
            if build "out/own-$program" "$compiler" -fopenmp -O1 -g -w -Iinclude "omp/$program.c" \
                /lane/libmemspan.so -Wl,-rpath,/lane "-Wl,-rpath,$runtime_path" \
                -Wl,--allow-shlib-undefined; then
                try "own-$program" A=b "out/own-$program"
            else
                result=not-built
                cp "out/own-$program.build" "out/own-$program.out"
            fi
            printf '%-44s linked %s\n' "own-$compiler-$program.c" "$result"
            if [ "$result" = pass ]; then
                passed=$((passed + 1))
            else
                regressions=$((regressions + 1))
                tail -n 5 "out/own-$program.out"
            fi
        done
    done
}

# offload NAME SETTINGS COMMAND ARGUMENT SOURCE LIBRARY... : built by Clang for its offload devices;
# COMMAND runs it with ARGUMENT (or none).
offload() {
    name=$1 settings=$2 command=$3 argument=$4 source=$5
    shift 5
    result=not-built
    if build "out/$name" clang-22 -fopenmp "-fopenmp-targets=$(uname -m)-pc-linux-gnu" -O1 -g -w -D_GNU_SOURCE \
        -I. -Iinclude "$source" "$@" -Wl,-rpath,/lane "-Wl,-rpath,$runtime_path" -Wl,--allow-shlib-undefined; then
        # shellcheck disable=SC2086 # words
        try "$name" OMP_TARGET_OFFLOAD=MANDATORY $settings $command "out/$name" $argument
    fi
    printf '%-44s %s\n' "$name" "$result"
    if [ "$result" = pass ]; then
        passed=$((passed + 1))
    else
        regressions=$((regressions + 1))
        tail -n 5 "out/$name.build" "out/$name.out"
    fi
}

mapped_programs() {
    partition='SHMEM_SYMMETRIC_SIZE=16m SHMEM_SYMMETRIC_PARTITION5=16m:KIND=LIBOMP'
    offload own-mapped.c '' '' '' offload/mapped.c /lane/libmemspan.so
    offload own-mapped_shared.c '' '' '' offload/mapped_shared.c /lane/libmemspan.so
    for count in 2 4; do
        for program in mapped staged; do
            offload "own-shmem-$program-n$count" "$partition" "./oshrun -n $count" '' \
                "tests/shmem/programs/$program.c" /lane/libmemspan-shmem.so /lane/libmemspan.so
        done
    done
}

# Every way in which a program may end after it has used a device's memory.
ends() {
    before=$seconds
    seconds=600
    offload own-ends-linked MEMSPAN_DECAY_MS=5 '' '' ends/main.c ends/ends.c ends/memory.c /lane/libmemspan.so
    offload own-ends-preloaded MEMSPAN_DECAY_MS=5 '' /lane/libmemspan.so.0 ends/main.c ends/ends.c ends/memory.c -ldl
    seconds=$before
}

# placed MODE HINT FLAG...: memspan_place with flang, and why it cannot.
placed() {
    name="own-placed-$1-$(echo "$*" | tr -c 'A-Za-z0-9\n' _)"
    mode=$1 hint=$2
    shift 2
    result=not-built
    if build "out/$name" flang-22 -w -module-dir out "$@" memspan.f90 placed.f90 /lane/libmemspan.so -Wl,-rpath,/lane; then
        try "$name" A=b "out/$name" "$mode" "$hint"
    fi
    printf '%-44s %s\n' "own-placed.f90 $mode $*" "$result"
    if [ "$result" = pass ]; then
        passed=$((passed + 1))
    else
        regressions=$((regressions + 1))
        tail -n 5 "out/$name.build" "out/$name.out"
    fi
}

# OpenSHMEM's operations in kernels of GPUs: the header, and as bitcode.
gpu_code() {
    [ -e /usr/bin/awk ] || ln -s gawk /usr/bin/awk
    for processor in amdgcn-amd-amdhsa 'nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx60'; do
        # shellcheck disable=SC2086 # words
        clang-22 -O2 -std=c11 -ffreestanding -nogpulib --target=$processor -Iinclude -DSHMEMX_DEVICE_FUNCTION= -emit-llvm \
            -c -x c include/shmemx_device.h -o "out/${processor%%-*}.bc" || return 1
    done
    sh tests/shmem/device/compile.sh /lane clang-22 &&
        sh tests/shmem/device/bitcode.sh clang-22 out/amdgcn.bc out/nvptx64.bc
}

seen=
echo "$(gcc-16 --version | head -n 1); $(clang-22 --version | head -n 1)"
own_programs
mapped_programs
ends
for level in -O0 -O2; do
    placed placed '' $level -mmlir -use-alloc-runtime
    placed refused use-alloc-runtime $level
done
if gpu_code; then
    passed=$((passed + 1))
else
    regressions=$((regressions + 1))
fi
compare own-clang-22-own_offload.c A=b clang-22 -fopenmp -O1 -g -w own_offload.c -Wl,--export-dynamic
for suite in suites/*; do
    if [ -d "$suite/libgomp.c" ]; then
        libgomp_suite "$suite"
    elif [ -d "$suite/api" ]; then
        llvm_suite "$suite"
    elif [ -d "$suite/ompvv" ]; then
        openmp_vv "$suite"
    fi
done
echo "$passed pass, $regressions fail with the library only, $stock_fails fail stock, $not_built do not build"
[ "$regressions" -eq 0 ] && [ "$passed" -gt 0 ]
