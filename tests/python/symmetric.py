# SPDX-License-Identifier: BSD-3-Clause
"""Partitions and symmetric arrays, on two PEs; partition 2 is device memory."""

import copy
import pickle

import memspan
import memspan.shmem as shmem

shmem.init()
assert shmem.n_pes() == 2
me, other = shmem.my_pe(), 1 - shmem.my_pe()
assert [partition.number for partition in shmem.partitions()] == [1, 2]
assert [plan.kind for plan in shmem.plan()] == [shmem.Kind.SYSDEFAULT, shmem.Kind.DEVICE]

x = shmem.Partition(1).empty(100, "i8")
x.memory[5] = me
shmem.barrier_all()
local = memspan.Allocator().empty(100, "i8")
shmem.get(local, x, other)
assert local.memory[5] == other and shmem.peer(x, other).memory[5] == other
shmem.barrier_all()
local.memory[5] = 7 + me
shmem.put(x, local, other)
shmem.barrier_all()
assert x.memory[5] == 7 + other and x.__array_interface__["shape"] == (100,)
assert x.__dlpack_device__() == (1, 0) and not hasattr(x, "__cuda_array_interface__")
large, wrong_type = memspan.Allocator().empty(101, "i8"), memspan.Allocator().empty(100, "f8")
for error, wrong in ((ValueError, lambda: shmem.put(x, large, other)),
                     (ValueError, lambda: shmem.get(large, x, other)),
                     (ValueError, lambda: shmem.get(bytes(8), x, other)),
                     (ValueError, lambda: shmem.put(x, local, 2)),
                     (ValueError, lambda: shmem.get(local, x, -1)),
                     (ValueError, lambda: shmem.peer(x, 2**32)),
                     (ValueError, lambda: shmem.put(local, local, other)),
                     (ValueError, lambda: shmem.Partition(1).empty(-1)),
                     (ValueError, lambda: shmem.Partition(2**32 + 1)),
                     (TypeError, lambda: shmem.put(x, wrong_type, other)),
                     (TypeError, lambda: shmem.Partition(1.5)),
                     (TypeError, lambda: copy.copy(x.block)),
                     (TypeError, lambda: pickle.dumps(shmem.peer(x, other)))):
    try:
        wrong()
    except error:
        continue
    raise AssertionError("not refused")
assert pickle.loads(pickle.dumps(shmem.Kind.DEVICE)) is shmem.Kind.DEVICE
theirs = shmem.peer(x, other)
shmem.barrier_all()
x.block.free()
for wrong in (lambda: x.memory, lambda: theirs.memory, lambda: x.__array_interface__, x.block.free, x.__dlpack__,
              lambda: shmem.put(x, local, other)):
    try:
        wrong()
    except ValueError:
        continue
    raise AssertionError("freed memory is not refused")

y = shmem.Partition(2).empty(100, "i8")
assert y.__dlpack_device__() == (12, 0) and y.reach(0).access == memspan.Access.LOCAL
try:
    y.memory
except memspan.Error as error:
    assert error.status == memspan.Status.ERR_UNREACHABLE
else:
    raise AssertionError("the host reaches device memory")
shmem.barrier_all()
shmem.put(y, local, other)
shmem.barrier_all()
shmem.get(local, y, me)
assert local.memory[5] == 7 + other
try:
    shmem.Partition(2).block(2**40)
except memspan.Error as error:
    assert "largest block" in str(error)
y.block.free()
shmem.finalize()
