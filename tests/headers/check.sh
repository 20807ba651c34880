#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh INCLUDE-FOLDER COMPILER...: each public header compiles alone, twice in a row, without a
# warning, by every compiler given: as C11 by all of them, as C++17 by those that call themselves
# C++, there with every constant used, as programs that warn of old-style casts use them, and all
# together inside of extern "C". A name that cannot be found is left out and said so; at least one of
# each language must stay. Other libraries' headers that ours include are in the folder others.
set -eu
include=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
others=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/others
warnings='-Wall -Wextra -Wpedantic -Werror -Wshadow -fsyntax-only'
bad=0 tried_c=0 tried_cpp=0

# use_constants HEADER: a function with each macro that looks like a constant.
use_constants() {
    echo 'void use(); void use() {'
    sed -n 's/^#define \([A-Za-z_0-9]*\) \{1,\}\((\|MEMSPAN_CONSTANT(\).*[^\\]$/\1/p' "$include/$1" | sort -u |
        while read -r name; do
            printf '#ifdef %s\nstatic_cast<void>(%s);\n#endif\n' "$name" "$name"
        done
    echo '}'
}

# compile HEADER LANGUAGE COMPILER FLAGS...
compile() {
    header=$1 language=$2 compiler=$3
    shift 3
    case $language in
    c) suffix=c ;;
    *) suffix=cpp ;;
    esac
    printf '#include <%s>\n#include <%s>\nint alone;\n' "$header" "$header" >"$scratch/alone.$suffix"
    if [ "$language" = c++ ]; then
        use_constants "$header" >>"$scratch/alone.$suffix"
        set -- "$@" -Wold-style-cast
    fi
    # shellcheck disable=SC2086 # a list of flags
    if ! "$compiler" $warnings "$@" -I"$include" -isystem "$others" "$scratch/alone.$suffix"; then
        echo "$header does not compile alone: $compiler $*" >&2
        bad=1
    fi
}

# wrap COMPILER FLAGS...: all headers inside of extern "C", where C++ programs put them; parts of
# <shmem.h>, some of which are C's alone, come by that. The compiler's <omp.h> has a template, as GCC
# 16's does.
wrap() {
    compiler=$1
    shift
    mkdir -p "$scratch/newer"
    cat >"$scratch/newer/omp.h" <<'H'
#if __has_include_next(<omp.h>)
#include_next <omp.h>
#endif
#ifdef __cplusplus
template <typename T> struct wrapped_template;
#endif
H
    for file in "$include"/*/*.h "$include"/*.h; do
        case $file in
        "$include"/shmem/*) continue ;;
        esac
        [ ! -f "$file" ] || printf 'extern "C" {\n#include <%s>\n}\n' "${file#"$include"/}"
    done >"$scratch/wrapped.cpp"
    # shellcheck disable=SC2086 # a list of flags
    if ! "$compiler" $warnings "$@" -I"$include" -isystem "$scratch/newer" -isystem "$others" "$scratch/wrapped.cpp"; then
        echo "headers do not compile inside of extern \"C\": $compiler $*" >&2
        bad=1
    fi
}

for compiler in "$@"; do
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "$compiler is not here"
        continue
    fi
    case $compiler in
    *++*) language=c++ standard=-std=c++17 tried_cpp=1 ;;
    *) language=c standard=-std=c11 tried_c=1 ;;
    esac
    for file in "$include"/*/*.h "$include"/*/*.hpp "$include"/*.h; do
        [ -f "$file" ] || continue
        case $file in
        *.hpp) [ "$language" = c++ ] || continue ;;
        esac
        header=${file#"$include"/}
        compile "$header" "$language" "$compiler" "$standard"
        case $header in
        *shmem*) # programs are older than C11 there: all but the selecting macros
            [ "$language" != c ] || compile "$header" c "$compiler" -std=c99
            ;;
        memspan/omp.h) # over the compiler's own header, with and without the runtime's flag
            compile "$header" "$language" "$compiler" "$standard" -fopenmp
            compile "$header" "$language" "$compiler" "$standard" -fopenmp -DMEMSPAN_OMP_PAPER_NAMES
            ;;
        esac
    done
    [ "$language" = c ] || wrap "$compiler" "$standard"
done
if [ $tried_c = 0 ] || [ $tried_cpp = 0 ]; then
    echo 'a C and a C++ compiler are needed' >&2
    exit 77
fi
exit $bad
