#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# executables.sh OSHRUN STRIP PREFIX: jobs whose PEs run different executables, PREFIX-NAME each.
# Variables are symmetric where both are one executable, as a copy or stripped too; else a put to one
# ends the job with the names of both. The heap is symmetric always.
set -u
oshrun=$1
strip=$2
prefix=$3
bad=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat >"$folder/choose" <<'CHOOSE'
[ "$OSHRUN_PE" = 0 ] && exec "$1" "$3"
exec "$2" "$3"
CHOOSE

# run FIRST SECOND WHAT: PE 0 runs FIRST, PE 1 SECOND.
run() {
    said=$(timeout 30 "$oshrun" -n 2 sh "$folder/choose" "$1" "$2" "$3" 2>&1)
    code=$?
}

fail() {
    echo "$1 (status $code): $said"
    bad=1
}

is_one() {
    run "$1" "$2" variable
    { [ "$code" -eq 0 ] && [ -z "$said" ]; } || fail "$1 and $2 are one executable"
}

# Named by the warning and by the put.
are_different() {
    run "$1" "$2" variable
    [ "$code" -eq 1 ] || fail "a put between $1 and $2 was taken"
    for words in "warning: global variables are not symmetric" "shmem_long_p: 0x"; do
        line=$(echo "$said" | grep "$words")
        case $line in
        *"PE 0 runs "*"${1##*/} (build ID "*", PE 1 runs "*"${2##*/} (build ID "*) ;;
        *) fail "the line of \"$words\" does not name both" ;;
        esac
    done
    case $said in *"shared library"*) fail "an executable is called a shared library" ;; esac
    run "$1" "$2" heap
    [ "$code" -eq 0 ] || fail "the heap of $1 and $2"
}

for name in given none; do
    cp "$prefix-$name" "$folder/copy"
    is_one "$prefix-$name" "$folder/copy"
    "$strip" "$folder/copy"
    is_one "$folder/copy" "$prefix-$name"
done
are_different "$prefix-given" "$prefix-given-grown"   # by the layout
are_different "$prefix-given" "$prefix-other-swapped" # by the build ID
are_different "$prefix-none" "$prefix-none-swapped"   # by the code
# On two hosts.
export SHMEMX_TRANSPORT=tcp:1
is_one "$prefix-given" "$prefix-given"
are_different "$prefix-none" "$prefix-none-swapped"
exit $bad
