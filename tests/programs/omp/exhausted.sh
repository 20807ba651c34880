#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exhausted.sh LIBRARY STOCK LINKED: an allocate clause without memory ends the program with status
# 1 and a reason.
set -u
library=$1 stock=$2 linked=$3
extra=${OMP_TEST_PRELOAD:-}

for how in preloaded linked; do
    if [ $how = preloaded ]; then
        said=$(LD_PRELOAD="$extra $library" "$stock" 2>&1)
    else
        said=$(LD_PRELOAD="$extra" "$linked" 2>&1)
    fi
    status=$?
    case "$status $said" in
    *"went on"*) echo "$how: the program went on: $said" >&2 && exit 1 ;;
    "1 "*"got no memory (4096 bytes)"*"pool_size"*) ;;
    *) echo "$how: status $status: $said" >&2 && exit 1 ;;
    esac
done
