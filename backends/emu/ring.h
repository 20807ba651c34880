/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_EMU_RING_H
#define MEMSPAN_BACKENDS_EMU_RING_H

/* The memory that a program and one of its device processes share: a ring of commands, and their
 * results. The program writes `submitted` and the commands below it, the device all the rest.
 * Commands are done one after the other, in order. Every address is valid on both sides: one
 * address is the promise. */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { EMU_RING_COMMANDS = 256 };

enum emu_op {
    EMU_OP_OPEN = 1, /* z, count bytes: the device may use them from now on */
    EMU_OP_CLOSE,    /* z, count bytes: it may not any more */
    EMU_OP_MAP,      /* z, count bytes: of file descriptor x of process y, at offset `offset` */
    EMU_OP_UNMAP,    /* z, count bytes */
    EMU_OP_COPY,     /* count bytes from x to z */
    EMU_OP_FILL,     /* count bytes at z with the byte `kernel` */
    EMU_OP_KERNEL    /* enum memspan_kernel, its arguments by their names */
};

struct emu_command {
    uint32_t op;
    uint32_t kernel;
    uint64_t count;
    uint64_t offset;
    double a;
    uint64_t x;
    uint64_t y;
    uint64_t z;
};

/* Why a device process ended by itself. */
enum emu_stop {
    EMU_STOP_NOT = 0,
    EMU_STOP_FAULT, /* a command touched memory that the device does not reach */
    EMU_STOP_CALL   /* a system call of the device process failed */
};

struct emu_ring {
    _Atomic uint64_t submitted;         /* commands so far */
    _Atomic uint32_t asleep;            /* the device waits at its doorbell; pairs with submitted */
    _Atomic uint32_t ready;             /* the device process has given up the program's memory */
    _Alignas(64) _Atomic uint64_t done; /* of those submitted */
    _Atomic uint32_t done_count;        /* changes with done: the word that the program waits on */
    _Atomic uint32_t waiters;           /* threads of the program that wait */
    _Atomic uint32_t stop;              /* enum emu_stop; the members below are written before */
    uint32_t fault_signal;
    uint32_t fault_access; /* enum msp_fault_access */
    int64_t fault_code;    /* the system call's result */
    int64_t map_result;    /* 0, or the error of the last EMU_OP_MAP; it ends nothing */
    uint64_t fault_address;
    _Alignas(64) struct emu_command commands[EMU_RING_COMMANDS];
};

struct emu_range {
    uintptr_t start;
    uintptr_t end;
};

enum { EMU_KEEP_MAX = 4, EMU_STACK_BYTES = 128 << 10, EMU_MAPS_BYTES = 16 << 10 };

/* Everything a device process has, in one mapping that both sides share. */
struct emu_control {
    struct emu_ring ring;
    int parent;   /* process number of the program */
    int doorbell; /* the device's end */
    char name[16];
    uintptr_t sequences; /* the cloned thread's restartable-sequences record; 0: it has none */
    struct emu_range keep[EMU_KEEP_MAX]; /* mappings that it needs; the last is that record's */
    size_t keep_count;
    char maps[EMU_MAPS_BYTES];
    _Alignas(64) char stack[EMU_STACK_BYTES];
};

/* device_side.c: the device process, from its first instruction; @p argument is its emu_control.
 * The page of emu_device_here must be among those that it keeps. */
int emu_device_main(void *argument);
extern struct emu_control *emu_device_here;

/* combine.c: elements [from, to) of a combining kernel; 0 when there is no such kernel. With from =
 * to it only answers. */
int emu_combine(const struct emu_command *k, uint64_t from, uint64_t to);

/* raw_*.c: a system call that leaves errno alone and needs no memory of the C library. */
long emu_raw(long number, long a, long b, long c, long d, long e, long f);

/* raw_*.c: the calling thread's pointer to its own data, and the mark of its restartable sequences.
 */
uintptr_t emu_thread_pointer(void);
uint32_t emu_sequences_signature(void);

/* maps.c: one line of /proc/self/maps after the other, without memory of the C library. */
struct emu_maps {
    long fd;
    char *buffer;
    size_t size;
    size_t used;
    size_t at; /* where the next line starts */
};
struct emu_mapping {
    uintptr_t start;
    uintptr_t end;
    uint64_t offset;
    char access[4];   /* "rw-p" */
    const char *path; /* in the buffer until the next line is read; "" when there is none */
};
/* 0, or the error of open(). */
long emu_maps_open(struct emu_maps *maps, char *buffer, size_t size);
/* 0 after the last. */
int emu_maps_next(struct emu_maps *maps, struct emu_mapping *mapping_p);
void emu_maps_close(struct emu_maps *maps);

#endif /* MEMSPAN_BACKENDS_EMU_RING_H */
