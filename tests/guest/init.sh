#!/bin/busybox sh
# SPDX-License-Identifier: BSD-3-Clause
# init.sh: the first process of the virtual machine of guest.sh. Loads the modules, makes the other machine's
# files the root, with memory for what is written, and runs guest.sh of the share there. The repository stays
# where it is, below a folder that is memory here too: a part of the root (kept=), or a share of its own (tree=).
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
while read -r module; do
    insmod "/modules/$module" || echo "insmod $module: failed"
done </modules/order
kept=$(sed -n 's/.* kept=\([^ ]*\).*/\1/p' /proc/cmdline)
tree=$(sed -n 's/.* tree=\([^ ]*\).*/\1/p' /proc/cmdline)
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 root /root || poweroff -f
if [ -n "$kept" ]; then
    mkdir /kept
    mount --bind "/root$kept" /kept
fi
for folder in dev proc sys; do
    mount --move /$folder /root/$folder
done
for folder in tmp run mnt root var/tmp; do
    mount -t tmpfs none /root/$folder
done
mkdir -p /root/dev/shm /root/dev/pts /root/tmp/share
mount -t tmpfs none /root/dev/shm
mount -t devpts none /root/dev/pts
ln -sf /proc/self/fd /root/dev/fd
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share /root/tmp/share
if [ -n "$kept" ]; then
    mkdir -p "/root$kept"
    mount --move /kept "/root$kept"
fi
[ -z "$tree" ] || mkdir -p "/root$tree"
[ -z "$tree" ] || mount -t 9p -o trans=virtio,version=9p2000.L,cache=loose,msize=262144 tree "/root$tree"
hostname guest
ip link set lo up
ulimit -l unlimited
chroot /root /bin/sh /tmp/share/guest.sh
sync
poweroff -f
