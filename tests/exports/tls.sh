#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tls.sh BYTES LIBRARY...: the thread-local storage of each LIBRARY is at most BYTES. glibc keeps 512
# bytes for all libraries that are opened at run time and were compiled for static storage.
set -eu
export LC_ALL=C
most=$1
shift
bad=0
for library; do
    # "TLS offset address address file-size memory-size flags alignment"; no such line: none is used.
    size=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
    size=$((${size:-0}))
    if [ "$size" -gt "$most" ]; then
        echo "$library: $size bytes of thread-local storage; at most $most, or dlopen() fails"
        readelf -sW "$library" | awk '$4 == "TLS" { print $3, $8 }' | sort -rnu | head -5
        bad=1
    fi
done
exit $bad
