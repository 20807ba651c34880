#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# roce.sh BUILD [REGEX]: OpenSHMEM's tests over RDMA verbs without a card, by soft RoCE in a virtual machine:
# the fabrics roce-ucx (rc_verbs) and roce-ofi (verbs;ofi_rxm) of fabrics.cmake, in the folder BUILD.
#
# The kernel is Debian's, which has the module rdma_rxe, unpacked under build/roce. The root of the guest is
# this machine's /, read-only, so that it runs what is built here. roce_guest.sh is what it runs: ctest, and
# the proof that verbs did the work. Needed: Debian's apt-get, qemu-system-x86_64, busybox-static, kmod.
# Without acceleration by hardware everything takes 10 to 50 times as long as on this machine.
# ROCE_LIMIT: seconds until the machine is ended (3000).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../../.." && pwd)
place=$tree/build/roce
modules='virtio_pci 9pnet_virtio 9p configfs dummy crc32_generic rdma_ucm rdma_rxe'

say() {
    printf '%s\n' "roce: $*" >&2
}

die() {
    say "$*"
    exit 2
}

# The packages of what the machine and its programs need.
check() {
    missing=
    for needed in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static modprobe:kmod rdma:iproute2 \
        apt-get:apt ctest:cmake; do
        command -v "${needed%%:*}" >/dev/null 2>&1 || missing="$missing ${needed##*:}"
    done
    ls /usr/lib/*/libibverbs/librxe-rdmav*.so >/dev/null 2>&1 || missing="$missing ibverbs-providers"
    [ -z "$missing" ] || die "not here; as root: apt-get install --no-install-recommends$missing"
    if LC_ALL=C ldd "$(command -v busybox)" >/dev/null 2>&1; then
        die 'busybox is not static; as root: apt-get install --no-install-recommends busybox-static'
    fi
    [ "$(id -u)" -eq 0 ] || die 'the guest reads the files of this machine as root'
}

fetch_kernel() {
    [ ! -e "$place/kernel/unpacked" ] || return 0
    rm -rf "$place"
    mkdir -p "$place/kernel"
    package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends:/ { print $2; exit }')
    [ -n "$package" ] || die "apt-get knows no linux-image-amd64: this needs Debian's kernel"
    say "fetching $package"
    (cd "$place" && apt-get -q -o APT::Sandbox::User=root download "$package") >"$place/log" 2>&1 ||
        { tail -n 5 "$place/log" >&2; die "no $package"; }
    dpkg --fsys-tarfile "$place/$package"_*.deb |
        tar -x -C "$place/kernel" --wildcards './boot/vmlinuz-*' './lib/modules/*'
    rm "$place/$package"_*.deb
    depmod -b "$place/kernel" "$(ls "$place/kernel/lib/modules")"
    : >"$place/kernel/unpacked"
}

# The first file system: busybox, the modules in the order of their dependences, and a script that makes
# this machine's files the root.
make_initramfs() {
    image=$place/image
    rm -rf "$image"
    mkdir -p "$image/bin" "$image/modules" "$image/dev" "$image/proc" "$image/sys" "$image/root"
    cp "$(command -v busybox)" "$image/bin/busybox"
    version=$(ls "$place/kernel/lib/modules")
    for module in $modules; do
        modprobe -d "$place/kernel" -S "$version" --show-depends "$module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$place/order"
    while read -r file; do
        cp "$file" "$image/modules/"
        basename "$file"
    done <"$place/order" >"$image/modules/order"
    cp "$here/roce_init.sh" "$image/init"
    (cd "$image" && find . | busybox cpio -o -H newc 2>/dev/null) >"$place/initramfs"
}

# The share carries the request there and the result back. tsc=reliable: the guest's processors share a time
# stamp counter; the other clocks are devices, whose emulation takes half of the machine.
boot() {
    rm -rf "$place/share"
    mkdir -p "$place/share" "$build/Testing"
    cp "$here/roce_guest.sh" "$place/share/guest.sh"
    printf '%s\n' "$build" >"$place/share/build"
    printf '%s\n' "$tests" >"$place/share/tests"
    status=0
    timeout "${ROCE_LIMIT:-3000}" qemu-system-x86_64 -accel tcg,thread=multi -cpu qemu64 -machine q35 -smp 2 -m 3072M \
        -nodefaults -nographic -serial stdio -no-reboot \
        -virtfs "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
        -virtfs "local,path=$place/share,mount_tag=share,security_model=none" \
        -kernel "$place"/kernel/boot/vmlinuz-* -initrd "$place/initramfs" \
        -append 'console=ttyS0 quiet panic=-1 tsc=reliable' </dev/null || status=$?
    [ "$status" -ne 124 ] || die 'the virtual machine has not ended in time (ROCE_LIMIT)'
}

[ $# -ge 1 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd)
tests=${2-.}
check
fetch_kernel
make_initramfs
say 'booting'
boot
[ "$(cat "$place/share/result" 2>/dev/null)" = 0 ] || { say 'failed'; exit 1; }
say 'passed'
