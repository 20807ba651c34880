# SPDX-License-Identifier: BSD-3-Clause
"""Queues: allocations, copies and functions in the order of a device's work.

A queue keeps the memory of its work until the work is complete. It ends on any thread: where that
is the library's, which must wait for no queue, a thread of its own closes it.
"""

import atexit
import collections
import ctypes
import itertools
import os
import threading
from weakref import WeakSet

from ._block import Block, at_least_a_byte
from ._checked import Fixed
from ._library import Error, Status, address_or_error, c, check, describe, handle_of
from ._region import address_of, region, transfer

_KEPT_COUNT, _KEPT_BYTES = 64, 2**24  # from which on a queue tells when its work is complete
_numbers = itertools.count(1)
_open = WeakSet()
_late = []    # what a thread could not close
_called = {}  # functions that queues are yet to call, by their number


def _may_wait():
    """Whether Python started this thread. A thread of the library, where a function or the garbage
    collector ends a queue, waits for no queue: the driver may wait for all of them."""
    thread = threading._active.get(threading.get_ident())
    return thread is not None and not isinstance(thread, threading._DummyThread)


def _run(function):
    try:
        function()
    except BaseException as error:
        arguments = type(error), error, error.__traceback__, threading.current_thread()
        threading.excepthook(threading.ExceptHookArgs(arguments))


@c.memspan_call_on.argtypes[1]
def _call(number):
    _run(_called.pop(number))


def _close(handle, *kept):
    check(c.memspan_queue_close(handle))


def _close_late(*arguments):
    try:
        threading.Thread(target=_close, args=arguments).start()
    except RuntimeError:  # Python ends
        _late.append(arguments)


@atexit.register
def _close_all():  # while functions can still be called
    while _open or _late:
        for queue in list(_open):
            queue.close()
        while _late:
            _close(*_late.pop())


def _forget():
    """In a forked child, whose driver is not its own, no queue has work."""
    for queue in list(_open):
        vars(queue).update(handle=None)
    _open.clear()
    _called.clear()
    _late.clear()


os.register_at_fork(after_in_child=_forget)


class Queue(Fixed):
    """A queue of a device: a new one, or a native queue of the program, as an integer."""

    handle = None

    def __init__(self, device=0, native=None, type=c.MEMSPAN_QUEUE_OWN, flags=0):
        handle = ctypes.c_void_p()
        check(c.memspan_queue_open(device, type, native, flags, ctypes.byref(handle)))
        vars(self).update(handle=handle.value, kept=[], passed=collections.deque(),
                          lock=threading.RLock())
        _open.add(self)

    def __del__(self):
        handle = vars(self).pop("handle", None)
        if handle is not None:
            close = _close if _may_wait() else _close_late
            close(handle, self.kept, self.passed)

    def close(self):
        """Wait for its work, and close it. A native queue stays the program's."""
        handle = vars(self).pop("handle", None)
        try:
            _close(handle)
        except Error as error:
            if error.status == Status.ERR_CONFLICT:  # in its own function: it is open still
                vars(self).update(handle=handle)
            raise
        finally:
            if self.handle is None:
                _open.discard(self)
                self._take_kept()
                self.passed.clear()

    def describe(self):
        return describe(c.memspan_queue_describe, self.handle)

    def synchronize(self):
        """Wait on the host until its work is complete."""
        kept = self._take_kept()
        try:
            check(c.memspan_queue_synchronize(self.handle))
        except Error:
            self.passed.append((threading.Event(), kept))  # until it is closed
            raise
        self._sweep()

    def wait(self, other):
        """Later work starts after the work that is on another queue now."""
        check(c.memspan_queue_wait(self.handle, handle_of(other, "Queue")))

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

    def _take_kept(self):
        with self.lock:
            kept, vars(self)["kept"] = self.kept, []
        return kept

    def _sweep(self):
        with self.lock:
            while self.passed and self.passed[0][0].is_set():
                self.passed.popleft()

    def _keep(self, *regions):
        """Until the work here is complete; but blocks of this queue are freed after it anyway. When
        much is kept, a function in the queue's order tells when it may go."""
        self._sweep()
        self.kept.extend(found for found in regions
                         if getattr(getattr(found.kept, "block", None), "queue", None) is not self)
        if len(self.kept) >= _KEPT_COUNT or sum(found.nbytes for found in self.kept) >= _KEPT_BYTES:
            done, kept = threading.Event(), self._take_kept()
            self.passed.append((done, kept))
            self.call(done.set)

    def copy(self, to, source, size=None):
        """memspan.copy() in this order."""
        there, here, size = transfer(to, source, size)
        check(c.memspan_copy_on(self.handle, there.address, here.address, size))
        self._keep(there, here)

    def fill(self, memory, byte=0):
        there = region(memory, True)
        check(c.memspan_fill_on(self.handle, there.address, byte, there.nbytes))
        self._keep(there)

    def prefetch(self, memory, device):
        there = region(memory)
        check(c.memspan_prefetch_on(self.handle, there.address, there.nbytes, device))
        self._keep(there)

    def call(self, function):
        """Call a function without arguments on a thread of the library, after the earlier work;
        later work starts after its return."""
        if not callable(function):
            raise TypeError(f"{function!r} is no function")
        number = next(_numbers)
        _called[number] = function
        status = c.memspan_call_on(self.handle, _call, number)
        if status:
            del _called[number]
            raise Error(status)


class QueueBlock(Block):
    """Memory of an allocator, in the order of a queue."""

    def __init__(self, queue, allocator, size):
        self._once()
        handle, size = handle_of(allocator, "Allocator"), at_least_a_byte(size)
        address = address_or_error(c.memspan_alloc_on(handle, size, handle_of(queue, "Queue")))
        vars(self).update(queue=queue)
        self._own(allocator, address, size, queue.handle)
