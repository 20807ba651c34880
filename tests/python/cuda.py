# SPDX-License-Identifier: BSD-3-Clause
"""Exports of a CUDA device's memory, on the pretended driver of tests/fakes/cuda with two GPUs."""

import memspan
from memspan import HOST

managed = memspan.Space(1, HOST).allocator(memory_access="managed").empty((2, 3), "c8")
interface = managed.__cuda_array_interface__
assert interface == dict(version=3, data=(managed.address, False), typestr="<c8", shape=(2, 3),
                         strides=None, stream=None), interface
assert managed.__dlpack_device__() == (13, 0)
managed.__dlpack__(stream=1, dl_device=(1, 0))
managed.__dlpack__(stream=-1, dl_device=(2, 1), max_version=(1, 0))
assert managed.__array_interface__["data"] == interface["data"]
device = memspan.Space(1).allocator().empty(4)
assert device.__dlpack_device__() == (2, 1) and device.__cuda_array_interface__["shape"] == (4,)
pinned = memspan.Space(0, HOST).allocator(pinned=True).empty(4)
assert pinned.__dlpack_device__() == (1, 0) and pinned.block.kind == memspan.Kind.HOST_PINNED
assert pinned.__cuda_array_interface__["typestr"] == "<f8"
empty = managed.view("f8", (0, 3))  # no pointer, by both protocols
assert empty.__cuda_array_interface__["data"] == (0, False)
assert empty.nbytes == 0 and empty.__dlpack_device__() == (13, 0)
assert not hasattr(memspan.Allocator().empty(4), "__cuda_array_interface__")
