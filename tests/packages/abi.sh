#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# abi.sh OLD NEW: abidiff compares the shared libraries of two installed prefixes, built with debug information.
# A library of OLD that NEW lacks, or that changed incompatibly, must have another SONAME. Compatible are new
# functions, new enumerators, and structures that grow at their end: they begin with struct_size. Types that
# the headers do not define are left out. abi.sh --test CC: the same with libraries made for it.
set -eu
command -v abidiff >/dev/null || { echo 'skip: abidiff is not here; on Debian: apt-get install abigail-tools'; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
soname() {
    readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}

# Status 4 is a change that abidiff leaves to be judged. Of these, insertions are compatible: what moves for them
# is reported beside them.
is_compatible() {
    [ "$1" -eq 0 ] || { [ "$1" -eq 4 ] &&
        ! grep -qE 'offset changed|deletion|changed:$|enumerator change' "$scratch/report"; }
}

compare() {
    bad=0
    for old in $(find "$1/lib" -name 'lib*.so.*' -type f | sort); do
        name=$(soname "$old")
        new=$(find "$2/lib" -name "$name" | head -n 1)
        [ -n "$new" ] || { echo "$name: no library has this SONAME any more"; continue; }
        found=0
        abidiff --no-added-syms --drop-private-types --hd1 "$1/include" --hd2 "$2/include" "$old" "$new" \
            >"$scratch/report" 2>&1 || found=$?
        is_compatible "$found" && { echo "$name: compatible"; continue; }
        cat "$scratch/report"
        echo "$name: incompatible (abidiff's status $found), with the same SONAME"
        bad=1
    done
    [ -n "${name:-}" ] || { echo "no library in $1/lib"; bad=1; }
    return "$bad"
}

# prefix NAME SONAME TEXT: a prefix with a header and its library.
prefix() {
    mkdir -p "$scratch/$1/lib" "$scratch/$1/include"
    printf '%s\n' "struct hidden;" "$3" >"$scratch/$1/include/toy.h"
    printf '%s\n' '#include "toy.h"' "struct hidden { char text[${4:-8}]; };" \
        'int toy_size(struct hidden *h) { return (int)sizeof *h; }' 'int toy_a(struct toy *t) { return t->first; }' \
        "$5" >"$scratch/$1/toy.c"
    "$cc" -g -shared -fPIC -I "$scratch/$1/include" -Wl,-soname,"$2" "$scratch/$1/toy.c" -o "$scratch/$1/lib/$2.1"
    ln -s "$2.1" "$scratch/$1/lib/$2"
}

# expect STATUS NAME
expect() {
    status=0
    compare "$scratch/old" "$scratch/$2" >"$scratch/log" || status=$?
    [ "$status" -eq "$1" ] || { echo "$2: status $status, not $1"; cat "$scratch/log"; exit 1; }
    tail -n 1 "$scratch/log" | sed "s/^/$2: /"
}

if [ "$1" = --test ]; then
    cc=$2
    plain='struct toy { int first; int second; };'
    b='int toy_b(int x) { return x; }'
    prefix old libtoy.so.0 "$plain" 8 "$b"
    prefix same libtoy.so.0 "$plain" 8 "$b"
    prefix added libtoy.so.0 "$plain" 8 "$b int toy_c(void) { return 0; }"
    prefix grown libtoy.so.0 'struct toy { int first; int second; long third; };' 8 "$b"
    prefix hidden libtoy.so.0 "$plain" 16 "$b"
    prefix removed libtoy.so.0 "$plain" 8 ''
    prefix moved libtoy.so.0 'struct toy { int second; int first; };' 8 "$b"
    prefix argument libtoy.so.0 "$plain" 8 'int toy_b(long x) { return (int)x; }'
    prefix between libtoy.so.0 'struct toy { int first; int third; int second; };' 8 "$b"
    prefix wider libtoy.so.0 'struct toy { int first; long second; };' 8 "$b"
    prefix renumbered libtoy.so.1 "$plain" 8 ''
    for name in same added grown hidden renumbered; do expect 0 "$name"; done
    for name in removed moved argument between wider; do expect 1 "$name"; done
    exit 0
fi
compare "$1" "$2"
