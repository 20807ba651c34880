#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec of MPICH ends with the bitwise or of its processes' exit statuses.
#
# Expected: the status of one of the processes that failed (Open MPI: of one; srun: the highest).
# Seen: processes that end with 1 and 2 give 3, with 5 and 10 give 15: numbers that no process
# returned. A test driver that knows 77 as "skipped" or 124 as "out of time", or a batch script
# that decides by the number whether to resubmit, reads a status that no process sent; 64 and 13
# even add up to 77.
#
# Versions: Debian 13, mpich 4.3.0+really4.2.1-1 (hydra 4.2.1). The same with mpich 5.0.2-2 of
# sid.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='0 and 5: mpiexec ends with 5
1 and 2: mpiexec ends with 3
5 and 10: mpiexec ends with 15
64 and 13: mpiexec ends with 77'

RUN=$(cat <<'END'
for pair in '0 5' '1 2' '5 10' '64 13'; do
    status=0
    mpiexec.mpich -n 1 sh -c "exit ${pair% *}" : -n 1 sh -c "exit ${pair#* }" >/dev/null 2>&1 ||
        status=$?
    echo "${pair% *} and ${pair#* }: mpiexec ends with $status"
done
END
)
export RUN
packages=base-files,dash,coreutils,mpich=4.3.0+really4.2.1-1
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
