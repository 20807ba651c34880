# SPDX-License-Identifier: BSD-3-Clause
"""Written by ../declarations.py from the C headers; not edited."""

from ctypes import *
from ._declarations import memspan_option_info_t


class shmem_team_config_t(Structure):
    _fields_ = [("num_contexts", c_int)]


class shmem_ctx_session_config_t(Structure):
    _fields_ = [("total_ops", c_size_t)]


class shmemx_partition_info_t(Structure):
    _enums_ = dict(kind_asked='shmemx_kind_t', kind='shmemx_kind_t', policy='shmemx_policy_t')
    _fields_ = [("struct_size", c_size_t), ("id", c_int), ("is_default", c_int),
                ("kind_asked", c_int), ("kind", c_int), ("policy", c_int), ("device", c_int),
                ("capabilities", c_long), ("base", c_void_p), ("size_bytes", c_size_t),
                ("used_bytes", c_size_t), ("largest_bytes", c_size_t),
                ("page_size_bytes", c_size_t), ("team", c_void_p), ("kind_name", c_char * 32),
                ("resource", c_char * 48), ("page_size_asked_bytes", c_size_t),
                ("why", c_char * 256), ("registered_bytes", c_size_t), ("registered_count", c_int),
                ("refused_count", c_int), ("remote", c_char * 256)]


class shmemx_network_info_t(Structure):
    _fields_ = [("struct_size", c_size_t), ("driver", c_char * 128), ("peer_count", c_int),
                ("queue_count", c_int), ("key_count", c_uint64), ("registered_bytes", c_uint64),
                ("message_count", c_uint64), ("message_bytes", c_uint64), ("put_count", c_uint64),
                ("put_bytes", c_uint64), ("get_count", c_uint64), ("get_bytes", c_uint64)]


class shmemx_transport_info_t(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char * 32), ("is_available", c_int),
                ("is_chosen", c_int), ("is_network", c_int), ("target_progresses", c_int),
                ("takes_device_memory", c_int), ("reaches", c_char * 32), ("path", c_char * 128),
                ("why", c_char * 320)]


class shmemx_space_config_t(Structure):
    _enums_ = dict(kind='shmemx_kind_t', policy='shmemx_policy_t')
    _fields_ = [("struct_size", c_size_t), ("size", c_size_t), ("pgsize", c_size_t),
                ("kind", c_int), ("policy", c_int), ("has_device", c_int), ("device", c_int),
                ("num_contexts", c_int), ("hints", c_long), ("name", c_char_p)]


ENUMS = dict([
    ('shmemx_kind_t', """
        SHMEMX_KIND_SYSDEFAULT SHMEMX_KIND_NORMALMEM SHMEMX_KIND_FASTMEM SHMEMX_KIND_LIBOMP
        SHMEMX_KIND_PINNED SHMEMX_KIND_MANAGED SHMEMX_KIND_COHERENT SHMEMX_KIND_DEVICE"""),
    ('shmemx_policy_t', """
        SHMEMX_POLICY_SYSDEFAULT SHMEMX_POLICY_MANDATORY SHMEMX_POLICY_PREFERRED
        SHMEMX_POLICY_INTERLEAVED"""),
])
CONSTANTS = dict(SHMEMX_KIND_SYSDEFAULT=0, SHMEMX_KIND_NORMALMEM=1, SHMEMX_KIND_FASTMEM=2,
                 SHMEMX_KIND_LIBOMP=3, SHMEMX_KIND_PINNED=4, SHMEMX_KIND_MANAGED=5,
                 SHMEMX_KIND_COHERENT=6, SHMEMX_KIND_DEVICE=7, SHMEMX_POLICY_SYSDEFAULT=0,
                 SHMEMX_POLICY_MANDATORY=1, SHMEMX_POLICY_PREFERRED=2, SHMEMX_POLICY_INTERLEAVED=3,
                 SHMEM_CTX_INVALID=0, SHMEM_CTX_DEFAULT=1, SHMEM_TEAM_INVALID=0,
                 SHMEM_TEAM_WORLD=1, SHMEM_TEAM_SHARED=2, SHMEM_TEAM_NUM_CONTEXTS=1,
                 SHMEM_CTX_SESSION_TOTAL_OPS=1, SHMEM_CTX_SESSION_BATCH=1, SHMEM_MAJOR_VERSION=1,
                 SHMEM_MINOR_VERSION=6, SHMEM_MAX_NAME_LEN=256,
                 SHMEM_VENDOR_STRING='Memspan 0.1.0', SHMEM_THREAD_SINGLE=0,
                 SHMEM_THREAD_FUNNELED=1, SHMEM_THREAD_SERIALIZED=2, SHMEM_THREAD_MULTIPLE=3,
                 SHMEM_CTX_PRIVATE=1, SHMEM_CTX_SERIALIZED=2, SHMEM_CTX_NOSTORE=4,
                 SHMEM_SIGNAL_SET=0, SHMEM_SIGNAL_ADD=1, SHMEM_MALLOC_ATOMICS_REMOTE=1,
                 SHMEM_MALLOC_SIGNAL_REMOTE=2, SHMEM_CMP_EQ=1, SHMEM_CMP_NE=2, SHMEM_CMP_GT=3,
                 SHMEM_CMP_GE=4, SHMEM_CMP_LT=5, SHMEM_CMP_LE=6, SHMEM_SYNC_VALUE=0,
                 SHMEM_SYNC_SIZE=32, SHMEM_BARRIER_SYNC_SIZE=32, SHMEM_BCAST_SYNC_SIZE=32,
                 SHMEM_COLLECT_SYNC_SIZE=32, SHMEM_REDUCE_SYNC_SIZE=32,
                 SHMEM_ALLTOALL_SYNC_SIZE=32, SHMEM_ALLTOALLS_SYNC_SIZE=32,
                 SHMEM_REDUCE_MIN_WRKDATA_SIZE=8, _SHMEM_SYNC_VALUE=0, _SHMEM_BARRIER_SYNC_SIZE=32,
                 _SHMEM_BCAST_SYNC_SIZE=32, _SHMEM_COLLECT_SYNC_SIZE=32,
                 _SHMEM_REDUCE_SYNC_SIZE=32, _SHMEM_REDUCE_MIN_WRKDATA_SIZE=8,
                 _SHMEM_MAJOR_VERSION=1, _SHMEM_MINOR_VERSION=6, _SHMEM_MAX_NAME_LEN=256,
                 _SHMEM_VENDOR_STRING='Memspan 0.1.0', _SHMEM_CMP_EQ=1, _SHMEM_CMP_NE=2,
                 _SHMEM_CMP_GT=3, _SHMEM_CMP_GE=4, _SHMEM_CMP_LT=5, _SHMEM_CMP_LE=6,
                 SHMEM_MAX_PARTITIONS=64, SHMEM_MAX_PARTITION_ID=1023, SHMEMX_PARTITION_NONE=-1,
                 SHMEMX_PARTITION_STATIC=-3, SHMEMX_CAP_RMA=1, SHMEMX_CAP_COLLECTIVES=2,
                 SHMEMX_CAP_ATOMICS=4, SHMEMX_CAP_DIRECT_ACCESS=8, SHMEMX_CAP_WORLD_ACCESS=16,
                 SHMEMX_CAP_IDENT_ADDR=32, SHMEMX_CAP_PEER_ACCESS=64, SHMEMX_CAP_WAIT=128,
                 SHMEMX_CAP_PEER_COPY=256, SHMEMX_SPACE_INVALID=0, SHMEMX_SPACE_DEFAULT=1,
                 SHMEMX_SPACE_LAT_PREFERRED=1, SHMEMX_SPACE_MR_PREFERRED=2,
                 SHMEMX_EXTERNAL_HEAP_ZE=0, SHMEMX_EXTERNAL_HEAP_CUDA=1,
                 SHMEMX_EXTERNAL_HEAP_HIP=2, SHMEMX_EXTERNAL_HEAP_HOST=3,
                 SHMEMX_MALLOC_NO_BARRIER=256, SHMEMX_MALLOC_HIGH_BW=512,
                 SHMEMX_MALLOC_LOW_LAT=1024, SHMEMX_MALLOC_NEAR_NIC=2048,
                 SHMEMX_MALLOC_DEVICE=4096, SHMEMX_TEAM_NODE=2, SHMEMX_CTX_SESSION_TOTAL_OPS=1,
                 SHMEMX_CTX_SESSION_BATCH=1)
# (result, arguments...), names; no dictionary, for int and int32_t are one type.
FUNCTIONS = [
    ((None,), """
        shmem_init shmem_finalize shmem_barrier_all shmem_sync_all shmem_fence shmem_quiet
        shmem_set_cache_inv shmem_clear_cache_inv shmem_udcflush shmemx_buffer_unregister_all
        shmemx_heap_preinit shmemx_heap_postinit"""),
    ((c_int, c_int, c_void_p), "shmem_init_thread shmemx_heap_preinit_thread"),
    ((None, c_int), "shmem_global_exit start_pes"),
    ((None, c_void_p), """
        shmem_query_initialized shmem_query_thread shmem_info_get_name shmem_free shfree
        shmem_team_destroy shmem_ctx_destroy shmem_ctx_session_stop shmem_ctx_fence
        shmem_ctx_quiet shmem_set_lock shmem_clear_lock shmem_set_cache_line_inv
        shmem_clear_cache_line_inv shmem_udcflush_line shmemx_partition_free
        shmem_partition_free shmemx_ctx_session_stop"""),
    ((c_int,), "shmem_my_pe shmem_n_pes _my_pe _num_pes shmemx_partition_count"),
    ((c_int, c_int), "shmem_pe_accessible"),
    ((c_int, c_void_p, c_int), """
        shmem_addr_accessible shmem_int_g shmem_int_atomic_fetch shmem_int_atomic_fetch_inc
        shmem_int_fetch shmem_int_finc shmemx_partition_ids"""),
    ((c_void_p, c_void_p, c_int), "shmem_ptr"),
    ((c_void_p, c_void_p, c_void_p, c_int), "shmem_team_ptr shmemx_space_ptr"),
    ((None, c_void_p, c_void_p), "shmem_info_get_version shmemx_space_free shmemx_free_by_name"),
    ((None, c_int, c_void_p), "shmem_pcontrol shmemx_free_by_index"),
    ((c_void_p, c_size_t), "shmem_malloc shmalloc"),
    ((c_void_p, c_size_t, c_size_t), "shmem_calloc shmem_align shmemalign"),
    ((c_void_p, c_size_t, c_long), "shmem_malloc_with_hints"),
    ((c_void_p, c_void_p, c_size_t), """
        shmem_realloc shrealloc shmemx_space_malloc shmemx_malloc_by_name"""),
    ((c_int, c_void_p), """
        shmem_team_my_pe shmem_team_n_pes shmem_team_sync shmem_test_lock shmemx_partition_of
        shmemx_space_detach shmemx_space_destroy shmemx_space_is_available
        shmemx_space_partition shmemx_name_to_index shmemx_buffer_unregister"""),
    ((c_int, c_void_p, c_int, c_void_p), "shmem_team_translate_pe"),
    ((c_int, c_void_p, c_long, POINTER(shmem_team_config_t)), "shmem_team_get_config"),
    ((c_int, c_void_p, c_int, c_int, c_int, POINTER(shmem_team_config_t), c_long, c_void_p), """
        shmem_team_split_strided"""),
    ((c_int, c_void_p, c_int, POINTER(shmem_team_config_t), c_long, c_void_p,
     POINTER(shmem_team_config_t), c_long,
     c_void_p), """
        shmem_team_split_2d"""),
    ((c_int, c_long, c_void_p), "shmem_ctx_create"),
    ((c_int, c_void_p, c_long, c_void_p), "shmem_team_create_ctx shmemx_space_create_ctx"),
    ((c_int, c_void_p, c_void_p), """
        shmem_ctx_get_team shmemx_space_attach shmemx_space_get_team
        shmemx_space_get_device_type shmemx_space_get_caps"""),
    ((None, c_void_p, c_long, POINTER(shmem_ctx_session_config_t), c_long), """
        shmem_ctx_session_start shmemx_ctx_session_start"""),
    ((None, c_void_p, c_void_p, c_size_t, c_int), """
        shmem_float_put shmem_double_put shmem_longdouble_put shmem_char_put shmem_schar_put
        shmem_short_put shmem_int_put shmem_long_put shmem_longlong_put shmem_ptrdiff_put
        shmem_uchar_put shmem_ushort_put shmem_int8_put shmem_int16_put shmem_uint8_put
        shmem_uint16_put shmem_size_put shmem_uint_put shmem_ulong_put shmem_ulonglong_put
        shmem_int32_put shmem_int64_put shmem_uint32_put shmem_uint64_put shmem_put8
        shmem_put16 shmem_put32 shmem_put64 shmem_put128 shmem_putmem shmem_float_get
        shmem_double_get shmem_longdouble_get shmem_char_get shmem_schar_get shmem_short_get
        shmem_int_get shmem_long_get shmem_longlong_get shmem_ptrdiff_get shmem_uchar_get
        shmem_ushort_get shmem_int8_get shmem_int16_get shmem_uint8_get shmem_uint16_get
        shmem_size_get shmem_uint_get shmem_ulong_get shmem_ulonglong_get shmem_int32_get
        shmem_int64_get shmem_uint32_get shmem_uint64_get shmem_get8 shmem_get16 shmem_get32
        shmem_get64 shmem_get128 shmem_getmem shmem_float_put_nbi shmem_double_put_nbi
        shmem_longdouble_put_nbi shmem_char_put_nbi shmem_schar_put_nbi shmem_short_put_nbi
        shmem_int_put_nbi shmem_long_put_nbi shmem_longlong_put_nbi shmem_ptrdiff_put_nbi
        shmem_uchar_put_nbi shmem_ushort_put_nbi shmem_int8_put_nbi shmem_int16_put_nbi
        shmem_uint8_put_nbi shmem_uint16_put_nbi shmem_size_put_nbi shmem_uint_put_nbi
        shmem_ulong_put_nbi shmem_ulonglong_put_nbi shmem_int32_put_nbi shmem_int64_put_nbi
        shmem_uint32_put_nbi shmem_uint64_put_nbi shmem_put8_nbi shmem_put16_nbi
        shmem_put32_nbi shmem_put64_nbi shmem_put128_nbi shmem_putmem_nbi shmem_float_get_nbi
        shmem_double_get_nbi shmem_longdouble_get_nbi shmem_char_get_nbi shmem_schar_get_nbi
        shmem_short_get_nbi shmem_int_get_nbi shmem_long_get_nbi shmem_longlong_get_nbi
        shmem_ptrdiff_get_nbi shmem_uchar_get_nbi shmem_ushort_get_nbi shmem_int8_get_nbi
        shmem_int16_get_nbi shmem_uint8_get_nbi shmem_uint16_get_nbi shmem_size_get_nbi
        shmem_uint_get_nbi shmem_ulong_get_nbi shmem_ulonglong_get_nbi shmem_int32_get_nbi
        shmem_int64_get_nbi shmem_uint32_get_nbi shmem_uint64_get_nbi shmem_get8_nbi
        shmem_get16_nbi shmem_get32_nbi shmem_get64_nbi shmem_get128_nbi shmem_getmem_nbi
        shmem_ctx_size_p shmem_ctx_size_atomic_set shmem_ctx_size_atomic_add
        shmem_size_atomic_swap_nbi shmem_size_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_size_t, c_int), """
        shmem_ctx_float_put shmem_ctx_double_put shmem_ctx_longdouble_put shmem_ctx_char_put
        shmem_ctx_schar_put shmem_ctx_short_put shmem_ctx_int_put shmem_ctx_long_put
        shmem_ctx_longlong_put shmem_ctx_ptrdiff_put shmem_ctx_uchar_put shmem_ctx_ushort_put
        shmem_ctx_int8_put shmem_ctx_int16_put shmem_ctx_uint8_put shmem_ctx_uint16_put
        shmem_ctx_size_put shmem_ctx_uint_put shmem_ctx_ulong_put shmem_ctx_ulonglong_put
        shmem_ctx_int32_put shmem_ctx_int64_put shmem_ctx_uint32_put shmem_ctx_uint64_put
        shmem_ctx_put8 shmem_ctx_put16 shmem_ctx_put32 shmem_ctx_put64 shmem_ctx_put128
        shmem_ctx_putmem shmem_ctx_float_get shmem_ctx_double_get shmem_ctx_longdouble_get
        shmem_ctx_char_get shmem_ctx_schar_get shmem_ctx_short_get shmem_ctx_int_get
        shmem_ctx_long_get shmem_ctx_longlong_get shmem_ctx_ptrdiff_get shmem_ctx_uchar_get
        shmem_ctx_ushort_get shmem_ctx_int8_get shmem_ctx_int16_get shmem_ctx_uint8_get
        shmem_ctx_uint16_get shmem_ctx_size_get shmem_ctx_uint_get shmem_ctx_ulong_get
        shmem_ctx_ulonglong_get shmem_ctx_int32_get shmem_ctx_int64_get shmem_ctx_uint32_get
        shmem_ctx_uint64_get shmem_ctx_get8 shmem_ctx_get16 shmem_ctx_get32 shmem_ctx_get64
        shmem_ctx_get128 shmem_ctx_getmem shmem_ctx_float_put_nbi shmem_ctx_double_put_nbi
        shmem_ctx_longdouble_put_nbi shmem_ctx_char_put_nbi shmem_ctx_schar_put_nbi
        shmem_ctx_short_put_nbi shmem_ctx_int_put_nbi shmem_ctx_long_put_nbi
        shmem_ctx_longlong_put_nbi shmem_ctx_ptrdiff_put_nbi shmem_ctx_uchar_put_nbi
        shmem_ctx_ushort_put_nbi shmem_ctx_int8_put_nbi shmem_ctx_int16_put_nbi
        shmem_ctx_uint8_put_nbi shmem_ctx_uint16_put_nbi shmem_ctx_size_put_nbi
        shmem_ctx_uint_put_nbi shmem_ctx_ulong_put_nbi shmem_ctx_ulonglong_put_nbi
        shmem_ctx_int32_put_nbi shmem_ctx_int64_put_nbi shmem_ctx_uint32_put_nbi
        shmem_ctx_uint64_put_nbi shmem_ctx_put8_nbi shmem_ctx_put16_nbi shmem_ctx_put32_nbi
        shmem_ctx_put64_nbi shmem_ctx_put128_nbi shmem_ctx_putmem_nbi shmem_ctx_float_get_nbi
        shmem_ctx_double_get_nbi shmem_ctx_longdouble_get_nbi shmem_ctx_char_get_nbi
        shmem_ctx_schar_get_nbi shmem_ctx_short_get_nbi shmem_ctx_int_get_nbi
        shmem_ctx_long_get_nbi shmem_ctx_longlong_get_nbi shmem_ctx_ptrdiff_get_nbi
        shmem_ctx_uchar_get_nbi shmem_ctx_ushort_get_nbi shmem_ctx_int8_get_nbi
        shmem_ctx_int16_get_nbi shmem_ctx_uint8_get_nbi shmem_ctx_uint16_get_nbi
        shmem_ctx_size_get_nbi shmem_ctx_uint_get_nbi shmem_ctx_ulong_get_nbi
        shmem_ctx_ulonglong_get_nbi shmem_ctx_int32_get_nbi shmem_ctx_int64_get_nbi
        shmem_ctx_uint32_get_nbi shmem_ctx_uint64_get_nbi shmem_ctx_get8_nbi
        shmem_ctx_get16_nbi shmem_ctx_get32_nbi shmem_ctx_get64_nbi shmem_ctx_get128_nbi
        shmem_ctx_getmem_nbi shmem_ctx_size_atomic_swap_nbi
        shmem_ctx_size_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_void_p, c_ssize_t, c_ssize_t, c_size_t, c_int), """
        shmem_float_iput shmem_double_iput shmem_longdouble_iput shmem_char_iput
        shmem_schar_iput shmem_short_iput shmem_int_iput shmem_long_iput shmem_longlong_iput
        shmem_ptrdiff_iput shmem_uchar_iput shmem_ushort_iput shmem_int8_iput shmem_int16_iput
        shmem_uint8_iput shmem_uint16_iput shmem_size_iput shmem_uint_iput shmem_ulong_iput
        shmem_ulonglong_iput shmem_int32_iput shmem_int64_iput shmem_uint32_iput
        shmem_uint64_iput shmem_iput8 shmem_iput16 shmem_iput32 shmem_iput64 shmem_iput128
        shmem_float_iget shmem_double_iget shmem_longdouble_iget shmem_char_iget
        shmem_schar_iget shmem_short_iget shmem_int_iget shmem_long_iget shmem_longlong_iget
        shmem_ptrdiff_iget shmem_uchar_iget shmem_ushort_iget shmem_int8_iget shmem_int16_iget
        shmem_uint8_iget shmem_uint16_iget shmem_size_iget shmem_uint_iget shmem_ulong_iget
        shmem_ulonglong_iget shmem_int32_iget shmem_int64_iget shmem_uint32_iget
        shmem_uint64_iget shmem_iget8 shmem_iget16 shmem_iget32 shmem_iget64 shmem_iget128"""),
    ((None, c_void_p, c_void_p, c_void_p, c_ssize_t, c_ssize_t, c_size_t, c_int), """
        shmem_ctx_float_iput shmem_ctx_double_iput shmem_ctx_longdouble_iput
        shmem_ctx_char_iput shmem_ctx_schar_iput shmem_ctx_short_iput shmem_ctx_int_iput
        shmem_ctx_long_iput shmem_ctx_longlong_iput shmem_ctx_ptrdiff_iput
        shmem_ctx_uchar_iput shmem_ctx_ushort_iput shmem_ctx_int8_iput shmem_ctx_int16_iput
        shmem_ctx_uint8_iput shmem_ctx_uint16_iput shmem_ctx_size_iput shmem_ctx_uint_iput
        shmem_ctx_ulong_iput shmem_ctx_ulonglong_iput shmem_ctx_int32_iput
        shmem_ctx_int64_iput shmem_ctx_uint32_iput shmem_ctx_uint64_iput shmem_ctx_iput8
        shmem_ctx_iput16 shmem_ctx_iput32 shmem_ctx_iput64 shmem_ctx_iput128
        shmem_ctx_float_iget shmem_ctx_double_iget shmem_ctx_longdouble_iget
        shmem_ctx_char_iget shmem_ctx_schar_iget shmem_ctx_short_iget shmem_ctx_int_iget
        shmem_ctx_long_iget shmem_ctx_longlong_iget shmem_ctx_ptrdiff_iget
        shmem_ctx_uchar_iget shmem_ctx_ushort_iget shmem_ctx_int8_iget shmem_ctx_int16_iget
        shmem_ctx_uint8_iget shmem_ctx_uint16_iget shmem_ctx_size_iget shmem_ctx_uint_iget
        shmem_ctx_ulong_iget shmem_ctx_ulonglong_iget shmem_ctx_int32_iget
        shmem_ctx_int64_iget shmem_ctx_uint32_iget shmem_ctx_uint64_iget shmem_ctx_iget8
        shmem_ctx_iget16 shmem_ctx_iget32 shmem_ctx_iget64 shmem_ctx_iget128"""),
    ((None, c_void_p, c_void_p, c_ssize_t, c_ssize_t, c_size_t, c_size_t, c_int), """
        shmem_float_ibput shmem_double_ibput shmem_longdouble_ibput shmem_char_ibput
        shmem_schar_ibput shmem_short_ibput shmem_int_ibput shmem_long_ibput
        shmem_longlong_ibput shmem_ptrdiff_ibput shmem_uchar_ibput shmem_ushort_ibput
        shmem_int8_ibput shmem_int16_ibput shmem_uint8_ibput shmem_uint16_ibput
        shmem_size_ibput shmem_uint_ibput shmem_ulong_ibput shmem_ulonglong_ibput
        shmem_int32_ibput shmem_int64_ibput shmem_uint32_ibput shmem_uint64_ibput shmem_ibput8
        shmem_ibput16 shmem_ibput32 shmem_ibput64 shmem_ibput128 shmem_float_ibget
        shmem_double_ibget shmem_longdouble_ibget shmem_char_ibget shmem_schar_ibget
        shmem_short_ibget shmem_int_ibget shmem_long_ibget shmem_longlong_ibget
        shmem_ptrdiff_ibget shmem_uchar_ibget shmem_ushort_ibget shmem_int8_ibget
        shmem_int16_ibget shmem_uint8_ibget shmem_uint16_ibget shmem_size_ibget
        shmem_uint_ibget shmem_ulong_ibget shmem_ulonglong_ibget shmem_int32_ibget
        shmem_int64_ibget shmem_uint32_ibget shmem_uint64_ibget shmem_ibget8 shmem_ibget16
        shmem_ibget32 shmem_ibget64 shmem_ibget128 shmemx_float_ibput shmemx_double_ibput
        shmemx_longdouble_ibput shmemx_char_ibput shmemx_schar_ibput shmemx_short_ibput
        shmemx_int_ibput shmemx_long_ibput shmemx_longlong_ibput shmemx_ptrdiff_ibput
        shmemx_uchar_ibput shmemx_ushort_ibput shmemx_int8_ibput shmemx_int16_ibput
        shmemx_uint8_ibput shmemx_uint16_ibput shmemx_size_ibput shmemx_uint_ibput
        shmemx_ulong_ibput shmemx_ulonglong_ibput shmemx_int32_ibput shmemx_int64_ibput
        shmemx_uint32_ibput shmemx_uint64_ibput shmemx_ibput8 shmemx_ibput16 shmemx_ibput32
        shmemx_ibput64 shmemx_ibput128 shmemx_float_ibget shmemx_double_ibget
        shmemx_longdouble_ibget shmemx_char_ibget shmemx_schar_ibget shmemx_short_ibget
        shmemx_int_ibget shmemx_long_ibget shmemx_longlong_ibget shmemx_ptrdiff_ibget
        shmemx_uchar_ibget shmemx_ushort_ibget shmemx_int8_ibget shmemx_int16_ibget
        shmemx_uint8_ibget shmemx_uint16_ibget shmemx_size_ibget shmemx_uint_ibget
        shmemx_ulong_ibget shmemx_ulonglong_ibget shmemx_int32_ibget shmemx_int64_ibget
        shmemx_uint32_ibget shmemx_uint64_ibget shmemx_ibget8 shmemx_ibget16 shmemx_ibget32
        shmemx_ibget64 shmemx_ibget128"""),
    ((None, c_void_p, c_void_p, c_void_p, c_ssize_t, c_ssize_t, c_size_t, c_size_t, c_int), """
        shmem_ctx_float_ibput shmem_ctx_double_ibput shmem_ctx_longdouble_ibput
        shmem_ctx_char_ibput shmem_ctx_schar_ibput shmem_ctx_short_ibput shmem_ctx_int_ibput
        shmem_ctx_long_ibput shmem_ctx_longlong_ibput shmem_ctx_ptrdiff_ibput
        shmem_ctx_uchar_ibput shmem_ctx_ushort_ibput shmem_ctx_int8_ibput
        shmem_ctx_int16_ibput shmem_ctx_uint8_ibput shmem_ctx_uint16_ibput
        shmem_ctx_size_ibput shmem_ctx_uint_ibput shmem_ctx_ulong_ibput
        shmem_ctx_ulonglong_ibput shmem_ctx_int32_ibput shmem_ctx_int64_ibput
        shmem_ctx_uint32_ibput shmem_ctx_uint64_ibput shmem_ctx_ibput8 shmem_ctx_ibput16
        shmem_ctx_ibput32 shmem_ctx_ibput64 shmem_ctx_ibput128 shmem_ctx_float_ibget
        shmem_ctx_double_ibget shmem_ctx_longdouble_ibget shmem_ctx_char_ibget
        shmem_ctx_schar_ibget shmem_ctx_short_ibget shmem_ctx_int_ibget shmem_ctx_long_ibget
        shmem_ctx_longlong_ibget shmem_ctx_ptrdiff_ibget shmem_ctx_uchar_ibget
        shmem_ctx_ushort_ibget shmem_ctx_int8_ibget shmem_ctx_int16_ibget
        shmem_ctx_uint8_ibget shmem_ctx_uint16_ibget shmem_ctx_size_ibget shmem_ctx_uint_ibget
        shmem_ctx_ulong_ibget shmem_ctx_ulonglong_ibget shmem_ctx_int32_ibget
        shmem_ctx_int64_ibget shmem_ctx_uint32_ibget shmem_ctx_uint64_ibget shmem_ctx_ibget8
        shmem_ctx_ibget16 shmem_ctx_ibget32 shmem_ctx_ibget64 shmem_ctx_ibget128
        shmemx_ctx_float_ibput shmemx_ctx_double_ibput shmemx_ctx_longdouble_ibput
        shmemx_ctx_char_ibput shmemx_ctx_schar_ibput shmemx_ctx_short_ibput
        shmemx_ctx_int_ibput shmemx_ctx_long_ibput shmemx_ctx_longlong_ibput
        shmemx_ctx_ptrdiff_ibput shmemx_ctx_uchar_ibput shmemx_ctx_ushort_ibput
        shmemx_ctx_int8_ibput shmemx_ctx_int16_ibput shmemx_ctx_uint8_ibput
        shmemx_ctx_uint16_ibput shmemx_ctx_size_ibput shmemx_ctx_uint_ibput
        shmemx_ctx_ulong_ibput shmemx_ctx_ulonglong_ibput shmemx_ctx_int32_ibput
        shmemx_ctx_int64_ibput shmemx_ctx_uint32_ibput shmemx_ctx_uint64_ibput
        shmemx_ctx_ibput8 shmemx_ctx_ibput16 shmemx_ctx_ibput32 shmemx_ctx_ibput64
        shmemx_ctx_ibput128 shmemx_ctx_float_ibget shmemx_ctx_double_ibget
        shmemx_ctx_longdouble_ibget shmemx_ctx_char_ibget shmemx_ctx_schar_ibget
        shmemx_ctx_short_ibget shmemx_ctx_int_ibget shmemx_ctx_long_ibget
        shmemx_ctx_longlong_ibget shmemx_ctx_ptrdiff_ibget shmemx_ctx_uchar_ibget
        shmemx_ctx_ushort_ibget shmemx_ctx_int8_ibget shmemx_ctx_int16_ibget
        shmemx_ctx_uint8_ibget shmemx_ctx_uint16_ibget shmemx_ctx_size_ibget
        shmemx_ctx_uint_ibget shmemx_ctx_ulong_ibget shmemx_ctx_ulonglong_ibget
        shmemx_ctx_int32_ibget shmemx_ctx_int64_ibget shmemx_ctx_uint32_ibget
        shmemx_ctx_uint64_ibget shmemx_ctx_ibget8 shmemx_ctx_ibget16 shmemx_ctx_ibget32
        shmemx_ctx_ibget64 shmemx_ctx_ibget128"""),
    ((None, c_void_p, c_float, c_int), "shmem_float_p shmem_float_atomic_set shmem_float_set"),
    ((None, c_void_p, c_void_p, c_float, c_int), """
        shmem_ctx_float_p shmem_ctx_float_atomic_set shmem_float_atomic_swap_nbi"""),
    ((None, c_void_p, c_double, c_int), "shmem_double_p shmem_double_atomic_set shmem_double_set"),
    ((None, c_void_p, c_void_p, c_double, c_int), """
        shmem_ctx_double_p shmem_ctx_double_atomic_set shmem_double_atomic_swap_nbi"""),
    ((None, c_void_p, c_longdouble, c_int), "shmem_longdouble_p"),
    ((None, c_void_p, c_void_p, c_longdouble, c_int), "shmem_ctx_longdouble_p"),
    ((None, c_void_p, c_byte, c_int), "shmem_char_p shmem_schar_p"),
    ((None, c_void_p, c_void_p, c_byte, c_int), "shmem_ctx_char_p shmem_ctx_schar_p"),
    ((None, c_void_p, c_short, c_int), "shmem_short_p"),
    ((None, c_void_p, c_void_p, c_short, c_int), "shmem_ctx_short_p"),
    ((None, c_void_p, c_int, c_int), """
        shmem_int_p shmem_int_atomic_set shmem_int_atomic_add shmem_int_set shmem_int_add
        shmem_int_wait_until"""),
    ((None, c_void_p, c_void_p, c_int, c_int), """
        shmem_ctx_int_p shmem_ctx_int_atomic_set shmem_ctx_int_atomic_add
        shmem_int_atomic_swap_nbi shmem_int_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_long, c_int), """
        shmem_long_p shmem_long_atomic_set shmem_long_atomic_add shmem_long_set shmem_long_add"""),
    ((None, c_void_p, c_void_p, c_long, c_int), """
        shmem_ctx_long_p shmem_ctx_long_atomic_set shmem_ctx_long_atomic_add
        shmem_long_atomic_swap_nbi shmem_long_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_longlong, c_int), """
        shmem_longlong_p shmem_longlong_atomic_set shmem_longlong_atomic_add
        shmem_longlong_set shmem_longlong_add"""),
    ((None, c_void_p, c_void_p, c_longlong, c_int), """
        shmem_ctx_longlong_p shmem_ctx_longlong_atomic_set shmem_ctx_longlong_atomic_add
        shmem_longlong_atomic_swap_nbi shmem_longlong_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_ssize_t, c_int), """
        shmem_ptrdiff_p shmem_ptrdiff_atomic_set shmem_ptrdiff_atomic_add"""),
    ((None, c_void_p, c_void_p, c_ssize_t, c_int), """
        shmem_ctx_ptrdiff_p shmem_ctx_ptrdiff_atomic_set shmem_ctx_ptrdiff_atomic_add
        shmem_ptrdiff_atomic_swap_nbi shmem_ptrdiff_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_ubyte, c_int), "shmem_uchar_p"),
    ((None, c_void_p, c_void_p, c_ubyte, c_int), "shmem_ctx_uchar_p"),
    ((None, c_void_p, c_ushort, c_int), "shmem_ushort_p"),
    ((None, c_void_p, c_void_p, c_ushort, c_int), "shmem_ctx_ushort_p"),
    ((None, c_void_p, c_int8, c_int), "shmem_int8_p"),
    ((None, c_void_p, c_void_p, c_int8, c_int), "shmem_ctx_int8_p"),
    ((None, c_void_p, c_int16, c_int), "shmem_int16_p"),
    ((None, c_void_p, c_void_p, c_int16, c_int), "shmem_ctx_int16_p"),
    ((None, c_void_p, c_uint8, c_int), "shmem_uint8_p"),
    ((None, c_void_p, c_void_p, c_uint8, c_int), "shmem_ctx_uint8_p"),
    ((None, c_void_p, c_uint16, c_int), "shmem_uint16_p"),
    ((None, c_void_p, c_void_p, c_uint16, c_int), "shmem_ctx_uint16_p"),
    ((None, c_void_p, c_size_t, c_int), """
        shmem_size_p shmem_size_atomic_set shmem_size_atomic_add"""),
    ((None, c_void_p, c_uint, c_int), """
        shmem_uint_p shmem_uint_atomic_set shmem_uint_atomic_add shmem_uint_atomic_and
        shmem_uint_atomic_or shmem_uint_atomic_xor"""),
    ((None, c_void_p, c_void_p, c_uint, c_int), """
        shmem_ctx_uint_p shmem_ctx_uint_atomic_set shmem_ctx_uint_atomic_add
        shmem_ctx_uint_atomic_and shmem_ctx_uint_atomic_or shmem_ctx_uint_atomic_xor
        shmem_uint_atomic_swap_nbi shmem_uint_atomic_fetch_add_nbi
        shmem_uint_atomic_fetch_and_nbi shmem_uint_atomic_fetch_or_nbi
        shmem_uint_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_ulong, c_int), """
        shmem_ulong_p shmem_ulong_atomic_set shmem_ulong_atomic_add shmem_ulong_atomic_and
        shmem_ulong_atomic_or shmem_ulong_atomic_xor"""),
    ((None, c_void_p, c_void_p, c_ulong, c_int), """
        shmem_ctx_ulong_p shmem_ctx_ulong_atomic_set shmem_ctx_ulong_atomic_add
        shmem_ctx_ulong_atomic_and shmem_ctx_ulong_atomic_or shmem_ctx_ulong_atomic_xor
        shmem_ulong_atomic_swap_nbi shmem_ulong_atomic_fetch_add_nbi
        shmem_ulong_atomic_fetch_and_nbi shmem_ulong_atomic_fetch_or_nbi
        shmem_ulong_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_ulonglong, c_int), """
        shmem_ulonglong_p shmem_ulonglong_atomic_set shmem_ulonglong_atomic_add
        shmem_ulonglong_atomic_and shmem_ulonglong_atomic_or shmem_ulonglong_atomic_xor"""),
    ((None, c_void_p, c_void_p, c_ulonglong, c_int), """
        shmem_ctx_ulonglong_p shmem_ctx_ulonglong_atomic_set shmem_ctx_ulonglong_atomic_add
        shmem_ctx_ulonglong_atomic_and shmem_ctx_ulonglong_atomic_or
        shmem_ctx_ulonglong_atomic_xor shmem_ulonglong_atomic_swap_nbi
        shmem_ulonglong_atomic_fetch_add_nbi shmem_ulonglong_atomic_fetch_and_nbi
        shmem_ulonglong_atomic_fetch_or_nbi shmem_ulonglong_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_int32, c_int), """
        shmem_int32_p shmem_int32_atomic_set shmem_int32_atomic_add shmem_int32_atomic_and
        shmem_int32_atomic_or shmem_int32_atomic_xor"""),
    ((None, c_void_p, c_void_p, c_int32, c_int), """
        shmem_ctx_int32_p shmem_ctx_int32_atomic_set shmem_ctx_int32_atomic_add
        shmem_ctx_int32_atomic_and shmem_ctx_int32_atomic_or shmem_ctx_int32_atomic_xor
        shmem_int32_atomic_swap_nbi shmem_int32_atomic_fetch_add_nbi
        shmem_int32_atomic_fetch_and_nbi shmem_int32_atomic_fetch_or_nbi
        shmem_int32_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_int64, c_int), """
        shmem_int64_p shmem_int64_atomic_set shmem_int64_atomic_add shmem_int64_atomic_and
        shmem_int64_atomic_or shmem_int64_atomic_xor"""),
    ((None, c_void_p, c_void_p, c_int64, c_int), """
        shmem_ctx_int64_p shmem_ctx_int64_atomic_set shmem_ctx_int64_atomic_add
        shmem_ctx_int64_atomic_and shmem_ctx_int64_atomic_or shmem_ctx_int64_atomic_xor
        shmem_int64_atomic_swap_nbi shmem_int64_atomic_fetch_add_nbi
        shmem_int64_atomic_fetch_and_nbi shmem_int64_atomic_fetch_or_nbi
        shmem_int64_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_uint32, c_int), """
        shmem_uint32_p shmem_uint32_atomic_set shmem_uint32_atomic_add shmem_uint32_atomic_and
        shmem_uint32_atomic_or shmem_uint32_atomic_xor"""),
    ((None, c_void_p, c_void_p, c_uint32, c_int), """
        shmem_ctx_uint32_p shmem_ctx_uint32_atomic_set shmem_ctx_uint32_atomic_add
        shmem_ctx_uint32_atomic_and shmem_ctx_uint32_atomic_or shmem_ctx_uint32_atomic_xor
        shmem_uint32_atomic_swap_nbi shmem_uint32_atomic_fetch_add_nbi
        shmem_uint32_atomic_fetch_and_nbi shmem_uint32_atomic_fetch_or_nbi
        shmem_uint32_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_uint64, c_int), """
        shmem_uint64_p shmem_uint64_atomic_set shmem_uint64_atomic_add shmem_uint64_atomic_and
        shmem_uint64_atomic_or shmem_uint64_atomic_xor shmem_signal_add shmem_signal_set
        shmemx_signal_add shmemx_signal_set"""),
    ((None, c_void_p, c_void_p, c_uint64, c_int), """
        shmem_ctx_uint64_p shmem_ctx_uint64_atomic_set shmem_ctx_uint64_atomic_add
        shmem_ctx_uint64_atomic_and shmem_ctx_uint64_atomic_or shmem_ctx_uint64_atomic_xor
        shmem_uint64_atomic_swap_nbi shmem_uint64_atomic_fetch_add_nbi
        shmem_uint64_atomic_fetch_and_nbi shmem_uint64_atomic_fetch_or_nbi
        shmem_uint64_atomic_fetch_xor_nbi shmem_ctx_signal_add shmem_ctx_signal_set
        shmemx_ctx_signal_add shmemx_ctx_signal_set"""),
    ((c_float, c_void_p, c_int), "shmem_float_g shmem_float_atomic_fetch shmem_float_fetch"),
    ((c_float, c_void_p, c_void_p, c_int), "shmem_ctx_float_g shmem_ctx_float_atomic_fetch"),
    ((c_double, c_void_p, c_int), "shmem_double_g shmem_double_atomic_fetch shmem_double_fetch"),
    ((c_double, c_void_p, c_void_p, c_int), "shmem_ctx_double_g shmem_ctx_double_atomic_fetch"),
    ((c_longdouble, c_void_p, c_int), "shmem_longdouble_g"),
    ((c_longdouble, c_void_p, c_void_p, c_int), "shmem_ctx_longdouble_g"),
    ((c_byte, c_void_p, c_int), "shmem_char_g shmem_schar_g"),
    ((c_byte, c_void_p, c_void_p, c_int), "shmem_ctx_char_g shmem_ctx_schar_g"),
    ((c_short, c_void_p, c_int), "shmem_short_g"),
    ((c_short, c_void_p, c_void_p, c_int), "shmem_ctx_short_g"),
    ((c_int, c_void_p, c_void_p, c_int), """
        shmem_ctx_int_g shmem_ctx_int_atomic_fetch shmem_ctx_int_atomic_fetch_inc"""),
    ((c_long, c_void_p, c_int), """
        shmem_long_g shmem_long_atomic_fetch shmem_long_atomic_fetch_inc shmem_long_fetch
        shmem_long_finc"""),
    ((c_long, c_void_p, c_void_p, c_int), """
        shmem_ctx_long_g shmem_ctx_long_atomic_fetch shmem_ctx_long_atomic_fetch_inc"""),
    ((c_longlong, c_void_p, c_int), """
        shmem_longlong_g shmem_longlong_atomic_fetch shmem_longlong_atomic_fetch_inc
        shmem_longlong_fetch shmem_longlong_finc"""),
    ((c_longlong, c_void_p, c_void_p, c_int), """
        shmem_ctx_longlong_g shmem_ctx_longlong_atomic_fetch
        shmem_ctx_longlong_atomic_fetch_inc"""),
    ((c_ssize_t, c_void_p, c_int), """
        shmem_ptrdiff_g shmem_ptrdiff_atomic_fetch shmem_ptrdiff_atomic_fetch_inc"""),
    ((c_ssize_t, c_void_p, c_void_p, c_int), """
        shmem_ctx_ptrdiff_g shmem_ctx_ptrdiff_atomic_fetch shmem_ctx_ptrdiff_atomic_fetch_inc"""),
    ((c_ubyte, c_void_p, c_int), "shmem_uchar_g"),
    ((c_ubyte, c_void_p, c_void_p, c_int), "shmem_ctx_uchar_g"),
    ((c_ushort, c_void_p, c_int), "shmem_ushort_g"),
    ((c_ushort, c_void_p, c_void_p, c_int), "shmem_ctx_ushort_g"),
    ((c_int8, c_void_p, c_int), "shmem_int8_g"),
    ((c_int8, c_void_p, c_void_p, c_int), "shmem_ctx_int8_g"),
    ((c_int16, c_void_p, c_int), "shmem_int16_g"),
    ((c_int16, c_void_p, c_void_p, c_int), "shmem_ctx_int16_g"),
    ((c_uint8, c_void_p, c_int), "shmem_uint8_g"),
    ((c_uint8, c_void_p, c_void_p, c_int), "shmem_ctx_uint8_g"),
    ((c_uint16, c_void_p, c_int), "shmem_uint16_g"),
    ((c_uint16, c_void_p, c_void_p, c_int), "shmem_ctx_uint16_g"),
    ((c_size_t, c_void_p, c_int), """
        shmem_size_g shmem_size_atomic_fetch shmem_size_atomic_fetch_inc"""),
    ((c_size_t, c_void_p, c_void_p, c_int), """
        shmem_ctx_size_g shmem_ctx_size_atomic_fetch shmem_ctx_size_atomic_fetch_inc"""),
    ((c_uint, c_void_p, c_int), """
        shmem_uint_g shmem_uint_atomic_fetch shmem_uint_atomic_fetch_inc"""),
    ((c_uint, c_void_p, c_void_p, c_int), """
        shmem_ctx_uint_g shmem_ctx_uint_atomic_fetch shmem_ctx_uint_atomic_fetch_inc"""),
    ((c_ulong, c_void_p, c_int), """
        shmem_ulong_g shmem_ulong_atomic_fetch shmem_ulong_atomic_fetch_inc"""),
    ((c_ulong, c_void_p, c_void_p, c_int), """
        shmem_ctx_ulong_g shmem_ctx_ulong_atomic_fetch shmem_ctx_ulong_atomic_fetch_inc"""),
    ((c_ulonglong, c_void_p, c_int), """
        shmem_ulonglong_g shmem_ulonglong_atomic_fetch shmem_ulonglong_atomic_fetch_inc"""),
    ((c_ulonglong, c_void_p, c_void_p, c_int), """
        shmem_ctx_ulonglong_g shmem_ctx_ulonglong_atomic_fetch
        shmem_ctx_ulonglong_atomic_fetch_inc"""),
    ((c_int32, c_void_p, c_int), """
        shmem_int32_g shmem_int32_atomic_fetch shmem_int32_atomic_fetch_inc"""),
    ((c_int32, c_void_p, c_void_p, c_int), """
        shmem_ctx_int32_g shmem_ctx_int32_atomic_fetch shmem_ctx_int32_atomic_fetch_inc"""),
    ((c_int64, c_void_p, c_int), """
        shmem_int64_g shmem_int64_atomic_fetch shmem_int64_atomic_fetch_inc"""),
    ((c_int64, c_void_p, c_void_p, c_int), """
        shmem_ctx_int64_g shmem_ctx_int64_atomic_fetch shmem_ctx_int64_atomic_fetch_inc"""),
    ((c_uint32, c_void_p, c_int), """
        shmem_uint32_g shmem_uint32_atomic_fetch shmem_uint32_atomic_fetch_inc"""),
    ((c_uint32, c_void_p, c_void_p, c_int), """
        shmem_ctx_uint32_g shmem_ctx_uint32_atomic_fetch shmem_ctx_uint32_atomic_fetch_inc"""),
    ((c_uint64, c_void_p, c_int), """
        shmem_uint64_g shmem_uint64_atomic_fetch shmem_uint64_atomic_fetch_inc"""),
    ((c_uint64, c_void_p, c_void_p, c_int), """
        shmem_ctx_uint64_g shmem_ctx_uint64_atomic_fetch shmem_ctx_uint64_atomic_fetch_inc"""),
    ((c_float, c_void_p, c_float, c_int), "shmem_float_atomic_swap shmem_float_swap"),
    ((c_float, c_void_p, c_void_p, c_float, c_int), "shmem_ctx_float_atomic_swap"),
    ((c_double, c_void_p, c_double, c_int), "shmem_double_atomic_swap shmem_double_swap"),
    ((c_double, c_void_p, c_void_p, c_double, c_int), "shmem_ctx_double_atomic_swap"),
    ((c_int, c_void_p, c_int, c_int), """
        shmem_int_atomic_swap shmem_int_atomic_fetch_add shmem_int_swap shmem_int_fadd
        shmem_int_test"""),
    ((c_int, c_void_p, c_void_p, c_int, c_int), """
        shmem_ctx_int_atomic_swap shmem_ctx_int_atomic_fetch_add"""),
    ((c_long, c_void_p, c_long, c_int), """
        shmem_long_atomic_swap shmem_long_atomic_fetch_add shmem_long_swap shmem_long_fadd"""),
    ((c_long, c_void_p, c_void_p, c_long, c_int), """
        shmem_ctx_long_atomic_swap shmem_ctx_long_atomic_fetch_add"""),
    ((c_longlong, c_void_p, c_longlong, c_int), """
        shmem_longlong_atomic_swap shmem_longlong_atomic_fetch_add shmem_longlong_swap
        shmem_longlong_fadd"""),
    ((c_longlong, c_void_p, c_void_p, c_longlong, c_int), """
        shmem_ctx_longlong_atomic_swap shmem_ctx_longlong_atomic_fetch_add"""),
    ((c_size_t, c_void_p, c_size_t, c_int), "shmem_size_atomic_swap shmem_size_atomic_fetch_add"),
    ((c_size_t, c_void_p, c_void_p, c_size_t, c_int), """
        shmem_ctx_size_atomic_swap shmem_ctx_size_atomic_fetch_add"""),
    ((c_ssize_t, c_void_p, c_ssize_t, c_int), """
        shmem_ptrdiff_atomic_swap shmem_ptrdiff_atomic_fetch_add"""),
    ((c_ssize_t, c_void_p, c_void_p, c_ssize_t, c_int), """
        shmem_ctx_ptrdiff_atomic_swap shmem_ctx_ptrdiff_atomic_fetch_add"""),
    ((c_uint, c_void_p, c_uint, c_int), """
        shmem_uint_atomic_swap shmem_uint_atomic_fetch_add shmem_uint_atomic_fetch_and
        shmem_uint_atomic_fetch_or shmem_uint_atomic_fetch_xor"""),
    ((c_uint, c_void_p, c_void_p, c_uint, c_int), """
        shmem_ctx_uint_atomic_swap shmem_ctx_uint_atomic_fetch_add
        shmem_ctx_uint_atomic_fetch_and shmem_ctx_uint_atomic_fetch_or
        shmem_ctx_uint_atomic_fetch_xor"""),
    ((c_ulong, c_void_p, c_ulong, c_int), """
        shmem_ulong_atomic_swap shmem_ulong_atomic_fetch_add shmem_ulong_atomic_fetch_and
        shmem_ulong_atomic_fetch_or shmem_ulong_atomic_fetch_xor"""),
    ((c_ulong, c_void_p, c_void_p, c_ulong, c_int), """
        shmem_ctx_ulong_atomic_swap shmem_ctx_ulong_atomic_fetch_add
        shmem_ctx_ulong_atomic_fetch_and shmem_ctx_ulong_atomic_fetch_or
        shmem_ctx_ulong_atomic_fetch_xor"""),
    ((c_ulonglong, c_void_p, c_ulonglong, c_int), """
        shmem_ulonglong_atomic_swap shmem_ulonglong_atomic_fetch_add
        shmem_ulonglong_atomic_fetch_and shmem_ulonglong_atomic_fetch_or
        shmem_ulonglong_atomic_fetch_xor"""),
    ((c_ulonglong, c_void_p, c_void_p, c_ulonglong, c_int), """
        shmem_ctx_ulonglong_atomic_swap shmem_ctx_ulonglong_atomic_fetch_add
        shmem_ctx_ulonglong_atomic_fetch_and shmem_ctx_ulonglong_atomic_fetch_or
        shmem_ctx_ulonglong_atomic_fetch_xor"""),
    ((c_int32, c_void_p, c_int32, c_int), """
        shmem_int32_atomic_swap shmem_int32_atomic_fetch_add shmem_int32_atomic_fetch_and
        shmem_int32_atomic_fetch_or shmem_int32_atomic_fetch_xor"""),
    ((c_int32, c_void_p, c_void_p, c_int32, c_int), """
        shmem_ctx_int32_atomic_swap shmem_ctx_int32_atomic_fetch_add
        shmem_ctx_int32_atomic_fetch_and shmem_ctx_int32_atomic_fetch_or
        shmem_ctx_int32_atomic_fetch_xor"""),
    ((c_int64, c_void_p, c_int64, c_int), """
        shmem_int64_atomic_swap shmem_int64_atomic_fetch_add shmem_int64_atomic_fetch_and
        shmem_int64_atomic_fetch_or shmem_int64_atomic_fetch_xor"""),
    ((c_int64, c_void_p, c_void_p, c_int64, c_int), """
        shmem_ctx_int64_atomic_swap shmem_ctx_int64_atomic_fetch_add
        shmem_ctx_int64_atomic_fetch_and shmem_ctx_int64_atomic_fetch_or
        shmem_ctx_int64_atomic_fetch_xor"""),
    ((c_uint32, c_void_p, c_uint32, c_int), """
        shmem_uint32_atomic_swap shmem_uint32_atomic_fetch_add shmem_uint32_atomic_fetch_and
        shmem_uint32_atomic_fetch_or shmem_uint32_atomic_fetch_xor"""),
    ((c_uint32, c_void_p, c_void_p, c_uint32, c_int), """
        shmem_ctx_uint32_atomic_swap shmem_ctx_uint32_atomic_fetch_add
        shmem_ctx_uint32_atomic_fetch_and shmem_ctx_uint32_atomic_fetch_or
        shmem_ctx_uint32_atomic_fetch_xor"""),
    ((c_uint64, c_void_p, c_uint64, c_int), """
        shmem_uint64_atomic_swap shmem_uint64_atomic_fetch_add shmem_uint64_atomic_fetch_and
        shmem_uint64_atomic_fetch_or shmem_uint64_atomic_fetch_xor"""),
    ((c_uint64, c_void_p, c_void_p, c_uint64, c_int), """
        shmem_ctx_uint64_atomic_swap shmem_ctx_uint64_atomic_fetch_add
        shmem_ctx_uint64_atomic_fetch_and shmem_ctx_uint64_atomic_fetch_or
        shmem_ctx_uint64_atomic_fetch_xor"""),
    ((c_int, c_void_p, c_int, c_int, c_int), "shmem_int_atomic_compare_swap shmem_int_cswap"),
    ((c_int, c_void_p, c_void_p, c_int, c_int, c_int), "shmem_ctx_int_atomic_compare_swap"),
    ((c_long, c_void_p, c_long, c_long, c_int), "shmem_long_atomic_compare_swap shmem_long_cswap"),
    ((c_long, c_void_p, c_void_p, c_long, c_long, c_int), "shmem_ctx_long_atomic_compare_swap"),
    ((c_longlong, c_void_p, c_longlong, c_longlong, c_int), """
        shmem_longlong_atomic_compare_swap shmem_longlong_cswap"""),
    ((c_longlong, c_void_p, c_void_p, c_longlong, c_longlong, c_int), """
        shmem_ctx_longlong_atomic_compare_swap"""),
    ((c_size_t, c_void_p, c_size_t, c_size_t, c_int), "shmem_size_atomic_compare_swap"),
    ((c_size_t, c_void_p, c_void_p, c_size_t, c_size_t, c_int), """
        shmem_ctx_size_atomic_compare_swap"""),
    ((c_ssize_t, c_void_p, c_ssize_t, c_ssize_t, c_int), "shmem_ptrdiff_atomic_compare_swap"),
    ((c_ssize_t, c_void_p, c_void_p, c_ssize_t, c_ssize_t, c_int), """
        shmem_ctx_ptrdiff_atomic_compare_swap"""),
    ((c_uint, c_void_p, c_uint, c_uint, c_int), "shmem_uint_atomic_compare_swap"),
    ((c_uint, c_void_p, c_void_p, c_uint, c_uint, c_int), "shmem_ctx_uint_atomic_compare_swap"),
    ((c_ulong, c_void_p, c_ulong, c_ulong, c_int), "shmem_ulong_atomic_compare_swap"),
    ((c_ulong, c_void_p, c_void_p, c_ulong, c_ulong, c_int), """
        shmem_ctx_ulong_atomic_compare_swap"""),
    ((c_ulonglong, c_void_p, c_ulonglong, c_ulonglong, c_int), """
        shmem_ulonglong_atomic_compare_swap"""),
    ((c_ulonglong, c_void_p, c_void_p, c_ulonglong, c_ulonglong, c_int), """
        shmem_ctx_ulonglong_atomic_compare_swap"""),
    ((c_int32, c_void_p, c_int32, c_int32, c_int), "shmem_int32_atomic_compare_swap"),
    ((c_int32, c_void_p, c_void_p, c_int32, c_int32, c_int), """
        shmem_ctx_int32_atomic_compare_swap"""),
    ((c_int64, c_void_p, c_int64, c_int64, c_int), "shmem_int64_atomic_compare_swap"),
    ((c_int64, c_void_p, c_void_p, c_int64, c_int64, c_int), """
        shmem_ctx_int64_atomic_compare_swap"""),
    ((c_uint32, c_void_p, c_uint32, c_uint32, c_int), "shmem_uint32_atomic_compare_swap"),
    ((c_uint32, c_void_p, c_void_p, c_uint32, c_uint32, c_int), """
        shmem_ctx_uint32_atomic_compare_swap"""),
    ((c_uint64, c_void_p, c_uint64, c_uint64, c_int), "shmem_uint64_atomic_compare_swap"),
    ((c_uint64, c_void_p, c_void_p, c_uint64, c_uint64, c_int), """
        shmem_ctx_uint64_atomic_compare_swap"""),
    ((None, c_void_p, c_int), """
        shmem_int_atomic_inc shmem_long_atomic_inc shmem_longlong_atomic_inc
        shmem_size_atomic_inc shmem_ptrdiff_atomic_inc shmem_uint_atomic_inc
        shmem_ulong_atomic_inc shmem_ulonglong_atomic_inc shmem_int32_atomic_inc
        shmem_int64_atomic_inc shmem_uint32_atomic_inc shmem_uint64_atomic_inc shmem_int_inc
        shmem_long_inc shmem_longlong_inc shmem_int_wait"""),
    ((None, c_void_p, c_void_p, c_int), """
        shmem_ctx_int_atomic_inc shmem_ctx_long_atomic_inc shmem_ctx_longlong_atomic_inc
        shmem_ctx_size_atomic_inc shmem_ctx_ptrdiff_atomic_inc shmem_ctx_uint_atomic_inc
        shmem_ctx_ulong_atomic_inc shmem_ctx_ulonglong_atomic_inc shmem_ctx_int32_atomic_inc
        shmem_ctx_int64_atomic_inc shmem_ctx_uint32_atomic_inc shmem_ctx_uint64_atomic_inc
        shmem_float_atomic_fetch_nbi shmem_double_atomic_fetch_nbi shmem_int_atomic_fetch_nbi
        shmem_long_atomic_fetch_nbi shmem_longlong_atomic_fetch_nbi
        shmem_size_atomic_fetch_nbi shmem_ptrdiff_atomic_fetch_nbi shmem_uint_atomic_fetch_nbi
        shmem_ulong_atomic_fetch_nbi shmem_ulonglong_atomic_fetch_nbi
        shmem_int32_atomic_fetch_nbi shmem_int64_atomic_fetch_nbi
        shmem_uint32_atomic_fetch_nbi shmem_uint64_atomic_fetch_nbi
        shmem_int_atomic_fetch_inc_nbi shmem_long_atomic_fetch_inc_nbi
        shmem_longlong_atomic_fetch_inc_nbi shmem_size_atomic_fetch_inc_nbi
        shmem_ptrdiff_atomic_fetch_inc_nbi shmem_uint_atomic_fetch_inc_nbi
        shmem_ulong_atomic_fetch_inc_nbi shmem_ulonglong_atomic_fetch_inc_nbi
        shmem_int32_atomic_fetch_inc_nbi shmem_int64_atomic_fetch_inc_nbi
        shmem_uint32_atomic_fetch_inc_nbi shmem_uint64_atomic_fetch_inc_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_int), """
        shmem_ctx_float_atomic_fetch_nbi shmem_ctx_double_atomic_fetch_nbi
        shmem_ctx_int_atomic_fetch_nbi shmem_ctx_long_atomic_fetch_nbi
        shmem_ctx_longlong_atomic_fetch_nbi shmem_ctx_size_atomic_fetch_nbi
        shmem_ctx_ptrdiff_atomic_fetch_nbi shmem_ctx_uint_atomic_fetch_nbi
        shmem_ctx_ulong_atomic_fetch_nbi shmem_ctx_ulonglong_atomic_fetch_nbi
        shmem_ctx_int32_atomic_fetch_nbi shmem_ctx_int64_atomic_fetch_nbi
        shmem_ctx_uint32_atomic_fetch_nbi shmem_ctx_uint64_atomic_fetch_nbi
        shmem_ctx_int_atomic_fetch_inc_nbi shmem_ctx_long_atomic_fetch_inc_nbi
        shmem_ctx_longlong_atomic_fetch_inc_nbi shmem_ctx_size_atomic_fetch_inc_nbi
        shmem_ctx_ptrdiff_atomic_fetch_inc_nbi shmem_ctx_uint_atomic_fetch_inc_nbi
        shmem_ctx_ulong_atomic_fetch_inc_nbi shmem_ctx_ulonglong_atomic_fetch_inc_nbi
        shmem_ctx_int32_atomic_fetch_inc_nbi shmem_ctx_int64_atomic_fetch_inc_nbi
        shmem_ctx_uint32_atomic_fetch_inc_nbi shmem_ctx_uint64_atomic_fetch_inc_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_float, c_int), "shmem_ctx_float_atomic_swap_nbi"),
    ((None, c_void_p, c_void_p, c_void_p, c_double, c_int), "shmem_ctx_double_atomic_swap_nbi"),
    ((None, c_void_p, c_void_p, c_void_p, c_int, c_int), """
        shmem_ctx_int_atomic_swap_nbi shmem_ctx_int_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_long, c_int), """
        shmem_ctx_long_atomic_swap_nbi shmem_ctx_long_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_longlong, c_int), """
        shmem_ctx_longlong_atomic_swap_nbi shmem_ctx_longlong_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_ssize_t, c_int), """
        shmem_ctx_ptrdiff_atomic_swap_nbi shmem_ctx_ptrdiff_atomic_fetch_add_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_uint, c_int), """
        shmem_ctx_uint_atomic_swap_nbi shmem_ctx_uint_atomic_fetch_add_nbi
        shmem_ctx_uint_atomic_fetch_and_nbi shmem_ctx_uint_atomic_fetch_or_nbi
        shmem_ctx_uint_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_ulong, c_int), """
        shmem_ctx_ulong_atomic_swap_nbi shmem_ctx_ulong_atomic_fetch_add_nbi
        shmem_ctx_ulong_atomic_fetch_and_nbi shmem_ctx_ulong_atomic_fetch_or_nbi
        shmem_ctx_ulong_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_ulonglong, c_int), """
        shmem_ctx_ulonglong_atomic_swap_nbi shmem_ctx_ulonglong_atomic_fetch_add_nbi
        shmem_ctx_ulonglong_atomic_fetch_and_nbi shmem_ctx_ulonglong_atomic_fetch_or_nbi
        shmem_ctx_ulonglong_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_int32, c_int), """
        shmem_ctx_int32_atomic_swap_nbi shmem_ctx_int32_atomic_fetch_add_nbi
        shmem_ctx_int32_atomic_fetch_and_nbi shmem_ctx_int32_atomic_fetch_or_nbi
        shmem_ctx_int32_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_int64, c_int), """
        shmem_ctx_int64_atomic_swap_nbi shmem_ctx_int64_atomic_fetch_add_nbi
        shmem_ctx_int64_atomic_fetch_and_nbi shmem_ctx_int64_atomic_fetch_or_nbi
        shmem_ctx_int64_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_uint32, c_int), """
        shmem_ctx_uint32_atomic_swap_nbi shmem_ctx_uint32_atomic_fetch_add_nbi
        shmem_ctx_uint32_atomic_fetch_and_nbi shmem_ctx_uint32_atomic_fetch_or_nbi
        shmem_ctx_uint32_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_uint64, c_int), """
        shmem_ctx_uint64_atomic_swap_nbi shmem_ctx_uint64_atomic_fetch_add_nbi
        shmem_ctx_uint64_atomic_fetch_and_nbi shmem_ctx_uint64_atomic_fetch_or_nbi
        shmem_ctx_uint64_atomic_fetch_xor_nbi"""),
    ((None, c_void_p, c_void_p, c_int, c_int, c_int), "shmem_int_atomic_compare_swap_nbi"),
    ((None, c_void_p, c_void_p, c_void_p, c_int, c_int, c_int), """
        shmem_ctx_int_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_long, c_long, c_int), "shmem_long_atomic_compare_swap_nbi"),
    ((None, c_void_p, c_void_p, c_void_p, c_long, c_long, c_int), """
        shmem_ctx_long_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_longlong, c_longlong, c_int), """
        shmem_longlong_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_longlong, c_longlong, c_int), """
        shmem_ctx_longlong_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_size_t, c_size_t, c_int), "shmem_size_atomic_compare_swap_nbi"),
    ((None, c_void_p, c_void_p, c_void_p, c_size_t, c_size_t, c_int), """
        shmem_ctx_size_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_ssize_t, c_ssize_t, c_int), """
        shmem_ptrdiff_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_ssize_t, c_ssize_t, c_int), """
        shmem_ctx_ptrdiff_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_uint, c_uint, c_int), "shmem_uint_atomic_compare_swap_nbi"),
    ((None, c_void_p, c_void_p, c_void_p, c_uint, c_uint, c_int), """
        shmem_ctx_uint_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_ulong, c_ulong, c_int), "shmem_ulong_atomic_compare_swap_nbi"),
    ((None, c_void_p, c_void_p, c_void_p, c_ulong, c_ulong, c_int), """
        shmem_ctx_ulong_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_ulonglong, c_ulonglong, c_int), """
        shmem_ulonglong_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_ulonglong, c_ulonglong, c_int), """
        shmem_ctx_ulonglong_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_int32, c_int32, c_int), "shmem_int32_atomic_compare_swap_nbi"),
    ((None, c_void_p, c_void_p, c_void_p, c_int32, c_int32, c_int), """
        shmem_ctx_int32_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_int64, c_int64, c_int), "shmem_int64_atomic_compare_swap_nbi"),
    ((None, c_void_p, c_void_p, c_void_p, c_int64, c_int64, c_int), """
        shmem_ctx_int64_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_uint32, c_uint32, c_int), """
        shmem_uint32_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_uint32, c_uint32, c_int), """
        shmem_ctx_uint32_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_uint64, c_uint64, c_int), """
        shmem_uint64_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_uint64, c_uint64, c_int), """
        shmem_ctx_uint64_atomic_compare_swap_nbi"""),
    ((None, c_void_p, c_void_p, c_size_t, c_void_p, c_uint64, c_int, c_int), """
        shmem_float_put_signal shmem_double_put_signal shmem_longdouble_put_signal
        shmem_char_put_signal shmem_schar_put_signal shmem_short_put_signal
        shmem_int_put_signal shmem_long_put_signal shmem_longlong_put_signal
        shmem_ptrdiff_put_signal shmem_uchar_put_signal shmem_ushort_put_signal
        shmem_int8_put_signal shmem_int16_put_signal shmem_uint8_put_signal
        shmem_uint16_put_signal shmem_size_put_signal shmem_uint_put_signal
        shmem_ulong_put_signal shmem_ulonglong_put_signal shmem_int32_put_signal
        shmem_int64_put_signal shmem_uint32_put_signal shmem_uint64_put_signal
        shmem_put8_signal shmem_put16_signal shmem_put32_signal shmem_put64_signal
        shmem_put128_signal shmem_putmem_signal shmem_float_put_signal_nbi
        shmem_double_put_signal_nbi shmem_longdouble_put_signal_nbi shmem_char_put_signal_nbi
        shmem_schar_put_signal_nbi shmem_short_put_signal_nbi shmem_int_put_signal_nbi
        shmem_long_put_signal_nbi shmem_longlong_put_signal_nbi shmem_ptrdiff_put_signal_nbi
        shmem_uchar_put_signal_nbi shmem_ushort_put_signal_nbi shmem_int8_put_signal_nbi
        shmem_int16_put_signal_nbi shmem_uint8_put_signal_nbi shmem_uint16_put_signal_nbi
        shmem_size_put_signal_nbi shmem_uint_put_signal_nbi shmem_ulong_put_signal_nbi
        shmem_ulonglong_put_signal_nbi shmem_int32_put_signal_nbi shmem_int64_put_signal_nbi
        shmem_uint32_put_signal_nbi shmem_uint64_put_signal_nbi shmem_put8_signal_nbi
        shmem_put16_signal_nbi shmem_put32_signal_nbi shmem_put64_signal_nbi
        shmem_put128_signal_nbi shmem_putmem_signal_nbi"""),
    ((None, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_uint64, c_int, c_int), """
        shmem_ctx_float_put_signal shmem_ctx_double_put_signal shmem_ctx_longdouble_put_signal
        shmem_ctx_char_put_signal shmem_ctx_schar_put_signal shmem_ctx_short_put_signal
        shmem_ctx_int_put_signal shmem_ctx_long_put_signal shmem_ctx_longlong_put_signal
        shmem_ctx_ptrdiff_put_signal shmem_ctx_uchar_put_signal shmem_ctx_ushort_put_signal
        shmem_ctx_int8_put_signal shmem_ctx_int16_put_signal shmem_ctx_uint8_put_signal
        shmem_ctx_uint16_put_signal shmem_ctx_size_put_signal shmem_ctx_uint_put_signal
        shmem_ctx_ulong_put_signal shmem_ctx_ulonglong_put_signal shmem_ctx_int32_put_signal
        shmem_ctx_int64_put_signal shmem_ctx_uint32_put_signal shmem_ctx_uint64_put_signal
        shmem_ctx_put8_signal shmem_ctx_put16_signal shmem_ctx_put32_signal
        shmem_ctx_put64_signal shmem_ctx_put128_signal shmem_ctx_putmem_signal
        shmem_ctx_float_put_signal_nbi shmem_ctx_double_put_signal_nbi
        shmem_ctx_longdouble_put_signal_nbi shmem_ctx_char_put_signal_nbi
        shmem_ctx_schar_put_signal_nbi shmem_ctx_short_put_signal_nbi
        shmem_ctx_int_put_signal_nbi shmem_ctx_long_put_signal_nbi
        shmem_ctx_longlong_put_signal_nbi shmem_ctx_ptrdiff_put_signal_nbi
        shmem_ctx_uchar_put_signal_nbi shmem_ctx_ushort_put_signal_nbi
        shmem_ctx_int8_put_signal_nbi shmem_ctx_int16_put_signal_nbi
        shmem_ctx_uint8_put_signal_nbi shmem_ctx_uint16_put_signal_nbi
        shmem_ctx_size_put_signal_nbi shmem_ctx_uint_put_signal_nbi
        shmem_ctx_ulong_put_signal_nbi shmem_ctx_ulonglong_put_signal_nbi
        shmem_ctx_int32_put_signal_nbi shmem_ctx_int64_put_signal_nbi
        shmem_ctx_uint32_put_signal_nbi shmem_ctx_uint64_put_signal_nbi
        shmem_ctx_put8_signal_nbi shmem_ctx_put16_signal_nbi shmem_ctx_put32_signal_nbi
        shmem_ctx_put64_signal_nbi shmem_ctx_put128_signal_nbi shmem_ctx_putmem_signal_nbi"""),
    ((c_uint64, c_void_p), "shmem_signal_fetch"),
    ((c_uint64, c_void_p, c_int, c_uint64), "shmem_signal_wait_until"),
    ((c_int, c_void_p, c_void_p, c_void_p, c_size_t, c_int), """
        shmem_float_broadcast shmem_double_broadcast shmem_longdouble_broadcast
        shmem_char_broadcast shmem_schar_broadcast shmem_short_broadcast shmem_int_broadcast
        shmem_long_broadcast shmem_longlong_broadcast shmem_ptrdiff_broadcast
        shmem_uchar_broadcast shmem_ushort_broadcast shmem_int8_broadcast
        shmem_int16_broadcast shmem_uint8_broadcast shmem_uint16_broadcast
        shmem_size_broadcast shmem_uint_broadcast shmem_ulong_broadcast
        shmem_ulonglong_broadcast shmem_int32_broadcast shmem_int64_broadcast
        shmem_uint32_broadcast shmem_uint64_broadcast shmem_broadcastmem"""),
    ((c_int, c_void_p, c_void_p, c_void_p, c_size_t), """
        shmem_float_collect shmem_double_collect shmem_longdouble_collect shmem_char_collect
        shmem_schar_collect shmem_short_collect shmem_int_collect shmem_long_collect
        shmem_longlong_collect shmem_ptrdiff_collect shmem_uchar_collect shmem_ushort_collect
        shmem_int8_collect shmem_int16_collect shmem_uint8_collect shmem_uint16_collect
        shmem_size_collect shmem_uint_collect shmem_ulong_collect shmem_ulonglong_collect
        shmem_int32_collect shmem_int64_collect shmem_uint32_collect shmem_uint64_collect
        shmem_collectmem shmem_float_fcollect shmem_double_fcollect shmem_longdouble_fcollect
        shmem_char_fcollect shmem_schar_fcollect shmem_short_fcollect shmem_int_fcollect
        shmem_long_fcollect shmem_longlong_fcollect shmem_ptrdiff_fcollect
        shmem_uchar_fcollect shmem_ushort_fcollect shmem_int8_fcollect shmem_int16_fcollect
        shmem_uint8_fcollect shmem_uint16_fcollect shmem_size_fcollect shmem_uint_fcollect
        shmem_ulong_fcollect shmem_ulonglong_fcollect shmem_int32_fcollect
        shmem_int64_fcollect shmem_uint32_fcollect shmem_uint64_fcollect shmem_fcollectmem
        shmem_float_alltoall shmem_double_alltoall shmem_longdouble_alltoall
        shmem_char_alltoall shmem_schar_alltoall shmem_short_alltoall shmem_int_alltoall
        shmem_long_alltoall shmem_longlong_alltoall shmem_ptrdiff_alltoall
        shmem_uchar_alltoall shmem_ushort_alltoall shmem_int8_alltoall shmem_int16_alltoall
        shmem_uint8_alltoall shmem_uint16_alltoall shmem_size_alltoall shmem_uint_alltoall
        shmem_ulong_alltoall shmem_ulonglong_alltoall shmem_int32_alltoall
        shmem_int64_alltoall shmem_uint32_alltoall shmem_uint64_alltoall shmem_alltoallmem
        shmem_uchar_and_reduce shmem_ushort_and_reduce shmem_int8_and_reduce
        shmem_int16_and_reduce shmem_uint8_and_reduce shmem_uint16_and_reduce
        shmem_size_and_reduce shmem_uint_and_reduce shmem_ulong_and_reduce
        shmem_ulonglong_and_reduce shmem_int32_and_reduce shmem_int64_and_reduce
        shmem_uint32_and_reduce shmem_uint64_and_reduce shmem_uchar_or_reduce
        shmem_ushort_or_reduce shmem_int8_or_reduce shmem_int16_or_reduce
        shmem_uint8_or_reduce shmem_uint16_or_reduce shmem_size_or_reduce shmem_uint_or_reduce
        shmem_ulong_or_reduce shmem_ulonglong_or_reduce shmem_int32_or_reduce
        shmem_int64_or_reduce shmem_uint32_or_reduce shmem_uint64_or_reduce
        shmem_uchar_xor_reduce shmem_ushort_xor_reduce shmem_int8_xor_reduce
        shmem_int16_xor_reduce shmem_uint8_xor_reduce shmem_uint16_xor_reduce
        shmem_size_xor_reduce shmem_uint_xor_reduce shmem_ulong_xor_reduce
        shmem_ulonglong_xor_reduce shmem_int32_xor_reduce shmem_int64_xor_reduce
        shmem_uint32_xor_reduce shmem_uint64_xor_reduce shmem_float_max_reduce
        shmem_double_max_reduce shmem_longdouble_max_reduce shmem_char_max_reduce
        shmem_schar_max_reduce shmem_short_max_reduce shmem_int_max_reduce
        shmem_long_max_reduce shmem_longlong_max_reduce shmem_ptrdiff_max_reduce
        shmem_uchar_max_reduce shmem_ushort_max_reduce shmem_int8_max_reduce
        shmem_int16_max_reduce shmem_uint8_max_reduce shmem_uint16_max_reduce
        shmem_size_max_reduce shmem_uint_max_reduce shmem_ulong_max_reduce
        shmem_ulonglong_max_reduce shmem_int32_max_reduce shmem_int64_max_reduce
        shmem_uint32_max_reduce shmem_uint64_max_reduce shmem_float_min_reduce
        shmem_double_min_reduce shmem_longdouble_min_reduce shmem_char_min_reduce
        shmem_schar_min_reduce shmem_short_min_reduce shmem_int_min_reduce
        shmem_long_min_reduce shmem_longlong_min_reduce shmem_ptrdiff_min_reduce
        shmem_uchar_min_reduce shmem_ushort_min_reduce shmem_int8_min_reduce
        shmem_int16_min_reduce shmem_uint8_min_reduce shmem_uint16_min_reduce
        shmem_size_min_reduce shmem_uint_min_reduce shmem_ulong_min_reduce
        shmem_ulonglong_min_reduce shmem_int32_min_reduce shmem_int64_min_reduce
        shmem_uint32_min_reduce shmem_uint64_min_reduce shmem_float_sum_reduce
        shmem_double_sum_reduce shmem_longdouble_sum_reduce shmem_char_sum_reduce
        shmem_schar_sum_reduce shmem_short_sum_reduce shmem_int_sum_reduce
        shmem_long_sum_reduce shmem_longlong_sum_reduce shmem_ptrdiff_sum_reduce
        shmem_uchar_sum_reduce shmem_ushort_sum_reduce shmem_int8_sum_reduce
        shmem_int16_sum_reduce shmem_uint8_sum_reduce shmem_uint16_sum_reduce
        shmem_size_sum_reduce shmem_uint_sum_reduce shmem_ulong_sum_reduce
        shmem_ulonglong_sum_reduce shmem_int32_sum_reduce shmem_int64_sum_reduce
        shmem_uint32_sum_reduce shmem_uint64_sum_reduce shmem_complexd_sum_reduce
        shmem_complexf_sum_reduce shmem_float_prod_reduce shmem_double_prod_reduce
        shmem_longdouble_prod_reduce shmem_char_prod_reduce shmem_schar_prod_reduce
        shmem_short_prod_reduce shmem_int_prod_reduce shmem_long_prod_reduce
        shmem_longlong_prod_reduce shmem_ptrdiff_prod_reduce shmem_uchar_prod_reduce
        shmem_ushort_prod_reduce shmem_int8_prod_reduce shmem_int16_prod_reduce
        shmem_uint8_prod_reduce shmem_uint16_prod_reduce shmem_size_prod_reduce
        shmem_uint_prod_reduce shmem_ulong_prod_reduce shmem_ulonglong_prod_reduce
        shmem_int32_prod_reduce shmem_int64_prod_reduce shmem_uint32_prod_reduce
        shmem_uint64_prod_reduce shmem_complexd_prod_reduce shmem_complexf_prod_reduce
        shmem_float_sum_inscan shmem_double_sum_inscan shmem_longdouble_sum_inscan
        shmem_char_sum_inscan shmem_schar_sum_inscan shmem_short_sum_inscan
        shmem_int_sum_inscan shmem_long_sum_inscan shmem_longlong_sum_inscan
        shmem_ptrdiff_sum_inscan shmem_uchar_sum_inscan shmem_ushort_sum_inscan
        shmem_int8_sum_inscan shmem_int16_sum_inscan shmem_uint8_sum_inscan
        shmem_uint16_sum_inscan shmem_size_sum_inscan shmem_uint_sum_inscan
        shmem_ulong_sum_inscan shmem_ulonglong_sum_inscan shmem_int32_sum_inscan
        shmem_int64_sum_inscan shmem_uint32_sum_inscan shmem_uint64_sum_inscan
        shmem_complexd_sum_inscan shmem_complexf_sum_inscan shmem_float_sum_exscan
        shmem_double_sum_exscan shmem_longdouble_sum_exscan shmem_char_sum_exscan
        shmem_schar_sum_exscan shmem_short_sum_exscan shmem_int_sum_exscan
        shmem_long_sum_exscan shmem_longlong_sum_exscan shmem_ptrdiff_sum_exscan
        shmem_uchar_sum_exscan shmem_ushort_sum_exscan shmem_int8_sum_exscan
        shmem_int16_sum_exscan shmem_uint8_sum_exscan shmem_uint16_sum_exscan
        shmem_size_sum_exscan shmem_uint_sum_exscan shmem_ulong_sum_exscan
        shmem_ulonglong_sum_exscan shmem_int32_sum_exscan shmem_int64_sum_exscan
        shmem_uint32_sum_exscan shmem_uint64_sum_exscan shmem_complexd_sum_exscan
        shmem_complexf_sum_exscan shmemx_float_sum_inscan shmemx_double_sum_inscan
        shmemx_longdouble_sum_inscan shmemx_char_sum_inscan shmemx_schar_sum_inscan
        shmemx_short_sum_inscan shmemx_int_sum_inscan shmemx_long_sum_inscan
        shmemx_longlong_sum_inscan shmemx_ptrdiff_sum_inscan shmemx_uchar_sum_inscan
        shmemx_ushort_sum_inscan shmemx_int8_sum_inscan shmemx_int16_sum_inscan
        shmemx_uint8_sum_inscan shmemx_uint16_sum_inscan shmemx_size_sum_inscan
        shmemx_uint_sum_inscan shmemx_ulong_sum_inscan shmemx_ulonglong_sum_inscan
        shmemx_int32_sum_inscan shmemx_int64_sum_inscan shmemx_uint32_sum_inscan
        shmemx_uint64_sum_inscan shmemx_complexd_sum_inscan shmemx_complexf_sum_inscan
        shmemx_float_sum_exscan shmemx_double_sum_exscan shmemx_longdouble_sum_exscan
        shmemx_char_sum_exscan shmemx_schar_sum_exscan shmemx_short_sum_exscan
        shmemx_int_sum_exscan shmemx_long_sum_exscan shmemx_longlong_sum_exscan
        shmemx_ptrdiff_sum_exscan shmemx_uchar_sum_exscan shmemx_ushort_sum_exscan
        shmemx_int8_sum_exscan shmemx_int16_sum_exscan shmemx_uint8_sum_exscan
        shmemx_uint16_sum_exscan shmemx_size_sum_exscan shmemx_uint_sum_exscan
        shmemx_ulong_sum_exscan shmemx_ulonglong_sum_exscan shmemx_int32_sum_exscan
        shmemx_int64_sum_exscan shmemx_uint32_sum_exscan shmemx_uint64_sum_exscan
        shmemx_complexd_sum_exscan shmemx_complexf_sum_exscan"""),
    ((c_int, c_void_p, c_void_p, c_void_p, c_ssize_t, c_ssize_t, c_size_t), """
        shmem_float_alltoalls shmem_double_alltoalls shmem_longdouble_alltoalls
        shmem_char_alltoalls shmem_schar_alltoalls shmem_short_alltoalls shmem_int_alltoalls
        shmem_long_alltoalls shmem_longlong_alltoalls shmem_ptrdiff_alltoalls
        shmem_uchar_alltoalls shmem_ushort_alltoalls shmem_int8_alltoalls
        shmem_int16_alltoalls shmem_uint8_alltoalls shmem_uint16_alltoalls
        shmem_size_alltoalls shmem_uint_alltoalls shmem_ulong_alltoalls
        shmem_ulonglong_alltoalls shmem_int32_alltoalls shmem_int64_alltoalls
        shmem_uint32_alltoalls shmem_uint64_alltoalls shmem_alltoallsmem"""),
    ((None, c_int, c_int, c_int, c_void_p), "shmem_barrier shmem_sync"),
    ((None, c_void_p, c_void_p, c_size_t, c_int, c_int, c_int, c_int, c_void_p), """
        shmem_broadcast32 shmem_broadcast64"""),
    ((None, c_void_p, c_void_p, c_size_t, c_int, c_int, c_int, c_void_p), """
        shmem_collect32 shmem_collect64 shmem_fcollect32 shmem_fcollect64 shmem_alltoall32
        shmem_alltoall64"""),
    ((None, c_void_p, c_void_p, c_ssize_t, c_ssize_t, c_size_t, c_int, c_int, c_int,
     c_void_p), """
        shmem_alltoalls32 shmem_alltoalls64"""),
    ((None, c_void_p, c_void_p, c_int, c_int, c_int, c_int, c_void_p, c_void_p), """
        shmem_short_and_to_all shmem_int_and_to_all shmem_long_and_to_all
        shmem_longlong_and_to_all shmem_short_or_to_all shmem_int_or_to_all
        shmem_long_or_to_all shmem_longlong_or_to_all shmem_short_xor_to_all
        shmem_int_xor_to_all shmem_long_xor_to_all shmem_longlong_xor_to_all
        shmem_short_max_to_all shmem_int_max_to_all shmem_long_max_to_all
        shmem_longlong_max_to_all shmem_float_max_to_all shmem_double_max_to_all
        shmem_longdouble_max_to_all shmem_short_min_to_all shmem_int_min_to_all
        shmem_long_min_to_all shmem_longlong_min_to_all shmem_float_min_to_all
        shmem_double_min_to_all shmem_longdouble_min_to_all shmem_short_sum_to_all
        shmem_int_sum_to_all shmem_long_sum_to_all shmem_longlong_sum_to_all
        shmem_float_sum_to_all shmem_double_sum_to_all shmem_longdouble_sum_to_all
        shmem_complexd_sum_to_all shmem_complexf_sum_to_all shmem_short_prod_to_all
        shmem_int_prod_to_all shmem_long_prod_to_all shmem_longlong_prod_to_all
        shmem_float_prod_to_all shmem_double_prod_to_all shmem_longdouble_prod_to_all
        shmem_complexd_prod_to_all shmem_complexf_prod_to_all"""),
    ((None, c_void_p, c_int, c_long), "shmem_long_wait_until shmem_wait_until"),
    ((None, c_void_p, c_int, c_longlong), "shmem_longlong_wait_until"),
    ((None, c_void_p, c_int, c_size_t), "shmem_size_wait_until"),
    ((None, c_void_p, c_int, c_ssize_t), "shmem_ptrdiff_wait_until"),
    ((None, c_void_p, c_int, c_uint), "shmem_uint_wait_until"),
    ((None, c_void_p, c_int, c_ulong), "shmem_ulong_wait_until"),
    ((None, c_void_p, c_int, c_ulonglong), "shmem_ulonglong_wait_until"),
    ((None, c_void_p, c_int, c_int32), "shmem_int32_wait_until"),
    ((None, c_void_p, c_int, c_int64), "shmem_int64_wait_until"),
    ((None, c_void_p, c_int, c_uint32), "shmem_uint32_wait_until"),
    ((None, c_void_p, c_int, c_uint64), "shmem_uint64_wait_until"),
    ((c_int, c_void_p, c_int, c_long), "shmem_long_test"),
    ((c_int, c_void_p, c_int, c_longlong), "shmem_longlong_test"),
    ((c_int, c_void_p, c_int, c_size_t), "shmem_size_test"),
    ((c_int, c_void_p, c_int, c_ssize_t), "shmem_ptrdiff_test"),
    ((c_int, c_void_p, c_int, c_uint), "shmem_uint_test"),
    ((c_int, c_void_p, c_int, c_ulong), "shmem_ulong_test"),
    ((c_int, c_void_p, c_int, c_ulonglong), "shmem_ulonglong_test"),
    ((c_int, c_void_p, c_int, c_int32), "shmem_int32_test"),
    ((c_int, c_void_p, c_int, c_int64), "shmem_int64_test"),
    ((c_int, c_void_p, c_int, c_uint32), "shmem_uint32_test"),
    ((c_int, c_void_p, c_int, c_uint64), "shmem_uint64_test"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_int), "shmem_int_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_void_p), """
        shmem_int_wait_until_all_vector shmem_long_wait_until_all_vector
        shmem_longlong_wait_until_all_vector shmem_size_wait_until_all_vector
        shmem_ptrdiff_wait_until_all_vector shmem_uint_wait_until_all_vector
        shmem_ulong_wait_until_all_vector shmem_ulonglong_wait_until_all_vector
        shmem_int32_wait_until_all_vector shmem_int64_wait_until_all_vector
        shmem_uint32_wait_until_all_vector shmem_uint64_wait_until_all_vector
        shmem_short_wait_until_all_vector shmem_ushort_wait_until_all_vector"""),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_long), "shmem_long_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_longlong), "shmem_longlong_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_size_t), "shmem_size_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_ssize_t), "shmem_ptrdiff_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_uint), "shmem_uint_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_ulong), "shmem_ulong_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_ulonglong), "shmem_ulonglong_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_int32), "shmem_int32_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_int64), "shmem_int64_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_uint32), "shmem_uint32_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_uint64), "shmem_uint64_wait_until_all"),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_int), """
        shmem_int_wait_until_any shmem_int_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_void_p), """
        shmem_int_wait_until_any_vector shmem_long_wait_until_any_vector
        shmem_longlong_wait_until_any_vector shmem_size_wait_until_any_vector
        shmem_ptrdiff_wait_until_any_vector shmem_uint_wait_until_any_vector
        shmem_ulong_wait_until_any_vector shmem_ulonglong_wait_until_any_vector
        shmem_int32_wait_until_any_vector shmem_int64_wait_until_any_vector
        shmem_uint32_wait_until_any_vector shmem_uint64_wait_until_any_vector
        shmem_int_test_any_vector shmem_long_test_any_vector shmem_longlong_test_any_vector
        shmem_size_test_any_vector shmem_ptrdiff_test_any_vector shmem_uint_test_any_vector
        shmem_ulong_test_any_vector shmem_ulonglong_test_any_vector
        shmem_int32_test_any_vector shmem_int64_test_any_vector shmem_uint32_test_any_vector
        shmem_uint64_test_any_vector shmem_short_wait_until_any_vector
        shmem_ushort_wait_until_any_vector shmem_short_test_any_vector
        shmem_ushort_test_any_vector"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_long), """
        shmem_long_wait_until_any shmem_long_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_longlong), """
        shmem_longlong_wait_until_any shmem_longlong_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_size_t), """
        shmem_size_wait_until_any shmem_size_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_ssize_t), """
        shmem_ptrdiff_wait_until_any shmem_ptrdiff_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_uint), """
        shmem_uint_wait_until_any shmem_uint_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_ulong), """
        shmem_ulong_wait_until_any shmem_ulong_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_ulonglong), """
        shmem_ulonglong_wait_until_any shmem_ulonglong_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_int32), """
        shmem_int32_wait_until_any shmem_int32_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_int64), """
        shmem_int64_wait_until_any shmem_int64_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_uint32), """
        shmem_uint32_wait_until_any shmem_uint32_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_uint64), """
        shmem_uint64_wait_until_any shmem_uint64_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_int), """
        shmem_int_wait_until_some shmem_int_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_void_p), """
        shmem_int_wait_until_some_vector shmem_long_wait_until_some_vector
        shmem_longlong_wait_until_some_vector shmem_size_wait_until_some_vector
        shmem_ptrdiff_wait_until_some_vector shmem_uint_wait_until_some_vector
        shmem_ulong_wait_until_some_vector shmem_ulonglong_wait_until_some_vector
        shmem_int32_wait_until_some_vector shmem_int64_wait_until_some_vector
        shmem_uint32_wait_until_some_vector shmem_uint64_wait_until_some_vector
        shmem_int_test_some_vector shmem_long_test_some_vector shmem_longlong_test_some_vector
        shmem_size_test_some_vector shmem_ptrdiff_test_some_vector shmem_uint_test_some_vector
        shmem_ulong_test_some_vector shmem_ulonglong_test_some_vector
        shmem_int32_test_some_vector shmem_int64_test_some_vector
        shmem_uint32_test_some_vector shmem_uint64_test_some_vector
        shmem_short_wait_until_some_vector shmem_ushort_wait_until_some_vector
        shmem_short_test_some_vector shmem_ushort_test_some_vector"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_long), """
        shmem_long_wait_until_some shmem_long_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_longlong), """
        shmem_longlong_wait_until_some shmem_longlong_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_size_t), """
        shmem_size_wait_until_some shmem_size_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_ssize_t), """
        shmem_ptrdiff_wait_until_some shmem_ptrdiff_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_uint), """
        shmem_uint_wait_until_some shmem_uint_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_ulong), """
        shmem_ulong_wait_until_some shmem_ulong_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_ulonglong), """
        shmem_ulonglong_wait_until_some shmem_ulonglong_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_int32), """
        shmem_int32_wait_until_some shmem_int32_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_int64), """
        shmem_int64_wait_until_some shmem_int64_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_uint32), """
        shmem_uint32_wait_until_some shmem_uint32_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_uint64), """
        shmem_uint64_wait_until_some shmem_uint64_test_some"""),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_int), "shmem_int_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_void_p), """
        shmem_int_test_all_vector shmem_long_test_all_vector shmem_longlong_test_all_vector
        shmem_size_test_all_vector shmem_ptrdiff_test_all_vector shmem_uint_test_all_vector
        shmem_ulong_test_all_vector shmem_ulonglong_test_all_vector
        shmem_int32_test_all_vector shmem_int64_test_all_vector shmem_uint32_test_all_vector
        shmem_uint64_test_all_vector shmem_short_test_all_vector shmem_ushort_test_all_vector"""),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_long), "shmem_long_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_longlong), "shmem_longlong_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_size_t), "shmem_size_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_ssize_t), "shmem_ptrdiff_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_uint), "shmem_uint_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_ulong), "shmem_ulong_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_ulonglong), "shmem_ulonglong_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_int32), "shmem_int32_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_int64), "shmem_int64_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_uint32), "shmem_uint32_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_uint64), "shmem_uint64_test_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_short), "shmem_short_wait_until_all"),
    ((None, c_void_p, c_size_t, c_void_p, c_int, c_ushort), "shmem_ushort_wait_until_all"),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_short), """
        shmem_short_wait_until_any shmem_short_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_int, c_ushort), """
        shmem_ushort_wait_until_any shmem_ushort_test_any"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_short), """
        shmem_short_wait_until_some shmem_short_test_some"""),
    ((c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_int, c_ushort), """
        shmem_ushort_wait_until_some shmem_ushort_test_some"""),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_short), "shmem_short_test_all"),
    ((c_int, c_void_p, c_size_t, c_void_p, c_int, c_ushort), "shmem_ushort_test_all"),
    ((None, c_void_p, c_int, c_short), "shmem_short_wait_until"),
    ((None, c_void_p, c_int, c_ushort), "shmem_ushort_wait_until"),
    ((c_int, c_void_p, c_int, c_short), "shmem_short_test"),
    ((c_int, c_void_p, c_int, c_ushort), "shmem_ushort_test"),
    ((None, c_void_p, c_short), "shmem_short_wait"),
    ((None, c_void_p, c_long), "shmem_long_wait shmem_wait"),
    ((None, c_void_p, c_longlong), "shmem_longlong_wait"),
    ((None, c_void_p, c_size_t), "shmem_pe_quiet shmemx_pe_quiet"),
    ((None, c_void_p, c_void_p, c_size_t), "shmem_ctx_pe_quiet shmemx_ctx_pe_quiet"),
    ((c_void_p, c_size_t, c_int), """
        shmemx_partition_malloc shmemx_partition_malloc_nosync shmem_partition_malloc
        shmemx_kind_malloc"""),
    ((c_void_p, c_size_t, c_size_t, c_int), """
        shmemx_partition_calloc shmemx_partition_align shmem_partition_align shmemx_kind_align"""),
    ((c_void_p, c_void_p, c_size_t, c_int), """
        shmemx_partition_realloc shmemx_buffer_register_symmetric"""),
    ((c_int, CFUNCTYPE(c_void_p, c_size_t, c_int), CFUNCTYPE(None, c_void_p), c_int), """
        __tgt_set_shmem_allocator"""),
    ((c_int, c_int, POINTER(shmemx_partition_info_t)), """
        shmemx_partition_info shmemx_partition_plan"""),
    ((c_char_p, c_int), "shmemx_partition_name shmemx_index_to_name"),
    ((c_int, POINTER(shmemx_network_info_t)), "shmemx_network_info"),
    ((c_int, c_int, POINTER(shmemx_transport_info_t)), "shmemx_transport_plan"),
    ((c_int, c_int, POINTER(memspan_option_info_t)), "shmemx_option_describe"),
    ((c_int, c_void_p, POINTER(shmemx_space_config_t), c_void_p), "shmemx_space_create"),
    ((c_void_p, c_void_p, c_size_t, c_size_t), """
        shmemx_space_calloc shmemx_space_align shmemx_calloc_by_name shmemx_align_by_name"""),
    ((c_void_p, c_void_p), "shmemx_space_of"),
    ((c_void_p, c_int, c_size_t), "shmemx_malloc_by_index"),
    ((c_void_p, c_int, c_size_t, c_size_t), "shmemx_calloc_by_index shmemx_align_by_index"),
    ((c_void_p, c_int, c_void_p, c_size_t), "shmemx_realloc_by_index"),
    ((c_void_p, c_void_p, c_void_p, c_size_t), "shmemx_realloc_by_name"),
    ((c_int, c_void_p, c_size_t), "shmemx_buffer_register shmemx_buffer_unregister_symmetric"),
    ((c_int, c_void_p, c_size_t, c_int, c_int), "shmemx_heap_create"),
]
