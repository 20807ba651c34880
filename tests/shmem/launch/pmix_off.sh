#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pmix_off.sh OSHRUN PURE MIXED: --pmix=off is taken, with a warning for a program that links MPI.
set -eu
oshrun=$1 pure=$2 mixed=$3

said=$("$oshrun" --pmix=off -n 2 "$pure" 2>&1 >/dev/null)
[ -z "$said" ] || { echo "of a program that needs no server is said: $said"; exit 1; }
said=$("$oshrun" --pmix=off -n 2 "$mixed" 2>&1 >/dev/null)
case $said in
*"--pmix=off: "*" links libmpi.so"*) ;;
*)
    echo "of a program that links MPI is said: $said"
    exit 1
    ;;
esac
