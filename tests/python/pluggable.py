# SPDX-License-Identifier: BSD-3-Clause
"""memspan_torch_alloc() and memspan_torch_free(), called as PyTorch calls them: by the library's
path and their names, with the driver's device numbers. On the pretended CUDA driver of
tests/fakes/cuda with two GPUs, whose numbers differ from Memspan's. FAILS: waits fail."""

import ctypes
import os
import sys

import memspan
from memspan import Kind, Status

library = ctypes.CDLL(os.environ["MEMSPAN_LIBRARY"])
alloc, free = library.memspan_torch_alloc, library.memspan_torch_free
alloc.restype = ctypes.c_void_p
alloc.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
free.restype = None
free.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
STREAM = 0x40

for ordinal in (0, 1):
    block = alloc(1000, ordinal, STREAM)
    assert block and block % 256 == 0, block
    found = memspan.pointer_describe(block)
    assert found.kind_given == Kind.DEVICE and found.size_bytes == 1000, found
    assert memspan.Device(found.home).describe().ordinal == ordinal

    driver = ctypes.CDLL("libcuda.so.1")
    waits = driver.fake_gpu_calls(b"cuCtxSynchronize")
    free(block, 1000, ordinal, STREAM)
    assert driver.fake_gpu_calls(b"cuCtxSynchronize") == waits + 1
    live = memspan.Space(found.home).stats().live_count
    assert live == (len(sys.argv) > 1), "the wait decides"

assert alloc(0, 0, STREAM) is None
free(None, 0, 0, STREAM)
assert alloc(8, 7, STREAM) is None
assert memspan.c.memspan_error_last().contents.status == Status.ERR_NOT_FOUND

try:
    from torch.cuda.memory import CUDAPluggableAllocator
    from torch._C import _cuda_customAllocator
except ImportError:
    print("PyTorch 2 with CUDA is not here: its class is not made")
else:
    CUDAPluggableAllocator(os.environ["MEMSPAN_LIBRARY"], "memspan_torch_alloc",
                           "memspan_torch_free")
