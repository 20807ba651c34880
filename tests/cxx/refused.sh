#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# refused.sh INCLUDE-FOLDER COMPILER...: what <memspan/memspan.hpp> refuses when a program is
# compiled, and that the refusal says why. The same program without the fault compiles.
set -eu
include=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
tried=0

# Before each program; compiled once.
prepare() {
    {
        for header in list map memory string vector; do
            echo "#include <$header>"
        done
        printf '#include <memspan/memspan.hpp>\n#include <memspan/omp.h>\n'
        printf 'template <class T> using device = memspan::device_allocator<T>;\n'
    } >"$scratch/before.hpp"
    "$compiler" -std=c++17 -I"$include" -x c++-header "$scratch/before.hpp" -o "$scratch/before.hpp.gch"
}

# compile BODY: into $scratch/said
compile() {
    printf 'void program(memspan_allocator_h h)\n{\n    %s\n}\n' "$1" >"$scratch/program.cpp"
    "$compiler" -std=c++17 -I"$include" -include "$scratch/before.hpp" -fsyntax-only "$scratch/program.cpp" \
        >"$scratch/said" 2>&1
}

accepted() {
    compile "$1" || { cat "$scratch/said"; echo "$compiler refuses: $1" >&2; exit 1; }
}

# refused WORDS BODY
refused() {
    ! compile "$2" || { echo "$compiler accepts: $2" >&2; exit 1; }
    grep -q "$1" "$scratch/said" || { cat "$scratch/said"; echo "not because of \"$1\": $2" >&2; exit 1; }
}

for compiler in "$@"; do
    command -v "$compiler" >/dev/null 2>&1 || { echo "$compiler is not here"; continue; }
    tried=1
    prepare
    construct='the host cannot construct elements in device memory'
    nodes='keeps nodes or tables of its own'
    accepted 'std::vector<int, memspan::allocator<int>> v(3, memspan::allocator<int>(h)); v.push_back(1);'
    accepted 'memspan::allocator<int> a(omp_high_bw_mem_alloc); memspan::memory_resource r(
        omp_init_allocator(omp_default_mem_space, 0, nullptr));'
    accepted 'device<int> a(h); int *p = a.allocate(3); a.deallocate(p, 3);'
    accepted 'std::vector<int, device<int>> v((device<int>(h)));'
    refused "$construct" 'std::vector<int, device<int>> v(3, device<int>(h));'
    refused "$construct" 'std::vector<int, device<int>> v((device<int>(h))); v.push_back(1);'
    refused "$construct" 'std::vector<int, device<int>> v((device<int>(h))); v.resize(3);'
    refused "$nodes" 'std::list<int, device<int>> l((device<int>(h))); l.push_back(1);'
    refused "$nodes" 'using P = std::pair<const int, int>;
        std::map<int, int, std::less<int>, device<P>> m{device<P>(h)};'
    refused 'must be movable by memspan_copy' 'device<std::string> a(h);'
    refused 'must not need destruction' 'std::unique_ptr<std::string[], memspan::deleter<std::string[]>> p(nullptr);'
    refused 'may not be const' 'memspan::allocator<const int> a(h); a.allocate(1);'
done
[ $tried = 1 ] || { echo 'a C++ compiler is needed'; exit 77; }
echo 'refused what it should'
