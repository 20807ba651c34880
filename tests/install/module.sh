#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# module.sh PREFIX: the module file, in a prefix that was moved, by Environment Modules and by Lmod, whichever is here.
# After `module load` programs, libraries, manual pages and the Python module are found; `module unload` takes it back.
set -eu
prefix=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R "$prefix" "$scratch/moved"
prefix=$scratch/moved

cat >"$scratch/use" <<'USE'
. "$1"
module use "$2/share/modulefiles"
before=$PATH
module load memspan
command -v memquery
pkg-config --variable=libdir memspan
[ ! -d "$2/lib/python3" ] || python3 -B -c 'import memspan; print(memspan.__file__)'
man -w memspan 2>/dev/null || echo "$2/share/man" # a container has no man
echo "$CMAKE_PREFIX_PATH"
module unload memspan
[ "$PATH" = "$before" ] || echo "PATH was $before, and is $PATH"
USE
bad=0
tried=0
for start in /usr/share/modules/init/sh /usr/share/lmod/*/init/sh; do
    [ -f "$start" ] || continue
    tried=$((tried + 1))
    env -i PATH="$PATH" HOME="$scratch" sh "$scratch/use" "$start" "$prefix" >"$scratch/found" 2>&1 ||
        { echo "$start fails:"; cat "$scratch/found"; bad=1; continue; }
    if grep -v "^$prefix" "$scratch/found" || [ "$(wc -l <"$scratch/found")" -lt 4 ]; then
        echo "$start finds other files than those of $prefix"
        bad=1
    fi
done
[ "$tried" -gt 0 ] || { echo 'SKIP neither Environment Modules nor Lmod is here'; exit 77; }
exit "$bad"
