#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# uninstall.sh BUILD-FOLDER PREFIX: the target `uninstall`, on copies of PREFIX below another root. Nothing stays, not the
# byte code of Python and no folder, but for the files of others; below /usr the folders that any package may have stay.
set -eu
build=$1 prefix=$2
[ -f "$build/build.ninja" ] || { echo 'SKIP this build is not of Ninja'; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

# uninstall ROOT PREFIX: as in an installation with that prefix and DESTDIR.
uninstall() {
    sed "s,^$prefix/,$2/," "$prefix.manifest" >"$scratch/manifest"
    printf %s "$2" >"$scratch/prefix"
    command=$(ninja -C "$build" -t commands uninstall | sed "s,$build/install_manifest.txt,$scratch/manifest,
        s,$build/install_prefix.txt,$scratch/prefix,")
    DESTDIR=$1 sh -c "$command"
}
copy() {
    mkdir -p "$1${2%/*}"
    cp -R "$prefix" "$1$2"
}

copy "$scratch/empty" /opt/c++/memspan
python=$scratch/empty/opt/c++/memspan/lib/python3/dist-packages/memspan
[ ! -d "$python" ] || python3 -m compileall -q "$python" # as a program that imports the module leaves it
uninstall "$scratch/empty" /opt/c++/memspan
left=$(find "$scratch/empty" -mindepth 3)
[ -z "$left" ] || { echo "these stay: $left"; bad=1; }
[ -d "$scratch/empty/opt/c++" ] || { echo 'a folder above the prefix is gone'; bad=1; }

copy "$scratch/shared" /usr/local
touch "$scratch/shared/usr/local/bin/other" "$scratch/shared/usr/local/lib/python3/dist-packages/memspan/other.py"
uninstall "$scratch/shared" /usr/local
left=$(cd "$scratch/shared/usr/local" && find . -name '*memspan*' -o -name 'other*' -o -name man1 -o -name '*shmem*' | sort | paste -sd ' ')
expected='./bin/other ./lib/python3/dist-packages/memspan ./lib/python3/dist-packages/memspan/other.py ./share/man/man1'
[ "$left" = "$expected" ] || { echo "beside files of others stay $left"; bad=1; }
exit "$bad"
