#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh: the Debian packages of the commit HEAD, as their users have them. They are built twice in a
# Debian 12 with what control names, in two folders: all bytes are equal, and lintian has no error and no
# warning. In a second, bare Debian 12 they are installed, used (use.sh), upgraded and removed; then
# nothing of them is left. In a third, other launchers start programs (launchers.sh). All is under
# build/packages, in folders that are entered by chroot. Needed: mmdebstrap, git, xz, root, 5 GB.
# PACKAGES=kept: the three systems of an earlier run are used again.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
place=$tree/build/packages
suite=bookworm

say() {
    printf '%s\n' "packages: $*" >&2
}

fail() {
    say "FAILED: $1"
    [ $# -lt 2 ] || tail -n 40 "$2" >&2
    exit 1
}

# inside SYSTEM COMMAND...: as root; COMMAND is shell text.
inside() {
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --pid --fork sh -c '
        for folder in sys dev; do mount --rbind "/$folder" "$0/$folder" || exit 2; done
        mount -t proc proc "$0/proc" || exit 2
        exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive sh -euc "$1"' "$place/$1" "$2"
}

# step NAME SYSTEM COMMAND: with its output in NAME.log.
step() {
    say "$1"
    inside "$2" "$3" >"$place/$1.log" 2>&1 || fail "$1" "$place/$1.log"
}

# system NAME PACKAGE...: a Debian with these packages, as configured as an installed one.
system() {
    name=$1
    shift
    if [ "${PACKAGES:-}" = kept ] && [ -e "$place/$name/made" ]; then
        return 0
    fi
    say "making the system $name"
    rm -rf "${place:?}/$name"
    mmdebstrap --variant=minbase --include="$(echo "$*" | tr ' ' ,)" "$suite" "$place/$name" \
        >"$place/$name.log" 2>&1 || fail "the system $name" "$place/$name.log"
    : >"$place/$name/made"
}

# All that a system has: packages, and files with their content, but for what dpkg, apt and the loader write,
# and the groups that recommended packages make, which stay by Debian's policy. Ours have no such scripts.
listing() {
    inside bare 'dpkg-query -W -f "package \${Package} \${Version} \${db:Status-Abbrev}\n"
        find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /packages -o -path /var/lib/dpkg \
            -o -path /var/lib/apt -o -path /var/cache -o -path /var/log -o -path /etc/ld.so.cache \
            -o -path /etc/group -o -path /etc/group- -o -path /etc/gshadow -o -path /etc/gshadow- \
            -o -path /run/adduser \) -prune \
            -o -type f -exec sha256sum {} + -o -printf "%y %p %l\n" | sort'
}

# build FOLDER: the source package and the packages of it, in that folder of the system "build".
build() {
    folder=$place/build$1
    rm -rf "$folder"
    mkdir -p "$folder/$source"
    cp "$place/memspan_$version.orig.tar.xz" "$folder"
    tar -x -f "$place/memspan_$version.orig.tar.xz" -C "$folder"
    cp -R "$folder/$source/cmake/packages/debian" "$folder/$source/debian"
    step "build-in$(echo "$1" | tr / -)" build "cd '$1/$source'
        apt-get -q update && apt-get -q -y build-dep . && dpkg-buildpackage -us -uc ${2:-}"
}

[ $# -eq 0 ] || { sed -n '3,8s/^# //p' "$0" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { say 'root is needed'; exit 2; }
command -v mmdebstrap >/dev/null || { say 'mmdebstrap is not here; on Debian: apt-get install mmdebstrap'; exit 2; }
mkdir -p "$place"
cd "$tree"
version=$(sed -n 's/^project(memspan VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
source=memspan-$version
cmake/release tarball "$place" >/dev/null
mv "$place/$source.tar.xz" "$place/memspan_$version.orig.tar.xz"

system build build-essential lintian
build /first
build /a/second/folder -b
bad=0
for package in "$place"/build/first/*.deb; do
    cmp "$package" "$place/build/a/second/folder/${package##*/}" || bad=1
done
[ "$bad" -eq 0 ] || fail 'two builds differ'
say "two builds are equal, byte by byte: $(find "$place/build/first" -name '*.deb' | wc -l) packages"
# No bug of Debian requests these packages.
step lintian build 'lintian --fail-on error,warning --info --allow-root --suppress-tags initial-upload-closes-no-bugs \
    /first/*.changes 2>&1'
cat "$place/lintian.log"

# The next revision, of the same objects.
step next-revision build "cd '/a/second/folder/$source'
    { sed 's/(\(.*\)-1) /(\1-2) /; /^ --/q' debian/changelog; echo; cat debian/changelog; } >new && mv new debian/changelog
    rm -f debian/*.debhelper.log && dpkg-buildpackage -us -uc -b -nc"

system bare gcc g++ gfortran libc6-dev pkg-config cmake make python3 python3-numpy procps
rm -rf "$place/bare/packages"
mkdir -p "$place/bare/packages/1" "$place/bare/packages/2"
cp "$place"/build/first/*-1_*.deb "$place/bare/packages/1"
cp "$place"/build/a/second/folder/*-2_*.deb "$place/bare/packages/2"
rm -f "$place"/bare/packages/*/*dbgsym*
cp -R "$here/use.sh" "$tree/tests/install/consumer" "$tree/tests/guide/run.sh" "$place/bare/packages"
installed() {
    inside bare 'dpkg-query -W -f "\${db:Status-Abbrev}\${Version}\n" "*memspan*" | sort -u'
}
all='libmemspan0 libmemspan-shmem0 memspan-tools libmemspan-dev python3-memspan memspan-doc'
# Another run may have ended between these steps.
step clean bare "dpkg --purge $all; apt-get -q -y autoremove --purge; rm -rf /tmp/*"
listing >"$place/before"
step install bare 'apt-get -q update && apt-get -q -y install /packages/1/*.deb'
step use bare "setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp /packages/use.sh $version"
cat "$place/use.log"
step upgrade bare 'apt-get -q -y install /packages/2/*.deb'
[ "$(installed)" = "ii $version-2" ] || fail "after the upgrade: $(installed)"
step use-upgraded bare "rm -rf /tmp/*; setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp /packages/use.sh $version"
# Python writes its cache where it may: as root.
step use-as-root bare 'python3 -c "import memspan.shmem"'
step remove bare "apt-get -q -y remove $all"
step purge bare "dpkg --purge $all; apt-get -q -y autoremove --purge"
listing >"$place/after"
diff "$place/before" "$place/after" >&2 || fail 'this is left, or changed, after the packages are removed'
say 'nothing is left'

# openmpi-bin has an oshcc and an oshrun, too.
system launchers gcc libc6-dev iproute2 openmpi-bin mpich slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge \
    libpmix-dev
rm -rf "$place/launchers/packages"
mkdir -p "$place/launchers/packages/tests/shmem"
cp "$place"/bare/packages/1/*.deb "$here/launchers.sh" "$tree/tests/shmem/core/rma.c" "$place/launchers/packages"
cp "$tree/tests/shmem/check.h" "$place/launchers/packages/tests/shmem"
step install-launchers launchers "dpkg --purge $all; apt-get -q update && apt-get -q -y install /packages/*.deb"
step launchers launchers '/packages/launchers.sh /packages/rma.c /packages'
cat "$place/launchers.log"
