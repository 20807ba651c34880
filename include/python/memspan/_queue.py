# SPDX-License-Identifier: BSD-3-Clause
"""Queues: allocations, copies and functions in the order of a device's work."""

import atexit
import ctypes
import itertools
from weakref import WeakSet

from ._block import Block, Memory, address_of
from ._library import Error, c, check, describe

_numbers = itertools.count(1)
_open = WeakSet()
_called = {}  # functions that queues are yet to call, by their number


@c.memspan_call_on.argtypes[1]
def _call(number):
    _called.pop(number)()


@atexit.register
def _close_all():  # while functions can still be called
    for queue in list(_open):
        queue.close()


class Queue:
    """A queue of a device: a new one, or a native queue of the program, as an integer."""

    _close = staticmethod(c.memspan_queue_close)  # at the end of Python, too
    handle = None

    def __init__(self, device=0, native=None, type=c.MEMSPAN_QUEUE_OWN, flags=0):
        handle = ctypes.c_void_p()
        check(c.memspan_queue_open(int(device), type, native, flags, ctypes.byref(handle)))
        self.handle = handle.value
        _open.add(self)

    def __del__(self):
        self.close()

    def close(self):
        """Wait for its work, and close it. A native queue stays the program's."""
        handle, self.handle = self.handle, None
        if handle is not None:
            check(self._close(handle))

    def describe(self):
        return describe(c.memspan_queue_describe, self.handle)

    def synchronize(self):
        """Wait on the host until its work is complete."""
        check(c.memspan_queue_synchronize(self.handle))

    def wait(self, other):
        """Later work starts after the work that is on another queue now."""
        check(c.memspan_queue_wait(self.handle, other.handle))

    def block(self, allocator, size):
        """A block for the work that follows here; with its last reference it is freed after the
        work that is here then."""
        return QueueBlock(self, allocator, size)

    def used(self, memory):
        """The work here uses a block, too, which another queue frees."""
        check(c.memspan_used_on(address_of(memory), self.handle))

    def attach(self, memory):
        """The work here alone uses a block of managed memory from now on."""
        check(c.memspan_queue_attach(address_of(memory), self.handle))

    def copy(self, to, source, size=None):
        size = source.nbytes if size is None else size
        if size > min(getattr(memory, "nbytes", size) for memory in (to, source)):
            raise ValueError(f"{size} bytes do not fit")
        check(c.memspan_copy_on(self.handle, address_of(to), address_of(source), size))

    def fill(self, memory, byte=0):
        check(c.memspan_fill_on(self.handle, address_of(memory), byte, memory.nbytes))

    def prefetch(self, memory, device):
        check(c.memspan_prefetch_on(self.handle, address_of(memory), memory.nbytes, int(device)))

    def call(self, function):
        """Call a function without arguments on a thread of the library, after the earlier work;
        later work starts after its return."""
        number = next(_numbers)
        _called[number] = function
        status = c.memspan_call_on(self.handle, _call, number)
        if status:
            del _called[number]
            raise Error(status)


class QueueBlock(Block):
    """Memory of an allocator, in the order of a queue."""

    _free_on = staticmethod(c.memspan_free_on)  # at the end of Python, too

    def __init__(self, queue, allocator, size):
        if size <= 0:
            raise ValueError(f"a block has at least a byte, not {size}")
        address = c.memspan_alloc_on(allocator.handle, size, queue.handle)
        if address is None:
            raise Error(c.memspan_error_last().contents.status)
        self.queue = queue
        Memory.__init__(self, allocator, address, "u1", size)

    def __del__(self):
        if self.address is not None and self.queue.handle is not None:
            self._free_on(self.address, self.queue.handle)
        else:
            super().__del__()
