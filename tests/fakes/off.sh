#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# off.sh MEMQUERY BACKEND WORDS: that backend is off and says WORDS; the host still works.
set -eu
why=$("$1" --why "$2" 2>&1) || true
case $why in
*" is off"*"$3"*) ;;
*)
    echo "$why"
    echo "no \"$3\" in it"
    exit 1
    ;;
esac
host=$("$1" 2>&1)
case $host in
*host:0*) ;;
*)
    echo "$host"
    echo 'no host'
    exit 1
    ;;
esac
