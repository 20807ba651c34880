# SPDX-License-Identifier: BSD-3-Clause
"""Queues: blocks, copies and functions in the order of a device's work; on emulated devices."""

import gc
import threading

import memspan
from memspan import Queue, Status

queue, other = Queue(0), Queue(device=0)
allocator = memspan.Space(0).allocator()
host = memspan.Space().allocator()

# In order, without a wait of the host between them.
block = queue.block(allocator, 4096)
assert block.allocator is allocator and block.nbytes == 4096
source, result = host.block(4096), host.block(4096)
source.fill(7)
order = []
queue.copy(block, source)
queue.call(lambda: order.append(threading.get_ident()))
queue.copy(result, block)
queue.call(lambda: order.append(result.memory[4095]))
queue.synchronize()
assert order[1] == 7 and len(order) == 2, order
queue.fill(block, 9)
other.wait(queue)
other.copy(result, block)
other.synchronize()
assert bytes(result.memory) == b"\x09" * 4096
other.used(block)

# A block's end frees it in the queue's order: the next request has the same memory.
address, before = block.address, queue.describe()
del block
gc.collect()
again = queue.block(allocator, 4096)
info = queue.describe()
assert info.allocated_count == before.allocated_count + 1
assert info.freed_count == before.freed_count + 1, info

# A queue may be closed before its blocks end.
later = other.block(allocator, 64)
other.close()
del later

for wrong in (lambda: other.synchronize(), lambda: other.call(print), lambda: other.block(allocator, 8),
              lambda: other.fill(again), lambda: Queue(99)):
    try:
        wrong()
    except memspan.Error as error:
        assert error.status in (Status.ERR_NOT_FOUND, Status.ERR_INVALID), error
    else:
        raise AssertionError("no Error")
try:
    queue.copy(again, result.view("u1"), 5000)
except ValueError:
    pass
else:
    raise AssertionError("5000 bytes of 4096")
assert not memspan._queue._called
print("queues: in order")

# The end of Python waits for functions.
queue.call(lambda: threading.Event().wait(0.2))
