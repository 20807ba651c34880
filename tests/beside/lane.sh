#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh BUILD SOURCE...: Memspan beside other libraries, each used as its users do, from an installed prefix. A
# SOURCE is a folder with public sources, recognised by its files:
#
#   UMF (oneapi-src/unified-memory-framework, 1.0 or newer), built; its suites of providers and pools run over Memspan,
#       and Memspan's conformance suite over UMF's providers (the plug-in backend)
#   Kokkos, built with its backends Serial and OpenMP
#   CCCL, RMM (with NVTX), headers; CUDA's headers: a folder with cuda_runtime_api.h. The calls of CUDA's runtime are
#       replaced, and the driver is the pretended one of tests/fakes/cuda
#
# BUILD is a build folder. Results and logs are in build/beside. Debian: libgtest-dev libgmock-dev libhwloc-dev
# libnuma-dev libtbb-dev for UMF.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
place=$tree/build/beside
warnings='-Wall -Wextra -Werror'
failed=0

# step NAME COMMAND...: its log is NAME.log.
step() {
    log=$place/$1.log
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        echo "passed $(basename "$log" .log)$(sed -n 's/.*\[  PASSED  \]/:/p; s/.*Synthesis: \(Tested.*\)/: \1/p' "$log" | tail -n 1)"
    else
        echo "failed $(basename "$log" .log): $log"
        failed=1
        return 1
    fi
}

build_cmake() {
    from=$1 into=$2
    shift 2
    cmake -S "$from" -B "$into" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$into/prefix" "$@" &&
        cmake --build "$into" --target install
}

# Cases of UMF's suite of its provider of the operating system that are about that one. Memspan serves neither purge nor
# control, aligns by powers of two, and has a name and codes of its own; a handle of IPC is longer than one byte.
about_os=
for case in 'purge*' 'ctl*' '*_3pages*' '*_3_pages*' '*WRONG_*' '*MAX_SIZE*' get_name '*_not_null*' '*INVALID_POINTER*' '*visibility*'; do
    about_os="$about_os:*umfProviderTest.$case"'/*'
done

try_umf() {
    source=$1 name=umf-$2 built=$place/umf-$2
    step "$name-build" build_cmake "$source" "$built" -DUMF_BUILD_SHARED_LIBRARY=ON -DUMF_BUILD_LEVEL_ZERO_PROVIDER=OFF \
        -DUMF_BUILD_CUDA_PROVIDER=OFF -DUMF_BUILD_LIBUMF_POOL_JEMALLOC=OFF -DUMF_BUILD_EXAMPLES=OFF -DUMF_BUILD_TESTS=OFF || return 0
    # shellcheck disable=SC2046,SC2086 # flags
    step "$name-user" sh -c "cc -std=c11 -D_GNU_SOURCE $warnings '$here/umf.c' -o '$built/user' -isystem '$built/prefix/include' \
        $(pkg-config --cflags --libs memspan) -L'$built/prefix/lib' -lumf -Wl,-rpath,'$built/prefix/lib' && MEMSPAN_DEVICES=emu:1 '$built/user'" || :
    cc -shared -fPIC $warnings "$here/umf_object.c" -o "$built/object.so" -isystem "$built/prefix/include" \
        -L"$built/prefix/lib" -lumf -Wl,-rpath,"$built/prefix/lib"
    step "$name-plugin" build_cmake "$tree/backends/umf" "$built-plugin" -DCMAKE_PREFIX_PATH="$prefix;$built/prefix" -DCMAKE_C_FLAGS=-Werror &&
        for provider in os "file:$built/memory" "object:$built/object.so"; do
            step "$name-plugin-${provider%%:*}" env CONFORM_BACKEND=umf MEMSPAN_DEVICES=umf:0 MEMSPAN_UMF_PROVIDER="$provider" \
                MEMSPAN_BACKEND_PATH="$built-plugin/prefix/lib/memspan" "$build/tests/conform/conform" -j1 || :
        done
    if [ ! -e "$source/test/common/pool.hpp" ] || ! grep -q poolCreateExtParamsNameGen "$source/test/common/pool.hpp"; then
        echo "skipped $name-suites: UMF 1.1 and newer have them in this form"
        return 0
    fi
    step "$name-suites-build" build_umf_suites || return 0
    step "$name-suites" "$built-tests/suites" --gtest_filter="memspan*-$about_os" || :
}

build_umf_suites() {
    cmake -S "$source" -B "$built-tests" -G Ninja -DCMAKE_BUILD_TYPE=Release -DUMF_BUILD_SHARED_LIBRARY=ON \
        -DUMF_BUILD_LEVEL_ZERO_PROVIDER=OFF -DUMF_BUILD_CUDA_PROVIDER=OFF -DUMF_BUILD_LIBUMF_POOL_JEMALLOC=OFF -DUMF_BUILD_EXAMPLES=OFF
    cmake --build "$built-tests" --target umf umf_test_common umf_utils umf_ba
    lib=$built-tests/lib
    # shellcheck disable=SC2046 # flags
    c++ -std=c++17 -O1 -w -I"$source/include" -I"$source/src" -I"$source/src/base_alloc" -I"$source/src/utils" \
        -I"$source/test/common" -I"$source/test" "$here/umf_suites.cpp" "$source/test/malloc_compliance_tests.cpp" \
        -o "$built-tests/suites" "$lib/libumf_test_common.a" -lgtest_main -lgtest -L"$lib" -lumf "$lib/libumf_utils.a" \
        "$lib/libumf_ba.a" -lrt -ldl $(pkg-config --cflags --libs memspan) -Wl,-rpath,"$lib"
}

try_kokkos() {
    built=$place/kokkos-$2
    step "kokkos-$2-build" build_cmake "$1" "$built" -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON || return 0
    # shellcheck disable=SC2046 # flags
    step "kokkos-$2-user" sh -c "c++ -std=c++17 -O1 -fopenmp $warnings '$here/kokkos.cpp' -o '$built/user' \
        -isystem '$built/prefix/include' -L'$built/prefix/lib' -lkokkoscore -ldl $(pkg-config --cflags --libs memspan) &&
        OMP_PROC_BIND=false '$built/user'" || :
}

# With every CCCL alone, and with RMM where one is given.
try_cuda() {
    flags=
    for folder in $cuda; do
        flags="$flags -isystem $folder"
    done
    number=0
    for folder in $cccl; do
        number=$((number + 1))
        try_cccl "cuda_mr-$number" "-isystem $folder/libcudacxx/include $flags"
        [ -z "$rmm" ] || try_cccl "cuda_mr-$number-rmm" "-isystem $folder/libcudacxx/include -isystem $folder/thrust \
            -isystem $rmm/cpp/include ${nvtx:+-isystem $nvtx/c/include} $flags $(ls "$rmm"/cpp/src/cuda_stream_view.cpp \
            "$rmm"/cpp/src/aligned.cpp "$rmm"/cpp/src/error.cpp 2>/dev/null | tr '\n' ' ')"
    done
}

try_cccl() {
    # shellcheck disable=SC2086 # flags
    step "$1" sh -c "c++ -std=${CXX_STANDARD:-c++17} -w '$here/cuda_mr.cpp' -o '$place/$1' $2 $(pkg-config --cflags --libs memspan) -ldl &&
        LD_LIBRARY_PATH='$build/tests/fakes/cuda/today' MEMSPAN_DEVICES=cuda:0 '$place/$1'" || :
}

[ $# -ge 2 ] || { sed -n '3,16s/^# *//p' "$0" >&2; exit 2; }
build=$1 prefix=$place/prefix cccl='' rmm='' nvtx='' cuda='' number=0
shift
rm -rf "$place"
mkdir -p "$place"
step install cmake --install "$build" --prefix "$prefix"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name memspan.pc)")
export PKG_CONFIG_PATH
for folder in "$@"; do
    number=$((number + 1))
    if [ -e "$folder/include/umf.h" ]; then
        try_umf "$folder" "$number"
    elif [ -e "$folder/core/src/Kokkos_Core.hpp" ]; then
        try_kokkos "$folder" "$number"
    elif [ -d "$folder/libcudacxx/include" ]; then
        cccl="$cccl $folder"
    elif [ -d "$folder/cpp/include/rmm" ]; then
        rmm=$folder
    elif [ -d "$folder/c/include/nvtx3" ]; then
        nvtx=$folder
    elif [ -e "$folder/cuda_runtime_api.h" ]; then
        cuda="$cuda $folder"
    else
        echo "$folder is none of the sources" >&2
        exit 2
    fi
done
if [ -n "$cccl" ] && [ -z "$cuda" ]; then
    echo "skipped cuda_mr: it needs a folder with CUDA's headers"
elif [ -n "$cccl" ]; then
    try_cuda
fi
exit $failed
