#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# draw.sh MEMQUERY: the picture of README.md, ddr-hbm.svg: what memquery draws of ddr-hbm.xml with an emulated device.
# What memquery takes from the machine on which it runs (name, processor, size of memory, version) is left out.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
MEMSPAN_DEVICES=emu:1 MEMSPAN_BACKENDS=host,emu HWLOC_XMLFILE=$here/ddr-hbm.xml "$1" --timeout 60 -o svg |
    sed -e 's|<title>Memory of .*</title>|<title>Memory of a recorded machine</title>|' \
        -e 's|>[^>]*: memory as libmemspan [^ ]* reaches it<|>A recorded machine: memory as libmemspan reaches it<|' \
        -e '/>h  host</{n;s|>[^>]*</text>|>tests/machines/ddr-hbm.xml</text>|;n;d;}'
