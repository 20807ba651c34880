#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# faults.sh CC SOURCE: the checker of the request queue finds each fault that is made in a copy of
# the protocol, and none in the protocol itself.
cc=$1
source=$2
here=$(dirname "$0")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# build FROM TO: the checker over the header, with that change of one line.
build() {
    mkdir -p "$work/shmem"
    awk -v from="$1" -v to="$2" '
        (at = index($0, from)) > 0 && from != "" {
            $0 = substr($0, 1, at - 1) to substr($0, at + length(from)); count++
        }
        { print }
        END { exit (from != "" && count != 1) }' "$source/include/shmem/device_view.h" \
        > "$work/shmem/device_view.h" || { echo "not one line has: $1"; exit 1; }
    "$cc" -std=gnu11 -O1 -I"$work" "$here/checker.c" -o "$work/checker" || exit 1
}

# found NAME [ARGUMENT]: the checker ends with a failure.
found() {
    said=$(timeout 120 "$work/checker" $2)
    if [ $? -eq 1 ]; then
        echo "found: $1: $said"
    else
        echo "not found: $1 ($said)"
        failed=1
    fi
}

build "" ""
"$work/checker" || { echo "the protocol itself is refused"; exit 1; }
found "stores of turns without order" relaxed
found "tickets that two threads draw" split
build "if (turn == ticket) {" "if (turn <= ticket) {"
found "a full queue that is not waited for"
build "SHMEMX_DEVICE_STORE_RELEASE(&cell->turn, ticket + 1);" ";"
found "a request that is not posted"
build "} else if (turn == ticket + 2) {" "} else if (turn == ticket + 1) {"
found "a reply that is not waited for"
build "shmemx_device_release(queue, cell, ticket); /* the reply" "/* the reply"
found "a cell that its thread keeps"
build "SHMEMX_DEVICE_STORE_RELEASE(&cell->turn, ticket + shmemx_device_lap(queue));" \
    "SHMEMX_DEVICE_STORE_RELEASE(&cell->turn, ticket + SHMEMX_DEVICE_STEP);"
found "a cell that is free for the wrong ticket"
build "SHMEMX_DEVICE_STORE_RELEASE(&cell->turn, ticket + 2);" \
    "shmemx_device_release(queue, cell, ticket);"
found "a reply whose cell is given away"
build "return SHMEMX_DEVICE_LOAD_ACQUIRE(&cell->turn) == ticket + 1;" \
    "return SHMEMX_DEVICE_LOAD_ACQUIRE(&cell->turn) >= ticket;"
found "a request that is executed before it is posted"
build "shmemx_device_submit(view, cell, ticket);" \
    "{ int all = 1; SHMEMX_DEVICE_CONVERGE(all); } shmemx_device_submit(view, cell, ticket);"
found "a thread of a wave that waits for the others before it has posted its request" wave
build "shmemx_device_release(queue, cell, ticket); /* the reply" \
    "{ int all = 1; SHMEMX_DEVICE_CONVERGE(all); } shmemx_device_release(queue, cell, ticket); /* the"
found "a thread of a wave that waits for the others before it has given its cell away" wave
build "" ""
found "a thread that serves and does not check again" once
build "return SHMEMX_DEVICE_EXCHANGE(&state->is_served, (uint64_t)1) == 0;" "return 1;"
found "two threads that serve"
build "(void)SHMEMX_DEVICE_EXCHANGE(&state->is_served, (uint64_t)0);" ""
found "a thread that serves for ever"
exit $failed
