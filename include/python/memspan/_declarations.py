# SPDX-License-Identifier: BSD-3-Clause
"""Written by ../declarations.py from the C headers; not edited."""

from ctypes import *


class memspan_error_t(Structure):
    _enums_ = dict(status='memspan_status_t')
    _fields_ = [("status", c_int), ("message", c_char_p), ("hint", c_char_p),
                ("backend", c_char_p), ("call", c_char_p), ("native_code", c_long),
                ("native_text", c_char_p)]


class memspan_reach_t(Structure):
    _enums_ = dict(access='memspan_access_t', coherence='memspan_coherence_t')
    _fields_ = [("access", c_int), ("coherence", c_int)]


class memspan_device_mode_t(Structure):
    _fields_ = [("name", c_char * 32), ("on", c_int), ("source", c_char * 112),
                ("remedy", c_char * 192)]


class memspan_device_info_t(Structure):
    _fields_ = [("struct_size", c_size_t), ("number", c_int), ("ordinal", c_int),
                ("backend", c_char * 16), ("name", c_char * 96), ("vendor", c_char * 64),
                ("driver", c_char * 96), ("uid", c_char * 72), ("pci_address", c_char * 16),
                ("numa_node", c_int), ("capacity_bytes", c_uint64),
                ("capacity_source", c_char * 32), ("free_bytes", c_uint64),
                ("alloc_max_bytes", c_uint64), ("page_size_bytes", c_uint64), ("kinds", c_uint),
                ("kinds_without_gain", c_uint), ("kinds_migratable", c_uint),
                ("capabilities", c_uint), ("kind_note", c_char * 128 * 6),
                ("capability_note", c_char * 112 * 16), ("modes", memspan_device_mode_t * 4)]


class memspan_backend_info_t(Structure):
    _enums_ = dict(status='memspan_status_t')
    _fields_ = [("struct_size", c_size_t), ("name", c_char * 16), ("title", c_char * 64),
                ("origin", c_char * 128), ("on", c_int), ("device_count", c_int),
                ("status", c_int), ("reason", c_char * 256), ("hint", c_char * 192)]


class memspan_numa_node_info_t(Structure):
    _enums_ = dict(kind='memspan_numa_node_kind_t')
    _fields_ = [("struct_size", c_size_t), ("os_index", c_int), ("logical_index", c_int),
                ("kind", c_int), ("capacity_bytes", c_uint64), ("free_bytes", c_uint64),
                ("bandwidth_mib_per_s", c_uint64), ("latency_ns", c_uint64),
                ("performance_source", c_char * 32), ("pu_count", c_int), ("pus", c_char * 128),
                ("bandwidth_rank", c_int), ("latency_rank", c_int), ("capacity_rank", c_int),
                ("owner", c_char * 32), ("note", c_char * 256)]


class memspan_resource_info_t(Structure):
    _enums_ = dict(kind='memspan_kind_t')
    _fields_ = [("struct_size", c_size_t), ("kind", c_int), ("home", c_int), ("numa_node", c_int),
                ("name", c_char * 48), ("capacity_bytes", c_uint64), ("page_size_bytes", c_uint64)]


class memspan_space_info_t(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char * 64), ("base", c_void_p),
                ("target", c_int), ("host", c_int), ("device_count", c_size_t),
                ("devices", c_int * 32), ("note", c_char * 160)]


class memspan_trait_t(Structure):
    _enums_ = dict(key='memspan_trait_key_t')
    _fields_ = [("key", c_int), ("value", c_size_t)]


class memspan_allocator_info_t(Structure):
    _enums_ = dict(kind_asked='memspan_kind_t', kind_given='memspan_kind_t')
    _fields_ = [("struct_size", c_size_t), ("space", c_void_p), ("kind_asked", c_int),
                ("kind_given", c_int), ("home", c_int), ("resident_device", c_int),
                ("numa_node", c_int), ("page_size_bytes", c_size_t), ("align_bytes", c_size_t),
                ("pool_size_bytes", c_size_t), ("pinned", c_int), ("migratable", c_int),
                ("exact", c_int), ("fallback", c_void_p), ("aborts", c_int), ("why", c_char * 512),
                ("shareable", c_int), ("serves", c_int), ("name", c_char * 32)]


class memspan_pointer_info_t(Structure):
    _enums_ = dict(kind_asked='memspan_kind_t', kind_given='memspan_kind_t')
    _fields_ = [("struct_size", c_size_t), ("allocator", c_void_p), ("space", c_void_p),
                ("base", c_void_p), ("size_bytes", c_size_t), ("kind_asked", c_int),
                ("kind_given", c_int), ("home", c_int), ("resident_device", c_int),
                ("numa_node", c_int), ("page_size_bytes", c_size_t), ("pinned", c_int),
                ("migratable", c_int), ("fallback", c_int), ("why", c_char * 512),
                ("shareable", c_int), ("opened", c_int)]


class memspan_allocator_stats_t(Structure):
    _fields_ = [("struct_size", c_size_t), ("live_bytes", c_uint64), ("live_count", c_uint64),
                ("peak_bytes", c_uint64), ("charged_bytes", c_uint64),
                ("allocated_count", c_uint64), ("freed_count", c_uint64),
                ("failed_count", c_uint64), ("fallback_count", c_uint64), ("held_bytes", c_uint64),
                ("free_bytes", c_uint64), ("largest_free_bytes", c_uint64),
                ("fragmentation", c_double)]


class memspan_option_info_t(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("form", c_char_p),
                ("fallback", c_char_p), ("help", c_char_p), ("value", c_char_p),
                ("source", c_char_p), ("problem", c_char_p)]


class memspan_hook_block_t(Structure):
    _enums_ = dict(kind='memspan_kind_t')
    _fields_ = [("struct_size", c_size_t), ("address", c_void_p), ("size_bytes", c_size_t),
                ("allocator", c_void_p), ("space", c_void_p), ("kind", c_int), ("device", c_int),
                ("fallback", c_int)]


class memspan_hook_chunk_t(Structure):
    _enums_ = dict(kind='memspan_kind_t')
    _fields_ = [("struct_size", c_size_t), ("backend", c_char_p), ("device", c_int),
                ("kind", c_int), ("address", c_void_p), ("size_bytes", c_size_t),
                ("held_bytes", c_uint64), ("duration_ns", c_uint64)]


class memspan_hook_request_t(Structure):
    _fields_ = [("struct_size", c_size_t), ("asked", c_void_p), ("given", c_void_p),
                ("size_bytes", c_size_t), ("address", c_void_p)]


class memspan_hooks_t(Structure):
    _fields_ = [("struct_size", c_size_t), ("data", c_void_p),
                ("allocated", CFUNCTYPE(None, c_void_p, POINTER(memspan_hook_block_t))),
                ("freeing", CFUNCTYPE(None, c_void_p, POINTER(memspan_hook_block_t))),
                ("reallocated", CFUNCTYPE(None, c_void_p, POINTER(memspan_hook_block_t),
                POINTER(memspan_hook_block_t))),
                ("chunk_taken", CFUNCTYPE(None, c_void_p, POINTER(memspan_hook_chunk_t))),
                ("chunk_giving_back", CFUNCTYPE(None, c_void_p, POINTER(memspan_hook_chunk_t))),
                ("fallback_used", CFUNCTYPE(None, c_void_p, POINTER(memspan_hook_request_t))),
                ("failed", CFUNCTYPE(None, c_void_p, POINTER(memspan_hook_request_t)))]


class memspan_kernel_call_t(Structure):
    _enums_ = dict(kernel='memspan_kernel_t')
    _fields_ = [("struct_size", c_size_t), ("kernel", c_int), ("count", c_size_t), ("a", c_double),
                ("x", c_void_p), ("y", c_void_p), ("z", c_void_p)]


ENUMS = dict([
    ('memspan_status_t', """
        MEMSPAN_OK MEMSPAN_ERR_INVALID MEMSPAN_ERR_CONFLICT MEMSPAN_ERR_AMBIGUOUS
        MEMSPAN_ERR_NOT_FOUND MEMSPAN_ERR_CONFIG MEMSPAN_ERR_UNREACHABLE
        MEMSPAN_ERR_UNSUPPORTED MEMSPAN_ERR_NOT_GUARANTEED MEMSPAN_ERR_NO_MEMORY
        MEMSPAN_ERR_LIMIT MEMSPAN_ERR_PERMISSION MEMSPAN_ERR_OFF MEMSPAN_ERR_ABI
        MEMSPAN_ERR_DRIVER MEMSPAN_ERR_FORKED MEMSPAN_ERR_INTERNAL"""),
    ('memspan_kind_t', """
        MEMSPAN_KIND_NONE MEMSPAN_KIND_HOST MEMSPAN_KIND_HOST_PINNED MEMSPAN_KIND_MANAGED
        MEMSPAN_KIND_COHERENT MEMSPAN_KIND_DEVICE MEMSPAN_KIND_COUNT"""),
    ('memspan_access_t', """
        MEMSPAN_ACCESS_NONE MEMSPAN_ACCESS_COPY MEMSPAN_ACCESS_REGISTER MEMSPAN_ACCESS_FAULT
        MEMSPAN_ACCESS_REMOTE MEMSPAN_ACCESS_LOCAL"""),
    ('memspan_coherence_t', """
        MEMSPAN_COHERENCE_NONE MEMSPAN_COHERENCE_SYNC MEMSPAN_COHERENCE_CONCURRENT
        MEMSPAN_COHERENCE_ATOMIC"""),
    ('memspan_capability', """
        MEMSPAN_CAN_SHARE_ADDRESSES MEMSPAN_CAN_ACCESS_CONCURRENT MEMSPAN_CAN_ACCESS_PAGEABLE
        MEMSPAN_CAN_HOST_ATOMICS MEMSPAN_CAN_IMPORT MEMSPAN_CAN_PREFETCH MEMSPAN_CAN_IPC
        MEMSPAN_CAN_DMABUF MEMSPAN_CAN_RDMA MEMSPAN_CAN_KERNELS MEMSPAN_CAN_UNIFIED_PHYSICAL"""),
    ('memspan_numa_node_kind_t', """
        MEMSPAN_NUMA_NODE_DRAM MEMSPAN_NUMA_NODE_HBM MEMSPAN_NUMA_NODE_PMEM
        MEMSPAN_NUMA_NODE_CXL MEMSPAN_NUMA_NODE_GPU MEMSPAN_NUMA_NODE_OTHER"""),
    ('memspan_trait_key_t', """
        MEMSPAN_TRAIT_SYNC_HINT MEMSPAN_TRAIT_ALIGNMENT MEMSPAN_TRAIT_ACCESS
        MEMSPAN_TRAIT_POOL_SIZE MEMSPAN_TRAIT_FALLBACK MEMSPAN_TRAIT_FB_DATA
        MEMSPAN_TRAIT_PINNED MEMSPAN_TRAIT_PARTITION MEMSPAN_TRAIT_PIN_DEVICE
        MEMSPAN_TRAIT_PREFERRED_DEVICE MEMSPAN_TRAIT_DEVICE_ACCESS MEMSPAN_TRAIT_TARGET_ACCESS
        MEMSPAN_TRAIT_ATOMIC_SCOPE MEMSPAN_TRAIT_PART_SIZE MEMSPAN_TRAIT_PARTITIONER
        MEMSPAN_TRAIT_PARTITIONER_ARG MEMSPAN_TRAIT_MEMORY_ACCESS
        MEMSPAN_TRAIT_PREFERRED_LOCATION MEMSPAN_TRAIT_PREFERRED_PLACE MEMSPAN_TRAIT_GUARANTEE
        MEMSPAN_TRAIT_PAGE_SIZE MEMSPAN_TRAIT_SHAREABLE"""),
    ('memspan_trait_value_t', """
        MEMSPAN_VALUE_FALSE MEMSPAN_VALUE_TRUE MEMSPAN_VALUE_CONTENDED
        MEMSPAN_VALUE_UNCONTENDED MEMSPAN_VALUE_SERIALIZED MEMSPAN_VALUE_PRIVATE
        MEMSPAN_VALUE_DEVICE MEMSPAN_VALUE_THREAD MEMSPAN_VALUE_PTEAM MEMSPAN_VALUE_CGROUP
        MEMSPAN_VALUE_DEFAULT_MEM_FB MEMSPAN_VALUE_NULL_FB MEMSPAN_VALUE_ABORT_FB
        MEMSPAN_VALUE_ALLOCATOR_FB MEMSPAN_VALUE_ENVIRONMENT MEMSPAN_VALUE_NEAREST
        MEMSPAN_VALUE_BLOCKED MEMSPAN_VALUE_INTERLEAVED MEMSPAN_VALUE_ALL MEMSPAN_VALUE_SINGLE
        MEMSPAN_VALUE_MULTIPLE MEMSPAN_VALUE_MEMSPACE MEMSPAN_VALUE_PARTITIONER
        MEMSPAN_VALUE_MANAGED MEMSPAN_VALUE_COHERENT MEMSPAN_VALUE_PREFERRED
        MEMSPAN_VALUE_REQUIRED"""),
    ('memspan_kernel_t', """
        MEMSPAN_KERNEL_DAXPY MEMSPAN_KERNEL_FILL MEMSPAN_KERNEL_SUM MEMSPAN_KERNEL_CHASE
        MEMSPAN_KERNEL_ADD_ATOMIC MEMSPAN_KERNEL_COMBINE_FIRST MEMSPAN_KERNEL_COMBINE_LAST"""),
    ('memspan_operation_t', """
        MEMSPAN_OPERATION_SUM MEMSPAN_OPERATION_PROD MEMSPAN_OPERATION_MIN
        MEMSPAN_OPERATION_MAX MEMSPAN_OPERATION_AND MEMSPAN_OPERATION_OR MEMSPAN_OPERATION_XOR
        MEMSPAN_OPERATION_COUNT"""),
    ('memspan_element_t', """
        MEMSPAN_ELEMENT_S8 MEMSPAN_ELEMENT_U8 MEMSPAN_ELEMENT_S16 MEMSPAN_ELEMENT_U16
        MEMSPAN_ELEMENT_S32 MEMSPAN_ELEMENT_U32 MEMSPAN_ELEMENT_S64 MEMSPAN_ELEMENT_U64
        MEMSPAN_ELEMENT_F32 MEMSPAN_ELEMENT_F64 MEMSPAN_ELEMENT_C32 MEMSPAN_ELEMENT_C64
        MEMSPAN_ELEMENT_COUNT"""),
])
CONSTANTS = dict(MEMSPAN_OK=0, MEMSPAN_ERR_INVALID=-1, MEMSPAN_ERR_CONFLICT=-2,
                 MEMSPAN_ERR_AMBIGUOUS=-3, MEMSPAN_ERR_NOT_FOUND=-4, MEMSPAN_ERR_CONFIG=-5,
                 MEMSPAN_ERR_UNREACHABLE=-6, MEMSPAN_ERR_UNSUPPORTED=-7,
                 MEMSPAN_ERR_NOT_GUARANTEED=-8, MEMSPAN_ERR_NO_MEMORY=-9, MEMSPAN_ERR_LIMIT=-10,
                 MEMSPAN_ERR_PERMISSION=-11, MEMSPAN_ERR_OFF=-12, MEMSPAN_ERR_ABI=-13,
                 MEMSPAN_ERR_DRIVER=-14, MEMSPAN_ERR_FORKED=-15, MEMSPAN_ERR_INTERNAL=-16,
                 MEMSPAN_KIND_NONE=0, MEMSPAN_KIND_HOST=1, MEMSPAN_KIND_HOST_PINNED=2,
                 MEMSPAN_KIND_MANAGED=3, MEMSPAN_KIND_COHERENT=4, MEMSPAN_KIND_DEVICE=5,
                 MEMSPAN_KIND_COUNT=6, MEMSPAN_ACCESS_NONE=0, MEMSPAN_ACCESS_COPY=1,
                 MEMSPAN_ACCESS_REGISTER=2, MEMSPAN_ACCESS_FAULT=3, MEMSPAN_ACCESS_REMOTE=4,
                 MEMSPAN_ACCESS_LOCAL=5, MEMSPAN_COHERENCE_NONE=0, MEMSPAN_COHERENCE_SYNC=1,
                 MEMSPAN_COHERENCE_CONCURRENT=2, MEMSPAN_COHERENCE_ATOMIC=3,
                 MEMSPAN_CAN_SHARE_ADDRESSES=1, MEMSPAN_CAN_ACCESS_CONCURRENT=2,
                 MEMSPAN_CAN_ACCESS_PAGEABLE=4, MEMSPAN_CAN_HOST_ATOMICS=8, MEMSPAN_CAN_IMPORT=16,
                 MEMSPAN_CAN_PREFETCH=32, MEMSPAN_CAN_IPC=64, MEMSPAN_CAN_DMABUF=128,
                 MEMSPAN_CAN_RDMA=256, MEMSPAN_CAN_KERNELS=512, MEMSPAN_CAN_UNIFIED_PHYSICAL=1024,
                 MEMSPAN_NUMA_NODE_DRAM=0, MEMSPAN_NUMA_NODE_HBM=1, MEMSPAN_NUMA_NODE_PMEM=2,
                 MEMSPAN_NUMA_NODE_CXL=3, MEMSPAN_NUMA_NODE_GPU=4, MEMSPAN_NUMA_NODE_OTHER=5,
                 MEMSPAN_TRAIT_SYNC_HINT=1, MEMSPAN_TRAIT_ALIGNMENT=2, MEMSPAN_TRAIT_ACCESS=3,
                 MEMSPAN_TRAIT_POOL_SIZE=4, MEMSPAN_TRAIT_FALLBACK=5, MEMSPAN_TRAIT_FB_DATA=6,
                 MEMSPAN_TRAIT_PINNED=7, MEMSPAN_TRAIT_PARTITION=8, MEMSPAN_TRAIT_PIN_DEVICE=9,
                 MEMSPAN_TRAIT_PREFERRED_DEVICE=10, MEMSPAN_TRAIT_DEVICE_ACCESS=11,
                 MEMSPAN_TRAIT_TARGET_ACCESS=12, MEMSPAN_TRAIT_ATOMIC_SCOPE=13,
                 MEMSPAN_TRAIT_PART_SIZE=14, MEMSPAN_TRAIT_PARTITIONER=15,
                 MEMSPAN_TRAIT_PARTITIONER_ARG=16, MEMSPAN_TRAIT_MEMORY_ACCESS=19713,
                 MEMSPAN_TRAIT_PREFERRED_LOCATION=19714, MEMSPAN_TRAIT_PREFERRED_PLACE=19715,
                 MEMSPAN_TRAIT_GUARANTEE=19716, MEMSPAN_TRAIT_PAGE_SIZE=19717,
                 MEMSPAN_TRAIT_SHAREABLE=19718, MEMSPAN_VALUE_FALSE=0, MEMSPAN_VALUE_TRUE=1,
                 MEMSPAN_VALUE_CONTENDED=3, MEMSPAN_VALUE_UNCONTENDED=4,
                 MEMSPAN_VALUE_SERIALIZED=5, MEMSPAN_VALUE_PRIVATE=6, MEMSPAN_VALUE_DEVICE=7,
                 MEMSPAN_VALUE_THREAD=8, MEMSPAN_VALUE_PTEAM=9, MEMSPAN_VALUE_CGROUP=10,
                 MEMSPAN_VALUE_DEFAULT_MEM_FB=11, MEMSPAN_VALUE_NULL_FB=12,
                 MEMSPAN_VALUE_ABORT_FB=13, MEMSPAN_VALUE_ALLOCATOR_FB=14,
                 MEMSPAN_VALUE_ENVIRONMENT=15, MEMSPAN_VALUE_NEAREST=16, MEMSPAN_VALUE_BLOCKED=17,
                 MEMSPAN_VALUE_INTERLEAVED=18, MEMSPAN_VALUE_ALL=19, MEMSPAN_VALUE_SINGLE=20,
                 MEMSPAN_VALUE_MULTIPLE=21, MEMSPAN_VALUE_MEMSPACE=22,
                 MEMSPAN_VALUE_PARTITIONER=23, MEMSPAN_VALUE_MANAGED=19713,
                 MEMSPAN_VALUE_COHERENT=19714, MEMSPAN_VALUE_PREFERRED=19715,
                 MEMSPAN_VALUE_REQUIRED=19716, MEMSPAN_KERNEL_DAXPY=0, MEMSPAN_KERNEL_FILL=1,
                 MEMSPAN_KERNEL_SUM=2, MEMSPAN_KERNEL_CHASE=3, MEMSPAN_KERNEL_ADD_ATOMIC=4,
                 MEMSPAN_KERNEL_COMBINE_FIRST=4096, MEMSPAN_KERNEL_COMBINE_LAST=8191,
                 MEMSPAN_OPERATION_SUM=0, MEMSPAN_OPERATION_PROD=1, MEMSPAN_OPERATION_MIN=2,
                 MEMSPAN_OPERATION_MAX=3, MEMSPAN_OPERATION_AND=4, MEMSPAN_OPERATION_OR=5,
                 MEMSPAN_OPERATION_XOR=6, MEMSPAN_OPERATION_COUNT=7, MEMSPAN_ELEMENT_S8=0,
                 MEMSPAN_ELEMENT_U8=1, MEMSPAN_ELEMENT_S16=2, MEMSPAN_ELEMENT_U16=3,
                 MEMSPAN_ELEMENT_S32=4, MEMSPAN_ELEMENT_U32=5, MEMSPAN_ELEMENT_S64=6,
                 MEMSPAN_ELEMENT_U64=7, MEMSPAN_ELEMENT_F32=8, MEMSPAN_ELEMENT_F64=9,
                 MEMSPAN_ELEMENT_C32=10, MEMSPAN_ELEMENT_C64=11, MEMSPAN_ELEMENT_COUNT=12,
                 MEMSPAN_VERSION_MAJOR=0, MEMSPAN_VERSION_MINOR=1, MEMSPAN_VERSION_PATCH=0,
                 MEMSPAN_VERSION_STRING='0.1.0', MEMSPAN_HOST=-1,
                 MEMSPAN_UNKNOWN=18446744073709551615, MEMSPAN_CAPABILITY_ROOM=16,
                 MEMSPAN_MODE_ROOM=4, MEMSPAN_SPACE_NULL=0, MEMSPAN_SPACE_LARGE_CAP=1,
                 MEMSPAN_SPACE_CONST=2, MEMSPAN_SPACE_HIGH_BW=3, MEMSPAN_SPACE_LOW_LAT=4,
                 MEMSPAN_SPACE_DEFAULT=99, MEMSPAN_VALUE_DEFAULT=18446744073709551615,
                 MEMSPAN_ALLOCATOR_NULL=0, MEMSPAN_ALLOCATOR_DEFAULT=1,
                 MEMSPAN_ALLOCATOR_LARGE_CAP=2, MEMSPAN_ALLOCATOR_CONST=3,
                 MEMSPAN_ALLOCATOR_HIGH_BW=4, MEMSPAN_ALLOCATOR_LOW_LAT=5,
                 MEMSPAN_ALLOCATOR_CGROUP=6, MEMSPAN_ALLOCATOR_PTEAM=7, MEMSPAN_ALLOCATOR_THREAD=8,
                 MEMSPAN_PLACEMENT_BYTES=65536, MEMSPAN_CALL_SITE_BYTES=2048,
                 MEMSPAN_SHARE_ITS_DEVICE=-19713, MEMSPAN_SHARE_TOKEN_MAX_BYTES=1024)
# (result, arguments...), names; no dictionary, for int and int32_t are one type.
FUNCTIONS = [
    ((POINTER(memspan_error_t),), "memspan_error_last"),
    ((None,), "memspan_error_clear"),
    ((c_char_p,), "memspan_error_text memspan_version"),
    ((c_char_p, c_int), """
        memspan_status_name memspan_status_text memspan_kind_name memspan_access_name
        memspan_coherence_name memspan_backend_name memspan_numa_node_kind_name
        memspan_trait_key_text memspan_option_problem"""),
    ((c_int,), """
        memspan_device_count memspan_host_device memspan_backend_count memspan_numa_node_count
        memspan_check memspan_option_count memspan_option_problem_count"""),
    ((c_int, c_int, POINTER(c_int)), "memspan_device_at"),
    ((c_int, c_int, POINTER(memspan_device_info_t)), "memspan_device_describe"),
    ((c_int, c_int, c_int, c_int, POINTER(memspan_reach_t)), "memspan_device_reach"),
    ((c_int, c_int, c_int, c_int, c_char_p, c_size_t), "memspan_device_reach_source"),
    ((c_int, c_int), "memspan_device_synchronize memspan_stats_print"),
    ((c_int, c_int, POINTER(memspan_backend_info_t)), "memspan_backend_describe"),
    ((c_int, c_int, POINTER(memspan_numa_node_info_t)), "memspan_numa_node_describe"),
    ((c_int, POINTER(c_int), c_size_t, c_void_p, POINTER(c_void_p)), "memspan_space_get"),
    ((c_int, c_void_p, POINTER(c_int), c_size_t, POINTER(c_void_p)), "memspan_space_get_sub"),
    ((c_size_t, c_void_p), "memspan_space_resource_count memspan_space_page_size"),
    ((c_int, c_void_p, c_size_t, POINTER(memspan_resource_info_t)), "memspan_space_resource"),
    ((c_int, c_void_p, c_size_t, c_int, POINTER(memspan_reach_t)), "memspan_space_reach"),
    ((c_int, c_void_p, POINTER(memspan_space_info_t)), "memspan_space_describe"),
    ((c_int, c_char_p, POINTER(memspan_trait_t), c_size_t, POINTER(c_size_t)), """
        memspan_trait_parse"""),
    ((c_char_p, c_size_t), "memspan_trait_value_text"),
    ((c_int, c_void_p, POINTER(memspan_trait_t), c_size_t, POINTER(c_void_p)), """
        memspan_allocator_create memspan_allocator_derive"""),
    ((c_int, c_void_p, c_char_p), "memspan_allocator_set_name"),
    ((c_int, c_void_p), """
        memspan_allocator_destroy memspan_free memspan_pointer_kind memspan_hooks_remove
        memspan_import_release memspan_share_close"""),
    ((c_void_p, c_void_p, c_size_t), "memspan_alloc"),
    ((c_void_p, c_void_p, c_size_t, c_size_t), "memspan_aligned_alloc memspan_calloc"),
    ((c_void_p, c_void_p, c_size_t, POINTER(memspan_trait_t), c_size_t), "memspan_alloc_with"),
    ((c_void_p, c_void_p, c_void_p, c_size_t), "memspan_realloc"),
    ((c_int, c_void_p, c_void_p, c_size_t), "memspan_free_sized memspan_copy"),
    ((c_int, c_void_p, POINTER(memspan_allocator_info_t)), "memspan_allocator_describe"),
    ((c_int, c_void_p, c_int, POINTER(memspan_reach_t)), """
        memspan_allocator_reach memspan_pointer_reach"""),
    ((c_int, c_void_p, POINTER(memspan_trait_t), c_size_t, POINTER(memspan_allocator_info_t)), """
        memspan_allocator_plan"""),
    ((c_int, c_void_p, POINTER(memspan_pointer_info_t)), "memspan_pointer_describe"),
    ((c_int, c_void_p, POINTER(memspan_allocator_stats_t)), """
        memspan_allocator_get_stats memspan_space_get_stats"""),
    ((c_int, c_int, POINTER(memspan_allocator_stats_t)), "memspan_device_get_stats"),
    ((c_size_t,), "memspan_trim"),
    ((c_int, c_int, POINTER(memspan_option_info_t)), "memspan_option_describe"),
    ((c_int, POINTER(memspan_hooks_t), POINTER(c_void_p)), "memspan_hooks_add"),
    ((c_int, c_void_p, c_size_t, POINTER(c_int), c_size_t), "memspan_import"),
    ((c_int, c_char_p, c_size_t), "memspan_call_site"),
    ((c_void_p,), "memspan_placement_find memspan_services_get"),
    ((c_int, c_void_p, c_void_p, POINTER(c_size_t)), "memspan_share_export"),
    ((c_int, c_void_p, c_size_t, c_int, POINTER(c_void_p), POINTER(c_size_t)), """
        memspan_share_import"""),
    ((c_int, c_void_p, c_size_t, POINTER(c_int), POINTER(c_uint64)), "memspan_share_dmabuf"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_size_t, c_size_t, c_size_t), "memspan_copy_blocks"),
    ((c_int, c_void_p, c_ubyte, c_size_t), "memspan_fill"),
    ((c_int, c_void_p, c_size_t, c_int), "memspan_prefetch"),
    ((c_int, c_void_p, c_void_p), "memspan_move"),
    ((c_int, c_int, POINTER(memspan_kernel_call_t)), "memspan_kernel_launch"),
    ((c_int, c_void_p, c_size_t), "memspan_map_symmetric"),
    ((c_int, c_size_t), "memspan_map_symmetric_allocator"),
    ((None, CFUNCTYPE(c_void_p, c_size_t, c_size_t, c_int), CFUNCTYPE(None, c_void_p)), """
        memspan_symmetric_allocator_set"""),
]
