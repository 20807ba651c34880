#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# probe.sh MEMQUERY FILTER...: what memquery --probe=full says of the first device of a pretended
# driver must satisfy each filter of jq.
memquery=$1
shift
command -v jq >/dev/null || exit 77
said=$("$memquery" --timeout 30 --json --probe=full) || {
    echo "memquery ended with $?"
    exit 1
}
for filter; do
    echo "$said" | jq -e ".devices[1] | $filter" >/dev/null || {
        echo "not so: $filter"
        echo "$said" | jq '.devices[1].sharing'
        exit 1
    }
done
