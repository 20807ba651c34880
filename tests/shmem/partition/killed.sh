#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# killed.sh OSHRUN PROGRAM: the job ends by itself, not well, when the PE that serves is killed.
timeout 20 "$1" -n 3 "$2"
code=$?
[ "$code" -ne 124 ] || { echo "hangs"; exit 1; }
[ "$code" -eq 137 ] || { echo "ended with $code"; exit 1; }
