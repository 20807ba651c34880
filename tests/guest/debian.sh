#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian.sh: a Debian system, unpacked and not installed, under build/. A script sources it after it has set
# place (a folder) and say() (a message).
# shellcheck disable=SC2154 # they are set
debian_apt() {
    command=$1
    shift
    "$command" -q -o "Dir::State=$place/apt" -o "Dir::State::lists=$place/apt/lists" \
        -o "Dir::State::status=$place/apt/status" -o "Dir::Cache=$place/apt" \
        -o "Dir::Cache::archives=$place/apt/archives" -o "Dir::Etc::sourcelist=$place/apt/sources.list" \
        -o "Dir::Etc::sourceparts=$place/apt/none" -o "Dir::Etc::preferencesparts=$place/apt/none" \
        -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" \
        -o Acquire::Languages=none -o APT::Install-Recommends=0 -o "APT::Sandbox::User=$(id -un)" \
        -o Debug::NoLocking=1 "$@"
}

# debian_unpack ARCHITECTURE SUITE PACKAGE...: with all that they need, in $place/root. An empty system as far as
# apt knows, so that everything comes from that suite.
debian_unpack() {
    architecture=$1
    suite=$2
    shift 2
    rm -rf "$place/apt/archives" "$place/root"
    mkdir -p "$place/apt/lists/partial" "$place/apt/archives/partial" "$place/apt/none"
    : >"$place/apt/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" \
        >"$place/apt/sources.list"
    if ! { debian_apt apt-get update && debian_apt apt-get install -y --download-only "$@"; } >"$place/apt.log" 2>&1; then
        tail -n 20 "$place/apt.log" >&2
        return 1
    fi
    for folder in bin sbin lib; do
        mkdir -p "$place/root/usr/$folder"
        ln -s "usr/$folder" "$place/root/$folder"
    done
    for package in "$place"/apt/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" |
            tar -x -C "$place/root" --keep-directory-symlink --no-same-owner 2>>"$place/apt.log" || {
            tail -n 5 "$place/apt.log" >&2
            return 1
        }
    done
    rm -rf "$place/apt/archives"
    date >"$place/unpacked"
}
