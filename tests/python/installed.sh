#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# installed.sh PREFIX FOLDER: the module of a moved installation finds the libraries there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R "$1" "$scratch/moved"
PYTHONPATH=$scratch/moved/$2
export PYTHONPATH
"$here/run.sh" -m memspan >"$scratch/machine"
grep -q '^host: ' "$scratch/machine"
"$here/run.sh" -c '
import memspan, sys
assert memspan.c._library._name.startswith(sys.argv[1]), memspan.c._library._name
if sys.argv[2]:
    import memspan.shmem
    assert memspan.shmem.c._library._name == sys.argv[2], memspan.shmem.c._library._name
' "$scratch/moved/" "$(find "$scratch/moved" -name libmemspan-shmem.so.0)"
"$here/run.sh" "$here/memory.py"
