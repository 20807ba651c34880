#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# valgrind.sh VALGRIND PROGRAM: under valgrind emulated devices are off and say why; nothing
# hangs.
set -eu
said=$(MEMSPAN_DEVICES=emu:1 timeout -k 5 100 "$1" -q "$2" list_is_walked 2>&1) && code=0 || code=$?
[ "$code" -eq 1 ] || { echo "exit code $code: $said"; exit 1; }
case $said in
*'cannot be processes under valgrind'*) ;;
*) echo "it does not say why: $said"; exit 1 ;;
esac
