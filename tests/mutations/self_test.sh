#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# self_test.sh RUN: run.sh on a tree of three files. One change is noticed, one survives, one does not
# build, and one is for a test that fails anyway; none ends the run.
set -eu
unset MUTATIONS_LIST MUTATIONS_WORK # of a run that this test is one of the tests of
command -v git >/dev/null || { echo 'SKIP git is not here'; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
mkdir -p "$scratch/tests/mutations"
cd "$scratch"
cp "$1" tests/mutations/run.sh
cat >CMakePresets.json <<'TEXT'
{ "version": 6, "configurePresets": [
  { "name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev" } ] }
TEXT
cat >CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(changed NONE)
enable_testing()
add_custom_target(syntax ALL COMMAND sh -n ${PROJECT_SOURCE_DIR}/program.sh)
add_test(NAME answers COMMAND sh ${PROJECT_SOURCE_DIR}/program.sh)
add_test(NAME fails COMMAND false)
TEXT
cat >program.sh <<'TEXT'
answer=42 unread=1
if [ "$answer" -eq 42 ]; then exit 0; fi
exit 1
TEXT
entry() {
    printf 'id %s\nfile program.sh\nfrom %s\nto %s\ntests %s\nwhy it is a change\n\n' "$@"
}
{
    entry seen answer=42 answer=41 '^answers$'
    entry broken '; fi' '' '^answers$'
    entry unseen unread=1 unread=2 '^answers$'
    entry failing answer=42 answer=41 '^(answers|fails)$'
} >tests/mutations/list.txt
echo build >.gitignore
git -c init.defaultBranch=main init -q .

tests/mutations/run.sh >said 2>&1 && status=0 || status=$?
sed -n 's/^\([A-Za-z ]*[a-z]*\):.*/\1/p; $p' said | tr -s ' ' >lines
diff - lines <<'TEXT' || { cat said; exit 1; }
mutations
noticed seen
BROKEN broken
SURVIVED unseen
not judged failing
4 changes, 1 survived, 1 do not build, 1 not judged
TEXT
[ "$status" -eq 1 ] || { echo "exit code $status"; exit 1; }
