#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The peak memory of a child (ru_maxrss) is its parent's, if the parent is larger.
#
# Expected: ru_maxrss of a process that was started by fork and exec counts from the exec on.
# Seen: exec keeps the peak of the address space that it replaces, which after vfork and
# posix_spawn is the parent's own. `true`, started by a Python that once held 300 MB, has "used"
# more than 300 MB by wait4() and RUSAGE_CHILDREN, also when the parent has freed all of it
# before. The program itself gets the same number from RUSAGE_SELF; VmHWM in /proc/self/status
# has its own. Drivers of benchmarks that hold data report their own size for each job.
#
# Versions: Debian 13, python3.13 3.13.5-2+deb13u5, on Linux 6.18; the kernel decides.
# getrusage(2) says nothing of it.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='true, started by a small parent: below 50 MB
true, after the parent held and freed 300 MB: above 300 MB
RUSAGE_SELF of a Python, then: above 300 MB
VmHWM of the same Python: below 50 MB'

RUN=$(cat <<'END'
cd /tmp
cat >peak.py <<'P'
import os
import subprocess
import sys

def say(what, kilobytes):
    size = "above 300 MB" if kilobytes > 300000 else "below 50 MB" if kilobytes < 50000 else "?"
    print(f"{what}: {size}")

def peak_of_true():
    pid = os.posix_spawn("/bin/true", ["true"], os.environ)
    return os.wait4(pid, 0)[2].ru_maxrss

say("true, started by a small parent", peak_of_true())
data = bytearray(b"x") * (300 << 20)
del data
say("true, after the parent held and freed 300 MB", peak_of_true())
own = "import resource as r; print(r.getrusage(r.RUSAGE_SELF).ru_maxrss)"
own += "; print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
child = subprocess.run([sys.executable, "-c", own], stdout=subprocess.PIPE, text=True)
say("RUSAGE_SELF of a Python, then", int(child.stdout.split()[0]))
say("VmHWM of the same Python", int(child.stdout.split()[1]))
P
python3.13 peak.py
END
)
export RUN
packages=base-files,dash,coreutils,python3.13=3.13.5-2+deb13u5
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
