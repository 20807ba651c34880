#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh PREFIX PAGE [CONDITION...]: a page of the guide, with what PREFIX has. A block of code is a file, whose name is in
# the comment of its first line; one of the type console has commands ("$ "), for one shell, with their output, standard
# error included, in which "..." stands for any text. CONDITION: a command that fails where the page cannot be
# followed. LLVM in the environment takes the place of the version that a page sets for itself.
set -eu
prefix=$1 page=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir "$work/bin"
ln -s /usr/bin/python3 "$work/bin/python3" # the system's, never another on the path
PATH=$work/bin:$prefix/bin:$PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name memspan.pc)")
PYTHONDONTWRITEBYTECODE=1 # other tests copy the prefix
export PATH PKG_CONFIG_PATH PYTHONDONTWRITEBYTECODE
for condition in 'command -v pkg-config' "$@"; do
    sh -c "$condition" >"$work/log" 2>&1 || { echo "SKIP not here: $condition"; exit 77; }
done

# The blocks, as files; NUMBER.command and NUMBER.output in the order of the commands.
awk -v work="$work" '
    function fail(text) { print FILENAME ":" FNR ": " text; failed = 1; exit 1 }
    /^```$/ && inside {
        if (inside == "file" && lines > 26) { fail("a program of " lines - 1 " lines, more than 25") }
        inside = ""; close(file); next
    }
    /^```console$/ { inside = "console"; continues = 0; next }
    /^```/ { inside = "file"; lines = 0; next }
    inside == "file" && lines == 0 {
        if (!match($0, /[a-z_]+\.[a-z0-9]+/)) { fail("a block without the name of a file") }
        file = work "/" substr($0, RSTART, RLENGTH)
        printf "" >file
    }
    inside == "file" { lines++; print >>file; next }
    inside == "console" && (/^\$ / || continues) {
        if (!continues) { close(command); close(file); command = work "/" ++commands ".command" }
        print continues ? $0 : substr($0, 3) >command
        continues = /\\$/
        file = work "/" commands ".output"
        printf "" >file
        next
    }
    inside == "console" { print >file }
    END {
        if (failed) { exit 1 }
        if (FNR > 210) { fail("a page of more than 210 lines") }
        if (!commands || inside) { fail("no command, or a block without an end") }
    }' "$page"

cd "$work"
[ -z "${LLVM:-}" ] || sed -i "s/^LLVM=[0-9]*/LLVM=$LLVM/" ./*.command
number=1 bad=0
while [ -e "$number.command" ]; do
    set +eu
    # shellcheck disable=SC1090 # a page's own
    . "./$number.command" >actual 2>&1 </dev/null
    set -eu
    pattern=$(sed 's/[]*?[\\]/\\&/g; s/\.\.\./*/g' "$number.output")
    # shellcheck disable=SC2254 # a pattern
    case $(cat actual) in
    $pattern) ;;
    *)
        printf '%s: the output of\n%s\nis\n%s\nnot\n%s\n' "$page" "$(cat "$number.command")" "$(cat actual)" \
            "$(cat "$number.output")"
        bad=1
        ;;
    esac
    number=$((number + 1))
done
exit "$bad"
