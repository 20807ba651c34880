#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# off.sh MEMQUERY WORDS: the HIP backend is off and says WORDS; the host still works.
set -eu
why=$("$1" --why hip 2>&1) || true
case $why in
*" is off"*"$2"*) ;;
*)
    echo "$why"
    echo "no \"$2\" in it"
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
