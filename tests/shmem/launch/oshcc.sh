#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshcc.sh BUILD-FOLDER INCLUDE-FOLDER SANITIZER-FLAGS: programs that the wrappers build run, from the
# build tree and from an installation that was moved into a folder with a blank in its name.
set -eu
build=$1 include=$2 sanitize=${3:-}
bin=$build/bin
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "$*"
    exit 1
}

cat >hello.c <<'C'
#include <shmem.h>
#include <stdio.h>
int main(void)
{
    shmem_init();
    printf("PE %d of %d\n", shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return 0;
}
C
cp hello.c hello.cc

# runs PROGRAM: two PEs say so.
runs() {
    said=$("$bin/oshrun" -n 2 "$1" | sort | tr '\n' ' ')
    [ "$said" = 'PE 0 of 2 PE 1 of 2 ' ] || fail "$1 says: $said"
}

"$bin/oshcc" -O1 -Wall -Werror -o hello hello.c
runs ./hello
"$bin/oshcc" -c hello.c -o hello.o
"$bin/oshcc" hello.o -o hello2
runs ./hello2
if command -v "$("$bin/oshc++" --showme:command)" >/dev/null; then
    "$bin/oshc++" -Wall -Werror -o hello3 hello.cc
    runs ./hello3
fi

# Objects get no options for the linker, of which some compilers complain.
"$bin/oshcc" -show -c hello.c | grep -q -- -lmemspan-shmem && fail 'a library for an object'
"$bin/oshcc" -show hello.c -o x | grep -q -- -lmemspan-shmem || fail 'no library for a program'
[ "$("$bin/oshcc" --show hello.c)" = "$("$bin/oshcc" -show hello.c)" ] || fail '--show is not -show'
"$bin/oshcc" --showme hello.c | grep -q "^$("$bin/oshcc" --showme:command) " || fail 'another compiler'
# shellcheck disable=SC2046 # words
$("$bin/oshcc" --showme:command) $("$bin/oshcc" --showme:compile) hello.c -o hello4 $("$bin/oshcc" --showme:link)
runs ./hello4
[ "$("$bin/oshcc" --showme:libs)" = 'memspan-shmem memspan' ] || fail 'another library'
"$bin/oshcc" --showme:nonsense 2>err && fail 'nonsense was understood'
grep -q nonsense err || fail 'not told what was not understood'
"$bin/oshcc" --version >version || fail 'no version of the compiler'
"$bin/oshcc" 2>/dev/null && fail 'no arguments are well'

# Another compiler, with options; its failures are ours.
[ "$(OSH_CC='echo -some -option' "$bin/oshcc" -c x.c)" = "-some -option -I$include$sanitize -c x.c" ] ||
    fail "another command: $(OSH_CC='echo -some -option' "$bin/oshcc" -c x.c)"
OSH_CC=false "$bin/oshcc" -c x.c && fail 'a failure of the compiler is lost'

# A file whose name needs quotes.
cp hello.c 'a "hello" $x.c'
"$bin/oshcc" -o quoted 'a "hello" $x.c' '-DUNUSED="a b"'
runs ./quoted
echo 'all of it, from the build tree'
