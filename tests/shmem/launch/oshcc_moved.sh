#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshcc_moved.sh PREFIX: an installation, moved into a folder with a blank in its name: its wrapper
# builds a program that runs under its launcher, with nothing in the environment.
set -eu
prefix=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -a "$prefix" "$scratch/moved once"
mv "$scratch/moved once" "$scratch/moved twice"
cd "$scratch"
printf '#include <shmem.h>\nint main(void) { shmem_init(); int n = shmem_n_pes(); shmem_finalize(); return n == 2 ? 0 : 1; }\n' >two.c
flags=${2:-}
# shellcheck disable=SC2086 # words, or nothing
"moved twice/bin/oshcc" $flags two.c -o two
"moved twice/bin/oshrun" -n 2 ./two
# By a name that is not its own.
mkdir links
ln -s "$scratch/moved twice/bin/oshcc" links/cc
# shellcheck disable=SC2086
links/cc $flags two.c -o three
"moved twice/bin/oshrun" -n 2 ./three
[ -e "$prefix/share/man/man1/oshrun.1" ] || { echo 'no manual page of oshrun'; exit 1; }
