/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_EMU_EMU_H
#define MEMSPAN_BACKENDS_EMU_EMU_H

/* The records of the emulated devices. README.md has the design.
 *
 * One memory file holds the memory of all devices. The program sees it twice: at the promised
 * addresses ("the arena"), open or closed by the rules, and through a window of its own, always
 * open, by which copies and fills go. Each device is a process in which the arena lies at the same
 * addresses.
 *
 * Locks: emu::lock guards blocks, accounts and the owner of managed memory; emu_device::lock the
 * ring's writing end. The second may be taken under the first. No thread waits for a device under
 * emu::lock for more than space in its ring. emu::import_lock is taken before both. */

#include "backends/emu/ring.h"
#include "core/base/region.h"
#include <memspan/backend.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define EMU_NAME "emu"

enum { EMU_DEVICES_MAX = 32 };

/* Blocks start on a granule, and one stays free after each, so that overruns strike. */
#define EMU_GRANULE_BYTES ((size_t)64 << 10)

/* A device's addresses are this many times its memory: freed ones are used again late. */
#define EMU_SPREAD 4

/* Of a block's allocation; the library's own are among them. */
enum { EMU_CALLERS_MAX = 28 };

enum emu_block_state { EMU_BLOCK_LIVE = 1, EMU_BLOCK_LEAVING, EMU_BLOCK_FREED };

/* A record is never given back to the system: the signal handler may look at it at any time. */
struct emu_block {
    char *base;
    size_t size_bytes;
    memspan_kind_t kind;
    int home;
    int resident;                   /* an ordinal, or MEMSPAN_HOST: the last user */
    _Atomic uint32_t state;         /* enum emu_block_state */
    _Atomic uint32_t busy;          /* bit d: device d may use it, unwaited so far */
    _Atomic uint32_t given;         /* the same for target regions with nowait */
    bool open;                      /* the host's view of it */
    struct emu_queue *attached;     /* the queue whose work alone uses it; NULL: work of all */
    bool attached_busy;             /* launches of that queue were not waited for so far */
    bool imported;                  /* pages of another process, which counts them */
    size_t granules;                /* entries of the arena's table that lead here */
    struct emu_block *next;         /* of those in use; of records out of use */
    struct emu_block *older;        /* of all records */
    void *callers[EMU_CALLERS_MAX]; /* the call stack of its allocation, the innermost first */
    int caller_count;
    struct emu_access *accesses; /* order.c */
    size_t access_count;
    size_t access_capacity;
};

/* Queues with a place in clocks; work of others is not checked. */
enum { EMU_CLOCKS = 1024 + EMU_DEVICES_MAX, EMU_NO_CLOCK = EMU_CLOCKS };

/* A vector clock: operations of each queue that precede; none of those from count on. */
struct emu_clock {
    uint32_t count;
    uint64_t at[EMU_CLOCKS];
};

/* Commands in the ring are done in the order in which they were submitted. Records are kept for the
 * queues that are created later, since events name them; the counts below grow over all lives. */
struct emu_queue {
    struct emu_queue *next;
    struct emu_device *device;
    uint64_t submitted; /* the device's count after the last command of this queue */
    uint64_t launched;  /* the same of its last launch */
    uint64_t waited;    /* up to there it was waited for */
    unsigned number;    /* for reports; 0: the device's own */
    uint32_t index;     /* in clocks */
    struct emu_clock *clock;
    struct emu_pending *first; /* late.c: commands that are not in the ring yet */
    struct emu_pending **last;
    uint64_t added;
    uint64_t taken; /* of those, the first */
    unsigned launches_pending;
};

struct emu_event {
    struct emu_device *device;
    uint64_t number; /* the work is complete when the device has done that many */
    struct emu_queue *queue;
    uint64_t position; /* and when the queue has given it that many; 0: they are submitted */
    struct emu_clock *clock;
};

struct emu_device {
    struct emu *emu;
    int ordinal;
    struct emu_control *control; /* shared with the process */
    pid_t process;
    int doorbell;
    uint32_t reaches; /* bit h: kernels may use device memory of device h */
    size_t at;        /* granule of its part where the next search starts */
    int regions;      /* target regions that run on the device that it stands in for */
    uint64_t device_used_bytes;
    uint64_t host_used_bytes;
    struct emu_queue own;
    struct emu_queue *queues; /* others */
    struct emu_queue *spare_queues;
    pthread_mutex_t lock;
    atomic_bool lost;
    char lost_text[320]; /* written before `lost` */
};

struct emu {
    const memspan_services_t *services;
    pid_t pid; /* the process that opened it: devices do not survive fork() */
    int device_count;
    uint64_t capacity_bytes; /* of each device */
    int file;
    char *arena;
    char *window;
    size_t part_bytes; /* of the arena, for one device */
    size_t arena_bytes;
    _Atomic(struct emu_block *) *granules; /* of the arena: the block that is or was there */
    pthread_mutex_t lock;
    struct emu_block *blocks; /* in use */
    struct emu_block *unused;
    struct emu_block *records; /* all that were made */
    pthread_mutex_t import_lock;
    struct emu_import *imports; /* under import_lock */
    struct msp_region_watcher watcher;
    atomic_bool unwaited;  /* some block is given to a region that was not waited for */
    struct emu_clock host; /* operations of queues that the host has waited for */
    uint32_t clock_count;
    unsigned queue_count; /* that were created */
    bool is_late;
    uint64_t random; /* the state of late queues */
    struct emu_device devices[EMU_DEVICES_MAX];
};

/* emu.c */

/* The device of an ordinal; refuses unknown ones, those that are lost, and everything in a forked
 * child. */
memspan_status_t emu_enter(void *state, int ordinal, struct emu_device **device_p);
/* The same, but a lost device will do: there are things to give back. */
memspan_status_t emu_enter_lost(void *state, int ordinal, struct emu_device **device_p);
memspan_status_t emu_refuse(const struct emu *emu, memspan_status_t status, const char *hint,
                            const char *format, ...) __attribute__((format(printf, 4, 5), cold));
/* Record that the system call @p call failed with errno. */
memspan_status_t emu_system_error(const struct emu *emu, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* option.c: the requests of the variables. */

/* The number of devices that MEMSPAN_DEVICES requests. */
memspan_status_t emu_count_parse(const struct emu *emu, const char *text, int *count_p);
/* MEMSPAN_EMU_PEERS: sets emu_device::reaches. */
memspan_status_t emu_peers_parse(struct emu *emu, const char *text);
/* MEMSPAN_EMU_QUEUES: sets emu::is_late and emu::random. */
memspan_status_t emu_queues_parse(struct emu *emu, const char *text);

/* arena.c: addresses. */

/* A memory file of that size. */
memspan_status_t emu_file_make(const struct emu *emu, const char *name, size_t size_bytes,
                               int *file_p);
memspan_status_t emu_arena_map(struct emu *emu);
void emu_arena_unmap(struct emu *emu);
static inline bool emu_arena_holds(const struct emu *emu, const void *address)
{
    return ((uintptr_t)address - (uintptr_t)emu->arena) < emu->arena_bytes;
}
/* The block that is, or was last, at @p address of the arena; NULL. No lock. */
struct emu_block *emu_arena_find(const struct emu *emu, const void *address);
/* A live block that holds [address, address + size_bytes), or an error. Lock held. */
memspan_status_t emu_arena_get(const struct emu *emu, const void *address, size_t size_bytes,
                               struct emu_block **block_p);
/* Addresses for a block of @p device; NULL with an error. Lock held. */
struct emu_block *emu_arena_take(struct emu_device *device, size_t size_bytes, size_t align_bytes);
void emu_arena_give_back(struct emu *emu, struct emu_block *block);
/* Where the program may touch the bytes at @p address: the window, or the address itself. */
static inline void *emu_arena_window(const struct emu *emu, const void *address)
{
    return emu_arena_holds(emu, address) ? emu->window + ((const char *)address - emu->arena)
                                         : (void *)(uintptr_t)address;
}

/* process.c: device processes. */

memspan_status_t emu_process_start(struct emu_device *device);
void emu_process_stop(struct emu_device *device);
/* Put a command at the end of the ring; *number_p: the command to wait for. */
memspan_status_t emu_process_submit(struct emu_device *device, const struct emu_command *command,
                                    uint64_t *number_p);
/* Wait until that many commands are done. */
memspan_status_t emu_process_wait(struct emu_device *device, uint64_t number);
/* Whether they are, or never will be: the device has stopped. */
bool emu_process_is_done(const struct emu_device *device, uint64_t number);
/* The error of a device that is lost. */
memspan_status_t emu_process_lost(const struct emu_device *device);

/* describe.c */

memspan_status_t emu_device_describe(void *state, int ordinal, memspan_device_info_t *info_p);
memspan_reach_t emu_reach(void *state, int home, memspan_kind_t kind, int from);
void emu_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text,
                      size_t size);
memspan_status_t emu_pointer_describe(void *state, const void *pointer,
                                      memspan_pointer_facts_t *facts_p);

/* memory.c */

memspan_status_t emu_alloc(void *state, int ordinal, const memspan_request_t *request,
                           memspan_block_t *block_p);
memspan_status_t emu_free(void *state, int ordinal, const memspan_block_t *block);

/* Whether kernels of @p device may use the block. */
bool emu_block_is_reached(const struct emu_block *block, const struct emu_device *device);
/* Addresses for a block of another process; NULL with an error. Lock held. */
struct emu_block *emu_block_take(struct emu_device *device, memspan_kind_t kind, size_t size_bytes);
/* Have all devices that may use it, but those that are lost, open or close it. The answer is that
 * of its own device. */
memspan_status_t emu_block_tell(struct emu *emu, const struct emu_block *block, enum emu_op op,
                                bool wait);
/* Its pages are unmapped already: it becomes a freed block. Takes the lock. */
void emu_block_give_back(struct emu *emu, struct emu_block *block);

/* view.c: the host's access to a block now. Lock held. */

/* Open or close the host's view, as it should be. */
memspan_status_t emu_view_update(const struct emu *emu, struct emu_block *block);
/* Before a launch on @p queue: its device's managed memory, and that of the launch's operands, is
 * closed for the host, but what is attached to other queues. */
memspan_status_t emu_managed_close(const struct emu_queue *queue,
                                   const memspan_kernel_call_t *call);
/* All launches of @p queue have been waited for. */
memspan_status_t emu_attached_open(const struct emu_queue *queue);
/* It ends, and what is attached to it is any queue's. */
void emu_attached_drop(const struct emu_queue *queue);
/* All launches of @p device have been waited for. */
memspan_status_t emu_managed_open(struct emu_device *device);
/* A target region begins and ends to run as the device. They take the lock. */
void emu_region_begin(void *state, int ordinal);
void emu_region_end(void *state, int ordinal);
/* One that was given these has ended and was not waited for; all have been. */
void emu_region_unwaited(void *state, int ordinal, void *const *operands, size_t operand_count);
void emu_region_waited(void *state);

/* work.c */

memspan_status_t emu_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                          size_t size_bytes);
memspan_status_t emu_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                          size_t size_bytes);
memspan_status_t emu_prefetch(void *state, int ordinal, void *queue, const void *pointer,
                              size_t size_bytes, int to);
memspan_status_t emu_launch(void *state, int ordinal, void *queue,
                            const memspan_kernel_call_t *call);

/* queue.c */

memspan_status_t emu_synchronize(void *state, int ordinal, void *queue);
memspan_status_t emu_queue_create(void *state, int ordinal, void **queue_p);
memspan_status_t emu_queue_destroy(void *state, int ordinal, void *queue);
void emu_queue_set_up(struct emu_queue *queue, struct emu_device *device);
/* The records of all queues. */
void emu_queues_free(struct emu_device *device);
/* @p queue, or the device's own for NULL. */
struct emu_queue *emu_queue_get(struct emu_device *device, void *queue);

/* event.c */

memspan_status_t emu_event_record(void *state, int ordinal, void *queue, void **event_p);
memspan_status_t emu_event_wait(void *state, int ordinal, void *queue, void *event);
memspan_status_t emu_event_done(void *state, int ordinal, void *event, int *done_p);
memspan_status_t emu_event_destroy(void *state, int ordinal, void *event);

/* late.c: queues that run late, in an order of a seed. Lock held. */

/* At the end of the queue. Copies and fills @p by_host are done by the thread that runs them. */
memspan_status_t emu_late_add(struct emu_queue *queue, const struct emu_command *command,
                              bool by_host);
memspan_status_t emu_late_wait(struct emu_queue *queue, struct emu_queue *awaited,
                               uint64_t position);
/* The next commands of any queue, at random. */
void emu_late_run_some(struct emu *emu);
/* All commands of a queue, or of a device, and the commands that they wait for. */
void emu_late_run(struct emu_queue *queue);
void emu_late_run_device(struct emu_device *device);
/* Forget what is pending: the device is gone. */
void emu_late_drop(struct emu_queue *queue);
/* In the program's memory, or through the window. */
void emu_do_by_host(const struct emu *emu, const struct emu_command *command);

/* order.c: whether work uses memory between its allocation and its free. Lock held, but for the
 * members of the table. */

void emu_clock_open(struct emu_queue *queue);
void emu_clock_join(struct emu_clock *clock, const struct emu_clock *other);
/* What later work of the queue follows, or (own queue) that of all queues of its device. */
void emu_clock_read(const struct emu_queue *queue, struct emu_clock *clock_p);
/* Another operation of the queue uses the memory; size_bytes 0: of any size. @p is_new: the first
 * memory of that operation. */
void emu_order_use(struct emu *emu, struct emu_queue *queue, const void *address, size_t size_bytes,
                   const char *what, bool is_new);
/* The host frees the block. */
void emu_order_free(struct emu *emu, struct emu_block *block);
memspan_status_t emu_queue_allocated(void *state, int ordinal, void *queue, const void *address,
                                     size_t size_bytes);
memspan_status_t emu_queue_freed(void *state, int ordinal, void *queue, const void *address,
                                 size_t size_bytes);
memspan_status_t emu_attach(void *state, int ordinal, void *queue, const memspan_block_t *block);
memspan_status_t emu_host_open(void *state, int ordinal, const void *address, size_t size_bytes,
                               void **host_p);
memspan_status_t emu_host_close(void *state, int ordinal, const void *address, size_t size_bytes);

/* import.c: host pages. */

memspan_status_t emu_import(void *state, int ordinal, void *address, size_t size_bytes,
                            void **address_p, void **cookie_p);
memspan_status_t emu_release(void *state, int ordinal, void *address, size_t size_bytes,
                             void *cookie);

/* Make pages of the file that process @p pid has as @p file the device's, at the same addresses.
 * emu::import_lock held. */
memspan_status_t emu_map_in_device(struct emu_device *device, void *address, size_t size_bytes,
                                   pid_t pid, int file, uint64_t offset);

/* share.c: blocks for other processes. */

memspan_status_t emu_ipc_export(void *state, int ordinal, const memspan_block_t *block, void *token,
                                size_t *token_size_p);
memspan_status_t emu_ipc_import(void *state, int ordinal, const void *token, size_t token_size,
                                memspan_block_t *block_p);
memspan_status_t emu_ipc_close(void *state, int ordinal, const memspan_block_t *block);

/* fault.c: the signal handler that explains. */

memspan_status_t emu_fault_watch(struct emu *emu);
void emu_fault_unwatch(struct emu *emu);

/* symbol.c: "name+0x1c at file.c:3" or "name+0x1c of program" for an address of code, from a signal
 * handler. Returns @p buffer. */
const char *emu_symbol_text(char *buffer, size_t size, uintptr_t pc);
/* A line "LABEL symbol" for each caller outside the library. Not from a signal handler. */
struct emu_writer;
/* small.c: the call stack of a block that shares its page, up to EMU_CALLERS_MAX; 0: it has none.
 */
int emu_small_callers(const void *address, void **callers);
/* Blocks of this one from now on; NULL: of none. No lock of the library held. */
void emu_small_watch(const struct emu *emu);

void emu_write_callers(struct emu_writer *w, const char *label, void *const *callers, int count);

/* write.c: text from a signal handler. */

struct emu_writer {
    char *buffer;
    size_t size;
    size_t used;
};
void emu_write_text(struct emu_writer *w, const char *text);
void emu_write_number(struct emu_writer *w, uint64_t value);
void emu_write_hexadecimal(struct emu_writer *w, uint64_t value);

#endif /* MEMSPAN_BACKENDS_EMU_EMU_H */
