#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# release.sh TREE: all files of TREE name one version, and the steps of cmake/release in a repository of its own:
# the tarball's bytes are the same twice, what is not prepared is not tagged, the notes and sums are right.
set -eu
tree=$1
command -v git >/dev/null || { echo 'skip: git is not here'; exit 77; }
command -v xz >/dev/null || { echo 'skip: xz is not here'; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
"$tree/cmake/release" check

fail() {
    echo "$*"
    exit 1
}

mkdir -p "$scratch/tree/tests/packages"
cd "$scratch/tree"
cp -R "$tree/CMakeLists.txt" "$tree/CHANGELOG.md" "$tree/cmake" "$tree/include" .
cp "$tree"/tests/packages/interface.* tests/packages
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q
commit() {
    git add -A
    git commit -q -m "$1"
}
commit first
version=$(sed -n 's/^project(memspan VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
cmake/release publish --dry-run "$scratch/one" >/dev/null
cmake/release publish --dry-run "$scratch/two" >/dev/null
cmp "$scratch/one/memspan-$version.tar.xz" "$scratch/two/memspan-$version.tar.xz"
(cd "$scratch/one" && sha256sum --quiet -c SHA256SUMS)
tar -t -f "$scratch/one/memspan-$version.tar.xz" | grep -qx "memspan-$version/CMakeLists.txt"
[ -z "$(git tag)" ] || fail 'a dry run makes a tag'

# A released tree is prepared before; this test then begins at that state.
sed -i "s/^## $version (.*)/## $version (not released yet)/" CHANGELOG.md
sed -i '1s/) [a-z]*;/) UNRELEASED;/' cmake/packages/debian/changelog
git diff --quiet || commit unreleased
! cmake/release publish "$scratch/three" 2>"$scratch/log" || fail 'an unprepared version is tagged'
grep -q 'is not prepared' "$scratch/log" || fail "$(cat "$scratch/log")"
cmake/release prepare
! cmake/release publish "$scratch/three" 2>"$scratch/log" || fail 'changes that are not committed are tagged'
commit prepared
cmake/release publish "$scratch/three" >/dev/null
[ "$(git rev-parse "v$version^{commit}")" = "$(git rev-parse HEAD)" ] || fail 'the tag is not on HEAD'
grep -qE "^## $version \([0-9-]{10}\)\$" "$scratch/three/memspan-$version.md" || fail 'the notes have no date'
! cmake/release publish "$scratch/three" 2>/dev/null || fail 'a tag is made twice'

for file in include/memspan/status.h CHANGELOG.md cmake/packages/debian/changelog cmake/packages/conda/meta.yaml \
    cmake/packages/spack/package.py cmake/packages/easybuild/*.eb; do
    sed "s/$version/9.9.9/" "$file" >changed
    cp "$file" kept
    cp changed "$file"
    ! cmake/release check 2>/dev/null || fail "$file may have another version"
    cp kept "$file"
done
