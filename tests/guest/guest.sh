#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guest.sh: a virtual machine for tests of what this machine has not. A script sources it after it has set
#   tree      the repository
#   name      its own, for messages and for its folder build/guest/NAME
#   modules   the kernel modules that the guest loads, in this order, before its first file is read
#   cut       KILL: the machine ends as by a cut of its power when its time is over
# and calls guest_prepare, puts what its script needs into $share, and calls guest_run.
#
# The kernel is Debian's, unpacked under build/guest. The root of the guest is this machine's /, read-only,
# so that it runs what is built here; its /tmp/share is $share. Needed: Debian's apt-get, qemu-system-x86_64,
# busybox-static, kmod; what is missing is installed. Without acceleration by hardware everything takes 10 to 50 times as long as here.
#
# For another processor, set before as well:
#   processor aarch64
#   system    the root of such a system with its kernel (linux-image-arm64) and busybox-static, in place of /;
#             the repository is there at its own path, and can be written
# shellcheck disable=SC2154 # they are set
guest=$(CDPATH='' cd -- "$tree/tests/guest" && pwd)
# shellcheck disable=SC2154
place=$tree/build/guest/$name
share=$place/share
processor=${processor:-x86_64}
system=${system:-/}
kernel=$tree/build/guest/kernel
[ "$system" = / ] || kernel=$system

say() {
    printf '%s\n' "$name: $*" >&2
}

die() {
    say "$*"
    exit 2
}

# guest_install PACKAGE...
guest_install() {
    say "installing $*"
    mkdir -p "$place"
    DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "$@" </dev/null >"$place/apt.log" 2>&1 ||
        { tail -n 5 "$place/apt.log" >&2; die "not installed; as root: apt-get update, apt-get install --no-install-recommends $*"; }
}

# guest_check COMMAND:PACKAGE...: what is here; else its packages are installed.
guest_check() {
    missing=
    case $processor in
    aarch64) emulator=qemu-system-aarch64:qemu-system-arm ;;
    *) emulator=qemu-system-x86_64:qemu-system-x86 ;;
    esac
    for needed in $emulator busybox:busybox-static modprobe:kmod apt-get:apt ctest:cmake "$@"; do
        command -v "${needed%%:*}" >/dev/null 2>&1 || missing="$missing ${needed##*:}"
    done
    [ "$(id -u)" -eq 0 ] || die 'the guest reads the files of this machine as root'
    # shellcheck disable=SC2086 # names
    [ -z "$missing" ] || guest_install $missing
    if LC_ALL=C ldd "$(command -v busybox)" >/dev/null 2>&1; then
        die 'busybox is not static; as root: apt-get install --no-install-recommends busybox-static'
    fi
}

guest_fetch_kernel() {
    [ "$kernel" != "$system" ] && [ ! -e "$kernel/unpacked" ] || return 0
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
    : >"$kernel/unpacked"
}

# The first file system: busybox, the modules in the order of their dependences (-C: without this machine's
# rules for loading them), and a script that makes this machine's files the root.
guest_make_initramfs() {
    image=$place/image
    rm -rf "$image"
    mkdir -p "$image/bin" "$image/modules" "$image/dev" "$image/proc" "$image/sys" "$image/root"
    if [ "$system" = / ]; then
        cp "$(command -v busybox)" "$image/bin/busybox"
    else
        cp "$system/bin/busybox" "$image/bin/busybox"
    fi
    version=$(ls "$kernel/lib/modules")
    depmod -b "$kernel" "$version"
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
    case $processor in
    aarch64)
        set -- -machine virt -cpu neoverse-n1 "$@" \
            -virtfs "local,path=$tree,mount_tag=tree,security_model=none,multidevs=remap"
        console="ttyAMA0 tree=$tree"
        ;;
    *)
        set -- -cpu qemu64 "$@"
        console="ttyS0 tsc=reliable kept=$tree"
        ;;
    esac
    say 'booting'
    status=0
    timeout --foreground -s "${cut:-TERM}" "$limit" "qemu-system-$processor" -accel tcg,thread=multi -smp 2 \
        -nodefaults -nographic -serial stdio -no-reboot \
        -virtfs "local,path=$system,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
        -virtfs "local,path=$share,mount_tag=share,security_model=none" \
        -kernel "$kernel"/boot/vmlinuz-* -initrd "$place/initramfs" \
        -append "console=$console quiet panic=-1" "$@" </dev/null || status=$?
    [ "$status" -ne 124 ] && [ "$status" -ne 137 ] || die "the virtual machine has not ended within $limit s"
    [ "$(cat "$share/result" 2>/dev/null)" = 0 ] || { say 'failed'; exit 1; }
    say 'passed'
}
