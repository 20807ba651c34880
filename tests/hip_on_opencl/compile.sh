#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compile.sh: stands for hipcc in the unpacked system, which has no compiler, and runs this system's, mounted
# at /host. One text is compiled once: the arguments without the names of temporary folders are the key.
# lane.sh replaces the names in capitals.
set -u
hipcc='@HIPCC@' cache='@CACHE@' path='@PATH@'

outside() {
    # shellcheck disable=SC2016 # for the inner shell
    /usr/bin/env -i /usr/sbin/chroot /host /usr/bin/env -i PATH="$path" HOME=/tmp TMPDIR='@TMPDIR@' LC_ALL=C \
        /bin/sh -c 'cd "$0" && exec "$@"' "$PWD" "$hipcc" "$@"
}

source='' output='' last=''
for argument in "$@"; do
    [ "$last" != -o ] || output=$argument
    case $argument in
    *.hip) source=$argument ;;
    esac
    last=$argument
done
if [ -z "$source" ] || [ -z "$output" ]; then
    outside "$@"
    exit
fi
folder=${source%/*}
key=$({ printf '%s\n' "$@" | sed "s|$folder|.|g"; cat "$source"; } | sha256sum | cut -c 1-32)
if [ ! -e "$cache/$key" ]; then
    outside "$@" || exit
    cp "$output" "$cache/$key.$$" && mv "$cache/$key.$$" "$cache/$key"
    exit
fi
cp "$cache/$key" "$output"
