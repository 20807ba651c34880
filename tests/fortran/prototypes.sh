#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# prototypes.sh MODULES COMPILER C-COMPILER INCLUDE: the C prototypes that gfortran derives from the
# interfaces are those of the headers, but for const, the sign of integers, and what pointers to pointers
# and to functions point to.
set -eu
export LC_ALL=C
modules=$1 compiler=$2 cc=$3 include=$4
case $("$compiler" --version) in *'GNU Fortran'*) ;; *) echo 'skip: only gfortran prints prototypes'; exit 77 ;; esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

# normal: C declarations, one a line, in lower case, with one name for all types of one form, and no blanks.
normal() {
    sed 's|/\*[^*]*\*/||g' | tr 'A-Z\n' 'a-z ' | tr ';' '\n' | sed -E '
        s/__attribute__ *\(\(([^()]|\([^()]*(\([^()]*\))?[^()]*\))*\)\)//g
        s/\bunsigned +(char|short|int|long)\b/\1/g; s/\bunsigned\b/int/g
        s/\b(extern|const|_noreturn|__extension__|signed|struct)\b/ /g
        s/\b__gfortran_(float|double)_complex\b/\1 _complex/g
        s/\bmemspan_shmem_complexd\b/double _complex/g; s/\bmemspan_shmem_complexf\b/float _complex/g
        s/\blong_double\b/long double/g; s/\blong (long|int)\b/long/g
        s/\b(u?int64_t|size_t|ptrdiff_t|u?intptr_t|omp_(memspace|allocator)_handle_t)\b/long/g
        s/\bomp_(mempartitioner|alloctrait_val|uintptr|intptr|interop)_t\b/long/g; s/\bomp_depend_t\b/void/g
        s/\bmemspan_(status|kind|access|coherence|trait_key|numa_node_kind|memory_device_kind|queue_type)_t\b/int/g
        s/\b(shmemx_(kind|policy|heap_index|type|reduction)_t|omp_mempartitioner_lifetime_t|omp_interop_(property|rc)_t|u?int32_t)\b/int/g
        s/\bu?int16_t\b/short/g; s/\bu?int8_t\b/char/g
        s/\b(void|int) *\** *\(\*(\w+)\) *\([^()]*\)/function \2/g; s/\b(omp_mempartitioner_\w+_proc|shmemx_handler|memspan_call)_t\b/function/g
        s/\(void\)/()/; s/ +//g; s/\*\*/*/g; s/^[a-z_]+\*/void*/' |
        grep -E '^[^{}]*[a-z0-9_]\([^{}]*\)$' | grep -E '(memspan|shmem|omp|tgt|sh|start|pe)[a-z0-9_]*\(' | sort -u
}
# Our own declarations: a compiler's omp.h that has some of them leaves the names of arguments out.
mkdir "$scratch/none"
: >"$scratch/none/omp.h"
printf '#include <%s>\n' memspan/memspan.h memspan/backend.h memspan/omp.h shmemx.h pshmem.h |
    "$cc" -E -P -DSHMEMX_PARTITION_NAMES -I"$scratch/none" -I"$include" -x c - | normal >"$scratch/c"
for module in memspan memspan_omp shmem shmemx pshmem; do
    "$compiler" -fc-prototypes -fsyntax-only -J "$scratch" "$modules/$module.f90"
done | sed -e 's/^#.*//' -e '/memspan_\(fortran_\|place_to_\)/d' | normal >"$scratch/fortran" # calls of the modules alone
count=$(wc -l <"$scratch/fortran")
[ "$count" -gt 3500 ] || { echo "only $count prototypes"; exit 1; }
echo "$count prototypes; of these the headers do not have:"
comm -23 "$scratch/fortran" "$scratch/c" | tee "$scratch/other"
[ ! -s "$scratch/other" ]
