#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# table.sh PROGRAM PAGE: runs scale.c at 1,000, 10,000 and 100,000 groups; PAGE must have each row that it prints.
# To repeat the table: shmem-tape table
set -eu
rows=$("$1" table)
printf '%s\n' "$rows"
printf '%s\n' "$rows" | while IFS= read -r row; do
    grep -qxF -e "$row" "$2" || { echo "FAILED: $2 has no such row: $row"; exit 1; }
done
