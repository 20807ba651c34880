#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exported.sh LIBRARY INCLUDE: every routine of OpenSHMEM 1.5 and 1.6 is exported, weak, with a
# strong twin for profiling tools, and so is what we have beyond (beyond.txt); every name that shmemx.h declares is
# exported; nothing else is.
set -eu
export LC_ALL=C
library=$1 include=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
bad=0

# A sanitizer's own marks are not ours.
nm -D --defined-only "$library" | awk '{sub(/@.*/, "", $3); print $2, $3}' |
    grep -Ev ' (__(odr_)?(asan|tsan|ubsan|lsan|sanitizer)|_init$|_fini$)' | sort -u >"$scratch/exported"
awk '{print $2}' "$scratch/exported" | sort -u >"$scratch/names"

# differ FILE FILE WORDS: lines of the first that the second lacks.
differ() {
    comm -23 "$1" "$2" >"$scratch/difference"
    if [ -s "$scratch/difference" ]; then
        sed "s|^|$3: |" "$scratch/difference"
        bad=1
    fi
}

for version in 1.5 1.6; do
    awk -v version=$version -f "$here/prototypes.awk" "$here/families.txt" |
        awk -F ' [|] ' '{print $2}' | sort >"$scratch/list"
    wanted=$(sed -n "s/^$version //p" "$here/names.sums")
    found="$(($(wc -l <"$scratch/list"))) $(sha256sum <"$scratch/list" | cut -d ' ' -f 1)"
    if [ "$found" != "$wanted" ]; then
        echo "of $version families.txt has other routines (count and checksum $found) than the specification ($wanted)"
        bad=1
    fi
    sed 's/^/W /' "$scratch/list" >"$scratch/weak"
    sed 's/^/T p/' "$scratch/list" >"$scratch/strong"
    differ "$scratch/weak" "$scratch/exported" "not exported as a weak name, of $version"
    differ "$scratch/strong" "$scratch/exported" "not exported as a strong name, of $version"
done

# What shmemx.h declares, as the compiler sees it.
printf '#define SHMEMX_PARTITION_NAMES\n#include <shmemx.h>\n' |
    ${CC:-cc} -E -P -I"$include" -x c - | tr '\n' ' ' | tr ';' '\n' |
    grep -oE '(shmemx|shmem_partition|__tgt)_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$scratch/extensions"
differ "$scratch/extensions" "$scratch/names" 'declared in shmemx.h, but not exported'
sort -u "$scratch/list" "$here/beyond.txt" >"$scratch/all"
sed 's/^/p/' "$scratch/all" | sort -u - "$scratch/all" "$scratch/extensions" >"$scratch/wanted"
differ "$scratch/wanted" "$scratch/names" 'not exported'
differ "$scratch/names" "$scratch/wanted" 'exported, but in no list and no header'
[ $bad = 0 ] && echo "$(wc -l <"$scratch/names") names, as they should be"
exit $bad
