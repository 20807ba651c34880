#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# freestanding.sh NM OBJECT;...: of all objects, those that run in a device process need no symbol
# but emu_*: no memcpy() that a compiler put in, no sanitizer, no stack protector.
set -eu
nm=$1
IFS=';'
bad=0
seen=0
for object in $2; do
    case $object in
    */emu/device_side.c.o | */emu/combine.c.o | */emu/maps.c.o | */emu/raw_*.c.o)
        seen=$((seen + 1))
        needs=$("$nm" -u "$object" | awk '{ print $NF }' | grep -v '^emu_' | grep -v '^_GLOBAL_OFFSET_TABLE_$' || true)
        [ -z "$needs" ] || {
            echo "$object needs $needs"
            bad=1
        }
        ;;
    esac
done
[ "$seen" -eq 4 ] || {
    echo "4 objects expected, $seen found"
    exit 1
}
exit "$bad"
