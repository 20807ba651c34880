#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# needed.sh LIBRARY: the library needs hwloc and the C library, nothing else. Every driver is
# opened when it is first wanted, so that a machine without it is no worse off.
set -eu
library=$1
command -v readelf >/dev/null || { echo 'skip: no readelf'; exit 77; }

needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ -n "$needed" ] || { echo "readelf found no needed library in $library"; exit 1; }

bad=0
for name in $needed; do
    case $name in
    libhwloc.so.*) ;;
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux*.so.*) ;;
    *)
        echo "$library needs $name"
        bad=1
        ;;
    esac
done
if readelf -dW "$library" | grep -E '\((RPATH|RUNPATH)\)' | grep -vE '\[:*\]'; then
    echo "$library has a run path: a moved prefix would not work"
    bad=1
fi
exit "$bad"
