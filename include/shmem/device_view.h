/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_DEVICE_VIEW_H
#define MEMSPAN_SHMEM_DEVICE_VIEW_H

/** @file device_view.h
 * The view that a device has of a job, and the queues of requests in it. Included by
 * <shmemx_device.h>; programs use the operations there. Freestanding C and C++.
 *
 * A view is one block of memory, in which parts are found by their distance from its start. The
 * host makes it (shmemx_device_open()). Where the device has memory of its own, the view is there,
 * and the host does not load it: an operation that the device executes itself then loads nothing
 * over the bus. What device and host both use, the state and the cells of queues, is memory that
 * both load and store, and has addresses in the view.
 *
 * A queue has a power of two of cells, used in the order of tickets. Tickets count in steps of 4,
 * and the turn of a cell is the state of its ticket:
 *
 *     turn == ticket               free for the thread that drew the ticket
 *     turn == ticket + 1           requested: the host executes a queue in the order of tickets
 *     turn == ticket + 2           executed, with a reply that its thread takes
 *     turn == ticket + 4 * cells   free for the next ticket
 *
 * A thread waits for its cell, so a full queue loses nothing. Every store of a turn is a release,
 * every load an acquire: cell, data and reply belong to the side whose turn it is. */

#if defined(__OPENCL_VERSION__)
typedef uchar uint8_t;
typedef char int8_t;
typedef ushort uint16_t;
typedef short int16_t;
typedef uint uint32_t;
typedef int int32_t;
typedef ulong uint64_t;
typedef long int64_t;
#else
#include <stddef.h>
#include <stdint.h>
#endif

/* ---- one source for several languages and processors ---- */

#if defined(SHMEMX_DEVICE_FUNCTION) /* by the build of the bitcode: empty */
#elif defined(__CUDACC__) || defined(__HIP__)
#define SHMEMX_DEVICE_FUNCTION static inline __host__ __device__ __attribute__((unused))
#else
#define SHMEMX_DEVICE_FUNCTION static inline __attribute__((unused))
#endif

#if defined(__AMDGCN__) || defined(__NVPTX__) || defined(__SPIR__) || defined(__SPIRV__) ||        \
    defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define SHMEMX_DEVICE_IS_GPU 1
#else
#define SHMEMX_DEVICE_IS_GPU 0
#endif

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#if defined(_OPENMP)
#pragma omp declare target
#endif

/* NVIDIA's processors: their memory model's instructions (PTX 6.0, sm_70 and newer), because nvcc
 * has no __atomic functions in kernels, and Clang 19 neither ordered loads nor operations at system
 * scope. A volatile access is a relaxed one at system scope. */
#if defined(__NVPTX__) || defined(__CUDA_ARCH__)
#define SHMEMX_DEVICE_IS_PTX 1
SHMEMX_DEVICE_FUNCTION void shmemx_device_order_memory(int is_total)
{
    if (is_total) {
        __asm__ volatile("fence.sc.sys;" ::: "memory");
    } else {
        __asm__ volatile("fence.acq_rel.sys;" ::: "memory");
    }
}
#define SHMEMX_DEVICE_ORDER(order)      shmemx_device_order_memory((order) == __ATOMIC_SEQ_CST)
#define SHMEMX_DEVICE_ORDER_GROUP()     __asm__ volatile("fence.acq_rel.gpu;" ::: "memory")
#define SHMEMX_DEVICE_PEEK(word)        (*(const volatile __typeof__(*(word)) *)(word))
#define SHMEMX_DEVICE_POKE(word, value) ((void)(*(volatile __typeof__(*(word)) *)(word) = (value)))
#else
#define SHMEMX_DEVICE_IS_PTX            0
#define SHMEMX_DEVICE_ORDER(order)      __atomic_thread_fence(order)
#define SHMEMX_DEVICE_ORDER_GROUP()     __atomic_thread_fence(__ATOMIC_ACQ_REL)
#define SHMEMX_DEVICE_PEEK(word)        __atomic_load_n((word), __ATOMIC_RELAXED)
#define SHMEMX_DEVICE_POKE(word, value) __atomic_store_n((word), (value), __ATOMIC_RELAXED)
#endif

/* The checker of the protocol (tests/shmem/device) defines these itself. Tickets are drawn by the
 * threads of one device. */
#ifndef SHMEMX_DEVICE_LOAD_ACQUIRE
#if SHMEMX_DEVICE_IS_PTX
#define SHMEMX_DEVICE_DEFINE_ORDERED(WORD, BITS, REGISTER)                                         \
    SHMEMX_DEVICE_FUNCTION WORD shmemx_device_load_##WORD(const WORD *word)                        \
    {                                                                                              \
        WORD value;                                                                                \
        __asm__ volatile("ld.acquire.sys.b" #BITS " %0, [%1];"                                     \
                         : "=" REGISTER(value)                                                     \
                         : "l"(word)                                                               \
                         : "memory");                                                              \
        return value;                                                                              \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION void shmemx_device_store_##WORD(WORD *word, WORD value)                 \
    {                                                                                              \
        __asm__ volatile("st.release.sys.b" #BITS " [%0], %1;" ::"l"(word), REGISTER(value)        \
                         : "memory");                                                              \
    }
SHMEMX_DEVICE_FUNCTION uint64_t shmemx_device_draw(uint64_t *word, uint64_t value)
{
    uint64_t old;

    __asm__ volatile("atom.relaxed.gpu.add.u64 %0, [%1], %2;"
                     : "=l"(old)
                     : "l"(word), "l"(value)
                     : "memory");
    return old;
}
#define SHMEMX_DEVICE_DRAW(word, value) shmemx_device_draw((word), (value))
#else
#define SHMEMX_DEVICE_DEFINE_ORDERED(WORD, BITS, REGISTER)                                         \
    SHMEMX_DEVICE_FUNCTION WORD shmemx_device_load_##WORD(const WORD *word)                        \
    {                                                                                              \
        return __atomic_load_n(word, __ATOMIC_ACQUIRE);                                            \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION void shmemx_device_store_##WORD(WORD *word, WORD value)                 \
    {                                                                                              \
        __atomic_store_n(word, value, __ATOMIC_RELEASE);                                           \
    }
#define SHMEMX_DEVICE_DRAW(word, value) __atomic_fetch_add((word), (value), __ATOMIC_RELAXED)
#endif
SHMEMX_DEVICE_DEFINE_ORDERED(uint32_t, 32, "r")
SHMEMX_DEVICE_DEFINE_ORDERED(uint64_t, 64, "l")
#define SHMEMX_DEVICE_LOAD_ACQUIRE(word)         shmemx_device_load_uint64_t(word)
#define SHMEMX_DEVICE_STORE_RELEASE(word, value) shmemx_device_store_uint64_t((word), (value))
#define SHMEMX_DEVICE_LOAD_RELAXED(word)         SHMEMX_DEVICE_PEEK(word)
#define SHMEMX_DEVICE_EXCHANGE(word, value)      __atomic_exchange_n((word), (value), __ATOMIC_SEQ_CST)
#define SHMEMX_DEVICE_FILL(member, value)        ((member) = (value))
#define SHMEMX_DEVICE_TAKE(member)               (member)
#define SHMEMX_DEVICE_POLL(view, polls)          shmemx_device_poll((view), (polls))

/* The end of the body of a loop that waits for a cell. Threads of one wave that run in lockstep
 * wait for each other where they leave a loop: one that holds a cell must not leave it before the
 * cell is given away. So the body has one attempt with all that follows it, and the compiler must
 * not move that behind the loop. */
#if defined(__AMDGCN__)
#define SHMEMX_DEVICE_CONVERGE(ends) __asm__ volatile("" : "+v"(ends))
#elif defined(__SPIR__) || defined(__SPIRV__) || defined(__OPENCL_VERSION__)
#define SHMEMX_DEVICE_CONVERGE(ends) ((void)(ends))
#else
#define SHMEMX_DEVICE_CONVERGE(ends) __asm__ volatile("" : "+r"(ends))
#endif
#endif

/* ---- atomic updates of words, with their old value ----
 * What follows an update stays behind it. What precedes it is ordered by fence, quiet and signals:
 * a release to the host waits for the bus. */

#if SHMEMX_DEVICE_IS_PTX
#define SHMEMX_DEVICE_DEFINE_UPDATE(WORD, BITS, REGISTER, NAME, PTX)                               \
    SHMEMX_DEVICE_FUNCTION WORD shmemx_device_##NAME##_##WORD(WORD *to, WORD value)                \
    {                                                                                              \
        WORD old;                                                                                  \
        __asm__ volatile("atom.acquire.sys." PTX #BITS " %0, [%1], %2;"                            \
                         : "=" REGISTER(old)                                                       \
                         : "l"(to), REGISTER(value)                                                \
                         : "memory");                                                              \
        return old;                                                                                \
    }
#define SHMEMX_DEVICE_DEFINE_UPDATES(WORD, BITS, REGISTER)                                         \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, BITS, REGISTER, swap, "exch.b")                              \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, BITS, REGISTER, add, "add.u")                                \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, BITS, REGISTER, and, "and.b")                                \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, BITS, REGISTER, or, "or.b")                                  \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, BITS, REGISTER, xor, "xor.b")                                \
    SHMEMX_DEVICE_FUNCTION WORD shmemx_device_compare_swap_##WORD(WORD *to, WORD condition,        \
                                                                  WORD value)                      \
    {                                                                                              \
        WORD old;                                                                                  \
        __asm__ volatile("atom.acquire.sys.cas.b" #BITS " %0, [%1], %2, %3;"                       \
                         : "=" REGISTER(old)                                                       \
                         : "l"(to), REGISTER(condition), REGISTER(value)                           \
                         : "memory");                                                              \
        return old;                                                                                \
    }
#else
#define SHMEMX_DEVICE_DEFINE_UPDATE(WORD, NAME, FUNCTION)                                          \
    SHMEMX_DEVICE_FUNCTION WORD shmemx_device_##NAME##_##WORD(WORD *to, WORD value)                \
    {                                                                                              \
        return FUNCTION(to, value, __ATOMIC_ACQUIRE);                                              \
    }
#define SHMEMX_DEVICE_DEFINE_UPDATES(WORD, BITS, REGISTER)                                         \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, swap, __atomic_exchange_n)                                   \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, add, __atomic_fetch_add)                                     \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, and, __atomic_fetch_and)                                     \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, or, __atomic_fetch_or)                                       \
    SHMEMX_DEVICE_DEFINE_UPDATE(WORD, xor, __atomic_fetch_xor)                                     \
    SHMEMX_DEVICE_FUNCTION WORD shmemx_device_compare_swap_##WORD(WORD *to, WORD condition,        \
                                                                  WORD value)                      \
    {                                                                                              \
        (void)__atomic_compare_exchange_n(to, &condition, value, 0, __ATOMIC_ACQUIRE,              \
                                          __ATOMIC_ACQUIRE);                                       \
        return condition;                                                                          \
    }
#endif
SHMEMX_DEVICE_DEFINE_UPDATES(uint32_t, 32, "r")
SHMEMX_DEVICE_DEFINE_UPDATES(uint64_t, 64, "l")

/* ---- the view ---- */

#define SHMEMX_DEVICE_VIEW_VERSION 3
#define SHMEMX_DEVICE_STEP         4u      /* of tickets */
#define SHMEMX_DEVICE_PIECE_BYTES  8192u   /* of data of a request */
#define SHMEMX_DEVICE_RAW          0xffffu /* for a segment: the address itself */

/** What the host executes for a device. */
enum shmemx_device_operation {
    SHMEMX_DEVICE_PUT = 1,
    SHMEMX_DEVICE_GET,
    SHMEMX_DEVICE_FETCH,
    SHMEMX_DEVICE_SET,
    SHMEMX_DEVICE_SWAP,
    SHMEMX_DEVICE_COMPARE_SWAP,
    SHMEMX_DEVICE_ADD,
    SHMEMX_DEVICE_AND,
    SHMEMX_DEVICE_OR,
    SHMEMX_DEVICE_XOR,
    SHMEMX_DEVICE_SIGNAL_SET, /* behind all requests before it to that PE */
    SHMEMX_DEVICE_SIGNAL_ADD,
    SHMEMX_DEVICE_FENCE,
    SHMEMX_DEVICE_QUIET,
    SHMEMX_DEVICE_NOTIFY,          /* a PE that sleeps: memory of its was stored to directly */
    SHMEMX_DEVICE_REPLIES = 0x100, /* a bit: the thread takes a reply */
};

/** One request: a cache line. */
typedef struct shmemx_device_cell {
    uint64_t turn;
    uint32_t operation;
    int32_t pe;
    uint64_t where; /* segment << 48 | offset */
    uint64_t size_bytes;
    uint64_t value; /* of at most 8 bytes, data too; the reply */
    uint64_t condition;
    uint64_t spare[2];
} shmemx_device_cell_t;

/** What the host has executed of a queue. Cells follow it, then their data, a piece for each. */
typedef struct shmemx_device_progress {
    uint64_t ordered;  /* tickets below it are before a fence of the host */
    uint64_t complete; /* tickets below it are complete */
    uint64_t spare[6];
} shmemx_device_progress_t;

/** A queue, as the threads of the device have it. */
typedef struct shmemx_device_queue {
    uint64_t next; /* ticket to draw */
    uint64_t spare1[7];
    uint64_t ordered; /* of the progress, when a thread last loaded it */
    uint64_t complete;
    uint64_t progress; /* address */
    uint32_t cell_count;
    uint32_t spare2[9];
} shmemx_device_queue_t;

/** Symmetric memory. */
typedef struct shmemx_device_segment {
    uint64_t base; /* of this PE's copy */
    uint64_t size_bytes;
    /** Where reach_others: the PE with place i has its copy at address + to_window + i * stride. */
    uint64_t to_window;
    uint64_t stride_bytes;
    /** Not 0: where in the view the device's addresses of the PEs' copies are, a uint64_t for each
     * place, 0 for those that it does not reach. */
    uint64_t addresses_at;
    uint32_t reach_own;    /* the device loads and stores this PE's copy */
    uint32_t reach_others; /* and those of the PEs that have a place */
    uint32_t direct;       /* atomic operations that the device executes, a bit each; others ask */
    uint32_t number;
} shmemx_device_segment_t;

/** What device and host both load and store, beside queues. */
typedef struct shmemx_device_state {
    /** Not 0: a peer has failed, and the job ends. Every wait of a device watches it. */
    uint64_t failed;
    uint64_t spare1[7];
    uint64_t is_served;  /* a thread executes requests */
    uint32_t is_asleep;  /* the host's thread, on this word */
    uint32_t has_waited; /* a kernel did, since the host looked for failed peers */
    uint64_t spare2[6];
} shmemx_device_state_t;

typedef struct shmemx_device_view {
    uint32_t version;
    int32_t device; /* as it was opened */
    int32_t my_pe;
    int32_t n_pes;
    uint32_t segment_count;
    uint32_t queue_count;
    uint64_t segments_at; /* distances from the start of the view */
    uint64_t places_at;   /* int32_t for each PE: its place; -1: it has none */
    uint64_t queues_at;
    uint64_t state;   /* address */
    uint64_t barrier; /* address of this PE's words of device barriers, symmetric */
    /** Address of the count of sleepers of the PE with place 0; 0: the host looks for them. */
    uint64_t sleepers;
    uint64_t sleepers_stride_bytes;
    uint64_t serve;  /* address of the host's function that executes requests; 0: its thread does */
    uint64_t server; /* argument of it */
    uint32_t is_apart;     /* the device loads and stores no memory but where segments have it */
    uint32_t asks_for_own; /* some memory of this PE is one that it does not load and store */
    uint64_t failed;       /* of the state, when a thread of the device last loaded it */
    uint64_t spare[2];
} shmemx_device_view_t;

/* ---- parts ---- */

SHMEMX_DEVICE_FUNCTION const char *shmemx_device_part(const shmemx_device_view_t *view, uint64_t at)
{
    return (const char *)view + at;
}

SHMEMX_DEVICE_FUNCTION shmemx_device_queue_t *
shmemx_device_queue_at(const shmemx_device_view_t *view, uint32_t index)
{
    return (shmemx_device_queue_t *)(uintptr_t)shmemx_device_part(
        view, view->queues_at + ((index % view->queue_count) * sizeof(shmemx_device_queue_t)));
}

/* ---- waiting ---- */

#if defined(__linux__) && defined(__x86_64__) && !SHMEMX_DEVICE_IS_GPU &&                          \
    !defined(__OPENCL_VERSION__)
#define SHMEMX_DEVICE_HAS_KERNEL 1
SHMEMX_DEVICE_FUNCTION void shmemx_device_syscall(long number, const void *first, long second,
                                                  long third)
{
    long result = number;

    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
}
SHMEMX_DEVICE_FUNCTION void shmemx_device_yield(void)
{
    shmemx_device_syscall(24, NULL, 0, 0); /* sched_yield */
}
SHMEMX_DEVICE_FUNCTION void shmemx_device_wake_host(uint32_t *word)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != 0) {
        __atomic_store_n(word, 0, __ATOMIC_RELAXED);
        shmemx_device_syscall(202, word, 1 | 128, 1); /* futex, FUTEX_WAKE_PRIVATE */
    }
}
#else
/* The host's thread looks at the queues by itself. */
#define SHMEMX_DEVICE_HAS_KERNEL 0
SHMEMX_DEVICE_FUNCTION void shmemx_device_yield(void)
{
}
SHMEMX_DEVICE_FUNCTION void shmemx_device_wake_host(uint32_t *word)
{
    (void)word;
}
#endif

SHMEMX_DEVICE_FUNCTION shmemx_device_state_t *
shmemx_device_state_of(const shmemx_device_view_t *view)
{
    return (shmemx_device_state_t *)(uintptr_t)view->state;
}

/** 1 when a peer has failed: the kernel should end, operations do nothing any more. Also for
 * kernels that poll by themselves: the host looks for failed peers while a kernel asks. */
SHMEMX_DEVICE_FUNCTION int shmemx_device_failed(const shmemx_device_view_t *view)
{
    if (SHMEMX_DEVICE_PEEK(&shmemx_device_state_of(view)->has_waited) == 0) {
        SHMEMX_DEVICE_POKE(&shmemx_device_state_of(view)->has_waited, 1);
    }
    if (SHMEMX_DEVICE_PEEK(&shmemx_device_state_of(view)->failed) == 0) {
        return 0;
    }
    SHMEMX_DEVICE_POKE((uint64_t *)(uintptr_t)&view->failed, 1);
    return 1;
}

/* The same, as a thread of the device has last seen it: nothing is loaded over the bus. */
SHMEMX_DEVICE_FUNCTION int shmemx_device_has_seen_failure(const shmemx_device_view_t *view)
{
    return SHMEMX_DEVICE_LOAD_RELAXED(&view->failed) != 0;
}

/* Between two polls; 1 when the wait is in vain. */
SHMEMX_DEVICE_FUNCTION int shmemx_device_poll(const shmemx_device_view_t *view, unsigned *polls)
{
    enum { POLLS_BEFORE_YIELD = 256, POLLS_A_LOOK = 32 };

    if (++*polls >= POLLS_BEFORE_YIELD) {
        shmemx_device_yield();
    }
#if defined(__x86_64__) && !SHMEMX_DEVICE_IS_GPU
    __builtin_ia32_pause();
#endif
    return (*polls % POLLS_A_LOOK == 0) && shmemx_device_failed(view);
}

/* ---- queues: both sides ---- */

SHMEMX_DEVICE_FUNCTION shmemx_device_progress_t *
shmemx_device_progress_of(const shmemx_device_queue_t *queue)
{
    return (shmemx_device_progress_t *)(uintptr_t)queue->progress;
}

SHMEMX_DEVICE_FUNCTION shmemx_device_cell_t *
shmemx_device_cell_of(const shmemx_device_queue_t *queue, uint64_t ticket)
{
    shmemx_device_cell_t *cells =
        (shmemx_device_cell_t *)(void *)(shmemx_device_progress_of(queue) + 1);

    return &cells[(ticket / SHMEMX_DEVICE_STEP) & (queue->cell_count - 1)];
}

SHMEMX_DEVICE_FUNCTION char *shmemx_device_data_of(const shmemx_device_queue_t *queue,
                                                   uint64_t ticket)
{
    shmemx_device_cell_t *cells = shmemx_device_cell_of(queue, 0);
    uint64_t at                 = (ticket / SHMEMX_DEVICE_STEP) & (queue->cell_count - 1);

    return (char *)(void *)(cells + queue->cell_count) + (at * SHMEMX_DEVICE_PIECE_BYTES);
}

SHMEMX_DEVICE_FUNCTION uint64_t shmemx_device_lap(const shmemx_device_queue_t *queue)
{
    return (uint64_t)queue->cell_count * SHMEMX_DEVICE_STEP;
}

/* The cell is this thread's when its turn has come. */
SHMEMX_DEVICE_FUNCTION uint64_t shmemx_device_draw_ticket(shmemx_device_queue_t *queue)
{
    return SHMEMX_DEVICE_DRAW(&queue->next, (uint64_t)SHMEMX_DEVICE_STEP);
}

/* The host may execute it. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_post(shmemx_device_cell_t *cell, uint64_t ticket)
{
    SHMEMX_DEVICE_STORE_RELEASE(&cell->turn, ticket + 1);
}

/* The reply is taken: the next lap's thread may have the cell. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_release(const shmemx_device_queue_t *queue,
                                                  shmemx_device_cell_t *cell, uint64_t ticket)
{
    SHMEMX_DEVICE_STORE_RELEASE(&cell->turn, ticket + shmemx_device_lap(queue));
}

/* A thread of the host's processors executes the request itself, if no other thread does. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_submit(const shmemx_device_view_t *view,
                                                 shmemx_device_cell_t *cell, uint64_t ticket)
{
    shmemx_device_post(cell, ticket);
#if SHMEMX_DEVICE_HAS_KERNEL
    if (view->serve != 0) {
        ((void (*)(uint64_t))(uintptr_t)view->serve)(view->server);
        return;
    }
#endif
    shmemx_device_wake_host(&shmemx_device_state_of(view)->is_asleep);
}

/* Ask for one operation on a word, or for order; the reply, 0 without one. One loop, as for
 * data: a thread that waits for a cell lets the thread of its wave that holds it go on. */
SHMEMX_DEVICE_FUNCTION uint64_t shmemx_device_ask(const shmemx_device_view_t *view,
                                                  shmemx_device_queue_t *queue, uint32_t operation,
                                                  uint64_t where, size_t size_bytes, uint64_t value,
                                                  uint64_t condition, int pe)
{
    uint64_t ticket            = shmemx_device_draw_ticket(queue);
    shmemx_device_cell_t *cell = shmemx_device_cell_of(queue, ticket);
    uint64_t reply             = 0;
    unsigned polls             = 0;
    int ends;

    do {
        uint64_t turn = SHMEMX_DEVICE_LOAD_ACQUIRE(&cell->turn);

        if (turn == ticket) {
            cell->operation  = operation;
            cell->pe         = pe;
            cell->where      = where;
            cell->size_bytes = size_bytes;
            cell->condition  = condition;
            SHMEMX_DEVICE_FILL(cell->value, value);
            shmemx_device_submit(view, cell, ticket);
            ends = ((operation & SHMEMX_DEVICE_REPLIES) == 0);
        } else if (turn == ticket + 2) {
            reply = SHMEMX_DEVICE_TAKE(cell->value);
            shmemx_device_release(queue, cell, ticket); /* the reply is taken */
            ends = 1;
        } else {
            ends = SHMEMX_DEVICE_POLL(view, &polls);
        }
        SHMEMX_DEVICE_CONVERGE(ends);
    } while (!ends);
    return reply;
}

/* Of the host: whether the request of that ticket is there. */
SHMEMX_DEVICE_FUNCTION int shmemx_device_is_requested(const shmemx_device_cell_t *cell,
                                                      uint64_t ticket)
{
    return SHMEMX_DEVICE_LOAD_ACQUIRE(&cell->turn) == ticket + 1;
}

/* Of the host: it is executed. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_answer(const shmemx_device_queue_t *queue,
                                                 shmemx_device_cell_t *cell, uint64_t ticket)
{
    if ((SHMEMX_DEVICE_TAKE(cell->operation) & SHMEMX_DEVICE_REPLIES) != 0) {
        SHMEMX_DEVICE_STORE_RELEASE(&cell->turn, ticket + 2);
    } else {
        shmemx_device_release(queue, cell, ticket);
    }
}

/* Of the host: 1 where this thread may execute requests, as no other does. */
SHMEMX_DEVICE_FUNCTION int shmemx_device_begin_service(shmemx_device_state_t *state)
{
    SHMEMX_DEVICE_ORDER(__ATOMIC_SEQ_CST); /* behind its own request, which another may see */
    return SHMEMX_DEVICE_EXCHANGE(&state->is_served, (uint64_t)1) == 0;
}

/* Of the host: then it checks for requests again: their threads may have found it at work. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_end_service(shmemx_device_state_t *state)
{
    (void)SHMEMX_DEVICE_EXCHANGE(&state->is_served, (uint64_t)0);
    SHMEMX_DEVICE_ORDER(__ATOMIC_SEQ_CST);
}

#if defined(_OPENMP)
#pragma omp end declare target
#endif
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif /* MEMSPAN_SHMEM_DEVICE_VIEW_H */
