#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guest.sh: a virtual machine for tests of what this machine has not. A script sources it after it has set
#   tree      the repository
#   name      its own, for messages and for its folder build/guest/NAME
#   modules   the kernel modules that the guest loads, in this order, before its first file is read
# and calls guest_prepare, puts what its script needs into $share, and calls guest_run.
#
# The kernel is Debian's, unpacked under build/guest. The root of the guest is this machine's /, read-only,
# so that it runs what is built here; its /tmp/share is $share. Needed: Debian's apt-get, qemu-system-x86_64,
# busybox-static, kmod. Without acceleration by hardware everything takes 10 to 50 times as long as here.
# shellcheck disable=SC2154 # they are set
guest=$(CDPATH='' cd -- "$tree/tests/guest" && pwd)
# shellcheck disable=SC2154
place=$tree/build/guest/$name
share=$place/share
kernel=$tree/build/guest/kernel

say() {
    printf '%s\n' "$name: $*" >&2
}

die() {
    say "$*"
    exit 2
}

# guest_check COMMAND:PACKAGE...: what is here, or which packages have it.
guest_check() {
    missing=
    for needed in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static modprobe:kmod apt-get:apt ctest:cmake "$@"; do
        command -v "${needed%%:*}" >/dev/null 2>&1 || missing="$missing ${needed##*:}"
    done
    [ -z "$missing" ] || die "not here; as root: apt-get install --no-install-recommends$missing"
    if LC_ALL=C ldd "$(command -v busybox)" >/dev/null 2>&1; then
        die 'busybox is not static; as root: apt-get install --no-install-recommends busybox-static'
    fi
    [ "$(id -u)" -eq 0 ] || die 'the guest reads the files of this machine as root'
}

guest_fetch_kernel() {
    [ ! -e "$kernel/unpacked" ] || return 0
    rm -rf "$kernel"
    mkdir -p "$kernel"
    package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends:/ { print $2; exit }')
    [ -n "$package" ] || die "apt-get knows no linux-image-amd64: this needs Debian's kernel"
    say "fetching $package"
    (cd "$kernel" && apt-get -q -o APT::Sandbox::User=root download "$package") >"$place/log" 2>&1 ||
        { tail -n 5 "$place/log" >&2; die "no $package"; }
    dpkg --fsys-tarfile "$kernel/$package"_*.deb |
        tar -x -C "$kernel" --wildcards './boot/vmlinuz-*' './lib/modules/*'
    rm "$kernel/$package"_*.deb
    depmod -b "$kernel" "$(ls "$kernel/lib/modules")"
    : >"$kernel/unpacked"
}

# The first file system: busybox, the modules in the order of their dependences (-C: without this machine's
# rules for loading them), and a script that makes this machine's files the root.
guest_make_initramfs() {
    image=$place/image
    rm -rf "$image"
    mkdir -p "$image/bin" "$image/modules" "$image/dev" "$image/proc" "$image/sys" "$image/root"
    cp "$(command -v busybox)" "$image/bin/busybox"
    version=$(ls "$kernel/lib/modules")
    # shellcheck disable=SC2154 # likewise
    for module in virtio_pci 9pnet_virtio 9p $modules; do
        modprobe -C /dev/null -d "$kernel" -S "$version" --show-depends "$module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$place/order"
    while read -r file; do
        cp "$file" "$image/modules/"
        basename "$file"
    done <"$place/order" >"$image/modules/order"
    cp "$guest/init.sh" "$image/init"
    (cd "$image" && find . | busybox cpio -o -H newc 2>/dev/null) >"$place/initramfs"
}

# guest_prepare SCRIPT: everything but the machine; SCRIPT is what it will run, and writes the result.
guest_prepare() {
    rm -rf "$share"
    mkdir -p "$share"
    cp "$1" "$share/guest.sh"
    guest_fetch_kernel
    guest_make_initramfs
}

# guest_run SECONDS QEMU_ARGUMENT...: boot, and succeed if the script wrote 0 into $share/result.
# tsc=reliable: the guest's processors share a time stamp counter; the other clocks are devices, whose
# emulation takes half of the machine.
guest_run() {
    limit=$1
    shift
    say 'booting'
    status=0
    timeout "$limit" qemu-system-x86_64 -accel tcg,thread=multi -cpu qemu64 -smp 2 \
        -nodefaults -nographic -serial stdio -no-reboot \
        -virtfs "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
        -virtfs "local,path=$share,mount_tag=share,security_model=none" \
        -kernel "$kernel"/boot/vmlinuz-* -initrd "$place/initramfs" \
        -append 'console=ttyS0 quiet panic=-1 tsc=reliable' "$@" </dev/null || status=$?
    [ "$status" -ne 124 ] || die "the virtual machine has not ended within $limit s"
    [ "$(cat "$share/result" 2>/dev/null)" = 0 ] || { say 'failed'; exit 1; }
    say 'passed'
}
