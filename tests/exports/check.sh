#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh LIBRARY INCLUDE-FOLDER LIST-FOLDER: the dynamic symbols that LIBRARY defines are exactly
# the MEMSPAN_API names of the public headers and the names in the lists, none with a version; and
# every OpenMP routine that <memspan/omp.h> declares is among them. Every difference is printed.
set -eu
export LC_ALL=C
library=$1 include=$2 lists=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
bad=0

# functions FILE...: what each declaration that starts on a marked line is called.
declared() {
    pattern=$1
    shift
    cat "$@" | grep -v '^[[:space:]]*#' | tr '\n' ' ' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/| |g' |
        grep -o "${pattern}[^;(]*(" | sed 's/.*[^A-Za-z0-9_]\([A-Za-z0-9_]*\) *($/\1/' | sort -u
}

differ() {
    if [ -s "$1" ]; then
        sed "s|^|$2: |" "$1"
        bad=1
    fi
}

declared 'MEMSPAN_API ' "$include"/memspan/*.h >"$scratch/api"
[ -s "$scratch/api" ] || { echo 'no MEMSPAN_API found: the parser is broken' >&2; exit 2; }
cat "$lists"/*.txt | sed 's/#.*//; s/[[:space:]]//g' | grep . | sort >"$scratch/listed"
uniq -d "$scratch/listed" >"$scratch/twice"
differ "$scratch/twice" 'listed twice'
sort -u "$scratch/listed" "$scratch/api" >"$scratch/wanted"

# A sanitizer's own marks are not ours. GNU ld lists the ends of a section too, as hidden.
nm -D --defined-only "$library" | awk '{print $NF}' |
    grep -Ev '^(__(odr_)?(asan|tsan|ubsan|lsan|sanitizer)|_init$|_fini$|__(start|stop)_msp_fork$)' | sort -u >"$scratch/names"
grep '@' "$scratch/names" >"$scratch/versioned" || :
differ "$scratch/versioned" 'has a version, which stops interposition'
sed 's/@.*//' "$scratch/names" | sort -u >"$scratch/given"

comm -23 "$scratch/wanted" "$scratch/given" >"$scratch/missing"
differ "$scratch/missing" 'declared or listed, but not exported'
comm -13 "$scratch/wanted" "$scratch/given" >"$scratch/extra"
differ "$scratch/extra" 'exported, but in no public header or list'

if [ -f "$include/memspan/omp.h" ]; then
    declared 'extern ' "$include/memspan/omp.h" | grep -E '^(omp|llvm|kmp)' >"$scratch/omp"
    comm -23 "$scratch/omp" "$scratch/given" >"$scratch/promised"
    differ "$scratch/promised" 'declared in memspan/omp.h, but not exported'
fi
[ $bad = 0 ] && echo "$(wc -l <"$scratch/given") names, as they should be"
exit $bad
