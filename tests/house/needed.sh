#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# needed.sh LIBRARY: the library needs the C library, nothing else. hwloc and every driver are
# opened when they are first wanted, so that a machine without them is no worse off and a program
# that does not want them does not pay for loading them.
set -eu
library=$1
command -v readelf >/dev/null || { echo 'skip: no readelf'; exit 77; }

needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ -n "$needed" ] || { echo "readelf found no needed library in $library"; exit 1; }

bad=0
for name in $needed; do
    case $name in
    libc.so.* | libdl.so.* | libpthread.so.* | ld-linux*.so.*) ;;
    *)
        echo "$library needs $name"
        bad=1
        ;;
    esac
done
# A function of hwloc that topology/hwloc.h does not list would be missed only when it is called.
if readelf -W --dyn-syms "$library" | grep -E 'UND +hwloc_'; then
    echo "$library calls hwloc by its own name"
    bad=1
fi
if readelf -dW "$library" | grep -E '\((RPATH|RUNPATH)\)' | grep -vE '\[:*\]'; then
    echo "$library has a run path: a moved prefix would not work"
    bad=1
fi
exit "$bad"
