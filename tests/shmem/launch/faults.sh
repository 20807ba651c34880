#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# faults.sh OSHRUN PROGRAM: the start and end of a PE touch no memory of each other PE. A page of each
# one would be as many page faults of the job as the square of the PEs.
set -u
few=$("$1" -n 20 "$2") && many=$("$1" -n 100 "$2") || exit 1
echo "$few faults of one of 20 PEs, $many of one of 100"
[ "$few" -gt 0 ] && [ $((many - few)) -lt 50 ]
