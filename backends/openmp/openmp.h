/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_OPENMP_OPENMP_H
#define MEMSPAN_BACKENDS_OPENMP_OPENMP_H

/* The declarations that the files of this room share. README.md has the design. */

#include <memspan/backend.h>
#include <pthread.h>
#include <stdbool.h>

typedef void *openmp_alloc_fn(size_t size, int device);
typedef void openmp_free_fn(void *pointer, int device);

/* X(return type, member, symbol, arguments, optional) of the offload runtime. */
#define OPENMP_CALL_MAP(X)                                                                         \
    X(void, register_lib, "__tgt_register_lib", (void *), true)                                    \
    X(void, unregister_lib, "__tgt_unregister_lib", (void *), true)                                \
    X(int, get_num_devices, "omp_get_num_devices", (void), false)                                  \
    X(void *, alloc, "omp_target_alloc", (size_t size, int device), false)                         \
    X(void, free, "omp_target_free", (void *pointer, int device), false)                           \
    X(int, copy, "omp_target_memcpy",                                                              \
      (void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,              \
       int to_device, int from_device),                                                            \
      false)                                                                                       \
    X(void *, fill, "omp_target_memset", (void *to, int byte, size_t size, int device), true)      \
    X(const char *, uid, "omp_get_uid_from_device", (int device), true)                            \
    X(void *, alloc_host, "llvm_omp_target_alloc_host", (size_t size, int device), true)           \
    X(void *, alloc_shared, "llvm_omp_target_alloc_shared", (size_t size, int device), true)       \
    X(void, free_host, "llvm_omp_target_free_host", (void *pointer, int device), true)             \
    X(void, free_shared, "llvm_omp_target_free_shared", (void *pointer, int device), true)         \
    X(void *, lock, "llvm_omp_target_lock_mem", (void *pointer, size_t size, int device), true)    \
    X(void, unlock, "llvm_omp_target_unlock_mem", (void *pointer, int device), true)

struct openmp_calls {
#define OPENMP_CALL_MEMBER(type, member, symbol, arguments, optional) type(*member) arguments;
    OPENMP_CALL_MAP(OPENMP_CALL_MEMBER)
#undef OPENMP_CALL_MEMBER
};

/* A live block of ours: copies must find the device of an address. */
struct openmp_range {
    const char *address;
    size_t size_bytes;
    int ordinal;
    memspan_kind_t kind;
};

/* All live blocks, by ascending address. The lock guards everything else in here. */
struct openmp_blocks {
    pthread_rwlock_t lock;
    struct openmp_range *ranges;
    size_t count;
    size_t capacity;
};

/* The one instance. Nothing in it but the blocks changes after open(). */
struct openmp {
    const memspan_services_t *services;
    struct openmp_calls calls;
    void *library;    /* a reference to the runtime, so that it stays */
    char runtime[64]; /* "libomptarget.so.19.1" */
    int count;
    int host;      /* the host's number in the runtime */
    bool *is_host; /* by ordinal: its memory is the host's, see probe.c */
    struct openmp_blocks blocks;
};

/* runtime.c: find the offload runtime that is in the process; loads none. MEMSPAN_ERR_OFF with the
 * reason, otherwise calls, library and runtime are set. */
memspan_status_t openmp_runtime_find(struct openmp *openmp);

/* probe.c: true when the device's memory was seen to be the host's ordinary memory. */
bool openmp_probe_is_host(const struct openmp *openmp, int ordinal);

/* describe.c */
memspan_status_t openmp_describe(void *state, int ordinal, memspan_device_info_t *info_p);
memspan_reach_t openmp_reach(void *state, int home, memspan_kind_t kind, int from);
void openmp_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text,
                         size_t size);

/* The kinds that a device offers, as bits. */
unsigned openmp_kinds(const struct openmp *openmp, int ordinal);

/* blocks.c */
bool openmp_blocks_init(struct openmp_blocks *blocks);
void openmp_blocks_free(struct openmp_blocks *blocks);
bool openmp_blocks_add(struct openmp_blocks *blocks, const struct openmp_range *range);
void openmp_blocks_remove(struct openmp_blocks *blocks, const void *address);
bool openmp_blocks_find(struct openmp_blocks *blocks, const void *address,
                        struct openmp_range *range_p);

/* memory.c */
memspan_status_t openmp_alloc(void *state, int ordinal, const memspan_request_t *request,
                              memspan_block_t *block_p);
memspan_status_t openmp_free(void *state, int ordinal, const memspan_block_t *block);
memspan_status_t openmp_import(void *state, int ordinal, void *address, size_t size_bytes,
                               void **address_p, void **cookie_p);
memspan_status_t openmp_release(void *state, int ordinal, void *address, size_t size_bytes,
                                void *cookie);
memspan_status_t openmp_host_open(void *state, int ordinal, const void *address, size_t size_bytes,
                                  void **host_p);
memspan_status_t openmp_host_close(void *state, int ordinal, const void *address,
                                   size_t size_bytes);

/* work.c */
memspan_status_t openmp_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                             size_t size_bytes);
memspan_status_t openmp_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                             size_t size_bytes);
memspan_status_t openmp_synchronize(void *state, int ordinal, void *queue);

/* MEMSPAN_ERR_INVALID unless the backend has such a device. */
memspan_status_t openmp_check_ordinal(const struct openmp *openmp, int ordinal);

#endif /* MEMSPAN_BACKENDS_OPENMP_OPENMP_H */
