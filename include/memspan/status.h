/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_STATUS_H
#define MEMSPAN_STATUS_H

/** @file status.h
 * Status codes and the per-thread error record.
 *
 * Every call that can fail returns a memspan_status_t, or a null pointer or handle. On failure it
 * fills the calling thread's error record: the request, the driver, the driver's answer, a hint.
 * Outputs (suffix _p) are written only when MEMSPAN_OK is returned.
 *
 * Threads: each thread has a record of its own; every call here reads or writes that one. */

#ifdef __cplusplus
#define MEMSPAN_BEGIN_DECLS extern "C" {
#define MEMSPAN_END_DECLS   }
#else
#define MEMSPAN_BEGIN_DECLS
#define MEMSPAN_END_DECLS
#endif

/* A constant of an opaque type, and a cast of a void pointer; C++ gets no old-style cast. */
#ifdef __cplusplus
#define MEMSPAN_CONSTANT(type, value) (type(value))
#define MEMSPAN_CAST(type, value)     (static_cast<type>(value))
#else
#define MEMSPAN_CONSTANT(type, value) ((type)(value))
#define MEMSPAN_CAST(type, value)     ((type)(value))
#endif

#define MEMSPAN_API __attribute__((visibility("default")))

#define MEMSPAN_VERSION_MAJOR  0
#define MEMSPAN_VERSION_MINOR  1
#define MEMSPAN_VERSION_PATCH  0
#define MEMSPAN_VERSION_STRING "0.1.0"

MEMSPAN_BEGIN_DECLS

/** The one list of codes: name, value, text. Ordered by the remedy of the caller. */
#define MEMSPAN_STATUS_MAP(X)                                                                      \
    X(MEMSPAN_OK, 0, "success")                                                                    \
    X(MEMSPAN_ERR_INVALID, -1, "an argument is not valid")                                         \
    X(MEMSPAN_ERR_CONFLICT, -2, "arguments or traits contradict each other")                       \
    X(MEMSPAN_ERR_AMBIGUOUS, -3, "a device number has two readings (no longer given)")             \
    X(MEMSPAN_ERR_NOT_FOUND, -4, "nothing has that name, number or address")                       \
    X(MEMSPAN_ERR_CONFIG, -5, "an environment variable is unknown or malformed")                   \
    X(MEMSPAN_ERR_UNREACHABLE, -6, "no memory reaches every device that was listed")               \
    X(MEMSPAN_ERR_UNSUPPORTED, -7, "the device or its driver cannot do this")                      \
    X(MEMSPAN_ERR_NOT_GUARANTEED, -8, "the request cannot be satisfied exactly")                   \
    X(MEMSPAN_ERR_NO_MEMORY, -9, "there is not enough memory of the kind asked for")               \
    X(MEMSPAN_ERR_LIMIT, -10, "a limit was reached")                                               \
    X(MEMSPAN_ERR_PERMISSION, -11, "permission was refused")                                       \
    X(MEMSPAN_ERR_OFF, -12, "the backend is not in use")                                           \
    X(MEMSPAN_ERR_ABI, -13, "a plug-in was built for another contract version")                    \
    X(MEMSPAN_ERR_DRIVER, -14, "a driver reported an error")                                       \
    X(MEMSPAN_ERR_FORKED, -15, "a driver cannot be used after fork")                               \
    X(MEMSPAN_ERR_INTERNAL, -16, "an invariant of the library does not hold")

typedef enum memspan_status {
#define MEMSPAN_STATUS_ENUM(name, value, text) name = (value),
    MEMSPAN_STATUS_MAP(MEMSPAN_STATUS_ENUM)
#undef MEMSPAN_STATUS_ENUM
} memspan_status_t;

/** The calling thread's last error. The strings belong to the library and stay valid until this
 * thread's next call of the library. None is NULL; a string without content is empty. */
typedef struct memspan_error {
    memspan_status_t status;
    const char *message;     /**< the request, and the failure */
    const char *hint;        /**< a remedy */
    const char *backend;     /**< the backend that reported it, "" for the library itself */
    const char *call;        /**< the driver's or system's call that failed */
    long native_code;        /**< the result of that call */
    const char *native_text; /**< the driver's text for that code */
} memspan_error_t;

/** The calling thread's last error; never NULL. Successful calls do not clear it. */
MEMSPAN_API const memspan_error_t *memspan_error_last(void);

/** Forget the calling thread's last error. */
MEMSPAN_API void memspan_error_clear(void);

/** The whole record as one line: message, driver's text, hint. Same lifetime as the record. */
MEMSPAN_API const char *memspan_error_text(void);

/** The code's name, "MEMSPAN_ERR_LIMIT". Static; never NULL. */
MEMSPAN_API const char *memspan_status_name(memspan_status_t status);

/** The code's text, as in MEMSPAN_STATUS_MAP. Static; never NULL. */
MEMSPAN_API const char *memspan_status_text(memspan_status_t status);

/** Version of the library in use, "0.1.0". Static. */
MEMSPAN_API const char *memspan_version(void);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_STATUS_H */
