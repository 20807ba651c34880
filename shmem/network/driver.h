/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_DRIVER_H
#define MEMSPAN_SHMEM_NETWORK_DRIVER_H

/* A network driver: UCX or libfabric in the form that the network transport (network.h) needs. It
 * is one table of functions in a plug-in of its own, lib/memspan/shmem_NAME.so, which is linked to
 * the real library, opened for jobs with PEs on other hosts alone, and exports
 *
 *     const struct msp_network_driver *
 *     memspan_network_driver(const struct msp_network_services *services);
 *
 * The driver moves bytes: put, get, messages. All else is the transport's: contexts, connecting at
 * first use, keys, atomics, device memory, the progress thread, doorbells, fatal errors.
 *
 * Queues. A queue starts operations and has completions. The main queue also receives: other PEs
 * connect to its address, and its progress serves their operations where the network needs that.
 * The others start operations alone, for contexts that share nothing.
 *
 * Threads. open(), close(), memory_register() and memory_release() are called by one thread at a
 * time. Functions of a queue, its peers and their keys are called by one thread at a time for each
 * queue, and by several threads for several queues.
 *
 * Completion. An operation returns MSP_NETWORK_DONE, and the local buffer may be reused (put, send)
 * or has the data (get); or MSP_NETWORK_STARTED, and request->complete() is called later, from
 * queue_progress(); or MSP_NETWORK_BUSY: nothing happened, queue_progress() and call again; or
 * MSP_NETWORK_FAILED, with an error record. flush() alone shows that puts have taken effect. No
 * thread may ever progress a queue again that is not the main one: operations that DONE and
 * completions report reach the peer all the same.
 *
 * Failure. A peer that cannot be reached any more is reported once by services->peer_failed(), and
 * requests to it complete with a status. No call waits for a peer. */

#include <memspan/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSP_NETWORK_DRIVER_VERSION 3
#define MSP_NETWORK_DRIVER_ENTRY   "memspan_network_driver"

struct msp_network_queue;  /* each driver's own: a UCX worker; endpoint and completion queue */
struct msp_network_peer;   /* one PE's main queue, as one queue here reaches it */
struct msp_network_memory; /* registered memory of this PE */
struct msp_network_key;    /* registered memory of a peer */

enum {
    MSP_NETWORK_ADDRESS_MAX   = 1024, /* bytes of a main queue's address */
    MSP_NETWORK_KEY_MAX       = 256,  /* bytes of the key of registered memory */
    MSP_NETWORK_REQUEST_BYTES = 96,   /* of the driver in a request */
};

enum msp_network_result {
    MSP_NETWORK_DONE,
    MSP_NETWORK_STARTED,
    MSP_NETWORK_BUSY,
    MSP_NETWORK_FAILED,
};

/* The caller's, from the call until complete(), which may free it. */
struct msp_network_request {
    /* MEMSPAN_OK, or a failure with an error record. Starts no operations. */
    void (*complete)(struct msp_network_request *request, memspan_status_t status);
    _Alignas(16) char driver[MSP_NETWORK_REQUEST_BYTES];
};

/* The functions that the driver may call. */
struct msp_network_services {
    unsigned version;
    /* An error record, as of memspan_services_t.fail(); any text may be NULL. Returns @p status. */
    memspan_status_t (*fail)(memspan_status_t status, const char *call, long native_code,
                             const char *native_text, const char *hint, const char *format, ...)
        __attribute__((format(printf, 6, 7)));
    /* A line of the log. */
    void (*note)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    /* A problem that the user can remedy while the job goes on; the first of a process's alone. */
    void (*warn)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    /* A message has arrived; the data is the driver's. From queue_progress() of the main queue. It
     * starts no operations. */
    void (*receive)(const void *header, size_t header_bytes, const void *payload,
                    size_t payload_bytes);
    /* From any call of the driver. */
    void (*peer_failed)(int pe, const char *reason);
};

struct msp_network_job {
    int pe;
    int pe_count;
    int local_count;
    const char *tcp_interfaces; /* "eth0,ib0": those alone; NULL or "": all. Until close() */
    bool is_one_network;        /* all PEs have one loopback interface: nothing else need listen */
    /* A driver whose messages over the kernel's TCP anyone can forge uses it where there is no
     * RDMA. False: by the user's variables for its library alone. */
    bool takes_kernel_tcp;
    uint64_t network_namespace; /* equal in PEs that have one loopback interface */
};

/* The results of open(). */
struct msp_network_limits {
    size_t put_done_max_bytes;    /* puts of so many bytes by the main queue return DONE or BUSY */
    size_t message_max_bytes;     /* of a message, header and payload */
    size_t put_message_max_bytes; /* puts of so many bytes are faster as a message with a reply */
    size_t get_message_max_bytes; /* gets likewise */
    size_t signalled_max_bytes;   /* puts of so many bytes with a signal likewise, in one message */
    size_t aggregate_max_bytes;   /* nonblocking ones likewise, several in one message; 0: none */
    /* Puts of one queue to one peer take effect in order, and before messages that follow them. */
    bool is_ordered;
    bool puts_pass_messages;   /* operations that take effect when their receiver handles them */
    bool target_progresses;    /* puts and gets need progress of the target's main queue, */
    bool has_uncounted_puts;   /* which may store a peer's put and return 0 */
    bool gets_words;           /* a get of an aligned word of up to 8 bytes reads it in one piece */
    bool pins_memory;          /* registered pages stay in memory */
    bool takes_device_memory;  /* at least one kind of it: memory_register() decides which */
    bool is_open_to_strangers; /* any process that reaches a port of it can change the job's memory
                                */
};

/* Memory of this PE. */
struct msp_network_region {
    void *base;
    size_t size_bytes;
    const char *device_backend; /* "cuda", "hip", "level_zero"; NULL: the host's */
    int dmabuf_fd;              /* of device memory that its driver exports so; -1: none */
    uint64_t dmabuf_offset_bytes;
};

struct msp_network_driver {
    unsigned version; /* MSP_NETWORK_DRIVER_VERSION */
    const char *name; /* "ucx" */

    /* MEMSPAN_ERR_CONFIG: the user's choice is not here, and no other driver is tried. */
    memspan_status_t (*open)(const struct msp_network_job *job,
                             struct msp_network_limits *limits_p);
    void (*close)(void);
    /* "UCX 1.13.1, tcp": for the query. */
    void (*describe)(char *text, size_t text_bytes);

    memspan_status_t (*queue_open)(bool is_main, struct msp_network_queue **queue_p);
    /* Its peers are closed, and nothing is outstanding. */
    void (*queue_close)(struct msp_network_queue *queue);
    /* Of the main queue: capacity, then size in *address_bytes_p. */
    memspan_status_t (*queue_address)(struct msp_network_queue *queue, void *address,
                                      size_t *address_bytes_p);
    /* Nonzero when anything happened. */
    unsigned (*queue_progress)(struct msp_network_queue *queue);
    /* Readable when there is something to progress, once queue_arm() has returned true; -1: there
     * is none, and the thread polls with back-off. */
    int (*queue_descriptor)(struct msp_network_queue *queue);
    /* False: something has happened already. The thread that sleeps looks again after
     * *timeout_ms_p at the latest (in: the caller's, -1 for none), as events may be lost. */
    bool (*queue_arm)(struct msp_network_queue *queue, int *timeout_ms_p);

    /* Returns at once; operations before the connection stands are queued, or BUSY. */
    memspan_status_t (*peer_open)(struct msp_network_queue *queue, int pe, const void *address,
                                  size_t address_bytes, struct msp_network_peer **peer_p);
    /* @p is_failed: without the peer's help. Otherwise nothing is outstanding. */
    void (*peer_close)(struct msp_network_peer *peer, bool is_failed);
    /* "tcp over eth0": the path to it, for the query; may be empty. Or NULL. */
    void (*peer_describe)(struct msp_network_peer *peer, char *text, size_t text_bytes);

    /* Space, then size in *key_bytes_p. MEMSPAN_ERR_UNSUPPORTED where it is of a kind that the
     * network does not take, MEMSPAN_ERR_LIMIT where no more may be registered. */
    memspan_status_t (*memory_register)(const struct msp_network_region *region, void *key,
                                        size_t *key_bytes_p, struct msp_network_memory **memory_p);
    void (*memory_release)(struct msp_network_memory *memory);
    memspan_status_t (*key_open)(struct msp_network_peer *peer, const void *key, size_t key_bytes,
                                 struct msp_network_key **key_p);
    void (*key_close)(struct msp_network_peer *peer, struct msp_network_key *key);

    /* @p address: the owner's own address of registered memory. Local buffers are any memory of the
     * host, or device memory that is registered. */
    enum msp_network_result (*put)(struct msp_network_peer *peer, struct msp_network_key *key,
                                   uint64_t address, const void *source, size_t size_bytes,
                                   struct msp_network_request *request);
    enum msp_network_result (*get)(struct msp_network_peer *peer, struct msp_network_key *key,
                                   uint64_t address, void *dest, size_t size_bytes,
                                   struct msp_network_request *request);
    /* To the receive() of that PE; in order, each once. DONE or complete(): the buffers may be
     * reused. A message does not wait for its receiver. */
    enum msp_network_result (*send)(struct msp_network_peer *peer, const void *header,
                                    size_t header_bytes, const void *payload, size_t payload_bytes,
                                    struct msp_network_request *request);
    /* Earlier puts of this queue to the peer are in its memory, visible to its processors. */
    enum msp_network_result (*flush)(struct msp_network_peer *peer,
                                     struct msp_network_request *request);
    /* Puts of the queue before it take effect before those after it, at each peer. Or NULL: flush()
     * instead. */
    enum msp_network_result (*order)(struct msp_network_queue *queue);
};

#endif /* MEMSPAN_SHMEM_NETWORK_DRIVER_H */
