# SPDX-License-Identifier: BSD-3-Clause
"""How queues end, on any thread, and what they keep: on the pretended CUDA driver, which runs work and
calls functions on threads of its own."""

import gc
import os
import threading
import time

import memspan
from memspan import Queue


def refused(function):
    try:
        function()
    except memspan.Error as error:
        assert error.status == memspan.Status.ERR_CONFLICT, error
        return
    raise AssertionError("not refused")


def until(holds, what):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, what
        gc.collect()
        time.sleep(0.01)


def threads_of_process():
    return len(os.listdir("/proc/self/task"))


def dies(error):
    """Its last reference goes in its own function, or with the exception of that."""
    held, may_go = [Queue(0)], threading.Event()

    def function():
        may_go.wait()
        queue = held.pop()
        refused(queue.close)
        refused(queue.synchronize)
        if error:
            raise error

    held[0].call(function)
    may_go.set()


def queues():
    before, said = threads_of_process(), []
    hook, threading.excepthook = threading.excepthook, lambda args: said.append(args.exc_type)
    for _ in range(20):
        dies(None)
        dies(KeyError())
    until(lambda: threads_of_process() <= before and len(said) == 20, "queues that never end")
    threading.excepthook = hook
    assert set(said) == {KeyError}
    # A queue keeps the memory of its work, and no more than that.
    queue, allocator = Queue(0), memspan.Space(0).allocator()
    gate, there = threading.Event(), allocator.block(2**16)
    queue.call(gate.wait)
    for i in range(200):
        queue.copy(there, bytes([i]) * 2**16)
    gc.collect()
    del there
    result = bytearray(2**16)
    assert allocator.stats().live_count == 1, "the work uses it"
    gate.set()
    queue.synchronize()
    until(lambda: allocator.stats().live_count == 0, "the block of work that is complete")
    for _ in range(1000):
        queue.fill(result)
    until(lambda: queue.fill(result) or len(queue.kept) + sum(len(kept) for _, kept in queue.passed) < 200,
          "a queue without synchronize() keeps everything")


queues()
