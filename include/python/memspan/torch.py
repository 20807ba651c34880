# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's tensors from Memspan: device memory in the order of PyTorch's streams.

    import memspan.torch
    memspan.torch.use()     # before the first tensor of a device

PyTorch 2 has a hook for each event that decides when memory may be used again. Where it lacks one,
a free waits for all work on the device. memspan_torch_alloc(3) is the manual.
"""

import ctypes

import torch
from torch.cuda.memory import CUDAPluggableAllocator, change_current_allocator

from ._library import c

_HOOKS = (("set_record_stream_fn", "memspan_torch_record_stream"),
          ("set_begin_allocate_to_pool", "memspan_torch_pool_begin"),
          ("set_end_allocate_to_pool_fn", "memspan_torch_pool_end"),
          ("set_release_pool", "memspan_torch_pool_release"))


def _address(name):
    return ctypes.cast(getattr(c, name), ctypes.c_void_p).value


def allocator():
    """A CUDAPluggableAllocator with all hooks. RuntimeError: this PyTorch has no devices."""
    try:
        made = CUDAPluggableAllocator(c._library._name, "memspan_torch_alloc",
                                      "memspan_torch_free")
    except AttributeError as error:
        raise RuntimeError(f"PyTorch {torch.__version__} takes no allocator, since it was built "
                           f"without CUDA and ROCm ({error}): install a PyTorch that has one of "
                           "them; tensors of the host stay as they are") from error
    inner = made.allocator()
    if all(hasattr(inner, setter) for setter, _ in _HOOKS):
        for setter, name in _HOOKS:
            getattr(inner, setter)(_address(name))
        c.memspan_torch_hooks()
    if hasattr(inner, "set_reset_fn"):
        inner.set_reset_fn(_address("memspan_torch_reset"))
    return made


def use():
    """All tensors of devices come from Memspan from now on."""
    change_current_allocator(allocator())
