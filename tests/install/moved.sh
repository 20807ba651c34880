#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# moved.sh PREFIX BUILD-FOLDER SOURCE-FOLDER COMPILER-FOLDER: an installation that is moved, and whose
# trees are gone. No file names the trees, but for the source files in debug information and in messages
# of assert(); no run path leaves the prefix but for the system's folders and the compiler's; every
# program and library finds ours in the moved prefix, and the programs run where both trees are hidden.
set -eu
prefix=$1 build=$2 source=$3 compiler=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R "$prefix" "$scratch/moved"
prefix=$scratch/moved
bad=0
complain() {
    echo "$*" >&2
    bad=1
}

# run_paths FILE: those that leave the prefix.
run_paths() {
    readelf -d "$1" | sed -n 's/.*(R[UN]*PATH).*\[\(.*\)\]/\1/p' | tr ':' '\n' | while read -r path; do
        case $path in
        "\$ORIGIN"*) path=$(realpath -m "${1%/*}${path#"\$ORIGIN"}") ;;
        esac
        case $path in
        "$prefix"/* | "$compiler" | /usr/* | /lib* | /opt/*) ;;
        *) echo "$path" ;;
        esac
    done
}

! grep -rIlF -e "$build" -e "$source" "$prefix" || complain 'these files name the build tree or the sources'
checked=0
find "$prefix" -type f ! -path '*/man/*' ! -path '*/include/*' >"$scratch/files"
while read -r file; do
    [ "$(head -c 4 "$file" | tail -c 3 | tr -d '\0')" = ELF ] || continue
    checked=$((checked + 1))
    objcopy --strip-debug --remove-section=.llvm.offloading "$file" "$scratch/plain" # the code of devices has its own
    named=$(strings "$scratch/plain" | grep -F -e "$build" -e "$source" | grep -vE '[a-z0-9_]\.[ch](;|$)' || true)
    [ -z "$named" ] || complain "${file#"$prefix/"} names $named"
    outside=$(run_paths "$file")
    [ -z "$outside" ] || complain "${file#"$prefix/"} has the run path $outside"
    # What others' libraries come from is the machine's matter; ours are to be here.
    ldd "$file" 2>/dev/null | sed -n 's/^[[:space:]]*\(libmemspan[^ ]*\) => \(.*\)/\1 \2/p' >"$scratch/needed"
    while read -r library where; do
        case $where in
        "$prefix"/*) ;;
        *) complain "${file#"$prefix/"} takes $library from: $where" ;;
        esac
    done <"$scratch/needed"
done <"$scratch/files"
[ "$checked" -gt 0 ] || complain 'no program or library is installed'
[ "$bad" -eq 0 ] || exit 1

# Without the right to mount, what the loader says is all that can be said.
cd /
hidden="mount -t tmpfs none '$source' && { [ ! -d '$build' ] || mount -t tmpfs none '$build'; } &&"
if ! unshare -rm sh -c "$hidden [ ! -e '$source/README.md' ]" 2>/dev/null; then
    echo 'SKIP no right to mount: nothing was run without the trees'
    exit 77
fi
run() {
    what=$1
    shift
    env -i PATH="$prefix/bin:$PATH" HOME="$scratch" unshare -rm sh -c "$hidden exec \"\$@\"" sh "$@" >"$scratch/output" 2>&1 ||
        complain "$what: $(tail -n 5 "$scratch/output")"
}
[ ! -x "$prefix/bin/memquery" ] || run memquery memquery --probe=none
[ ! -x "$prefix/bin/oshrun" ] || run oshrun oshrun -n 2 true
[ ! -x "$prefix/bin/memspan-advise" ] || run memspan-advise memspan-advise true
[ ! -x "$prefix/libexec/memspan/bench/hybrid-standard" ] ||
    run 'memspan-bench hybrid' memspan-bench hybrid --quick --rounds 1 --rows put,broadcast --peers standard,extended
exit "$bad"
