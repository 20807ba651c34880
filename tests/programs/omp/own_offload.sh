#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# own_offload.sh LIBRARY STOCK LINKED: the program's own offload library serves it, stock, with the library
# preloaded, and linked with it first.
set -eu
extra=${OMP_TEST_PRELOAD:-}
"$2" || { echo 'skip: the runtime does not ask the program for memory spaces'; exit 77; }
LD_PRELOAD="$extra $1" "$2"
LD_PRELOAD="$extra" "$3"
