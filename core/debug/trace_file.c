/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_file.c: events gathered in a buffer, and a file that is a whole document at any time.
 *
 * The file ends with the closing brackets; each write begins over them and ends with them again. A
 * process that is killed loses at most the buffer and the events of its last second.
 *
 * Invariant: end_bytes is where the brackets start; file and buffer together never pass the limit.
 */

#include "core/base/platform.h"
#include "core/debug/watcher.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 10, NAME_BYTES = 4096, PROBLEM_BYTES = NAME_BYTES + 128 };

static const char opening[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
static const char closing[] = "\n]}\n";
enum { CLOSING_BYTES = sizeof(closing) - 1 };

static const uint64_t flush_after_ns = UINT64_C(1000000000);

static int file = -1;
static dev_t file_device; /* the descriptor that file was opened as: a program may close descriptors
                             not its own */
static ino_t file_inode;
static uint64_t end_bytes;
static uint64_t limit;
static char limit_name[64]; /* whose limit it is */
static uint64_t flushed_ns;
static bool any_event;
static size_t used;
static char buffer[BUFFER_BYTES + CLOSING_BYTES] MSP_SPARSE;
static char name[NAME_BYTES] MSP_SPARSE;
static char problem[PROBLEM_BYTES] MSP_SPARSE;

bool msp_trace_file_is_open(void)
{
    return file >= 0;
}

const char *msp_trace_file_problem(void)
{
    return problem;
}

const char *msp_trace_file_limit(void)
{
    return limit_name;
}

__attribute__((format(printf, 1, 2))) static bool fail(const char *format, ...)
{
    int n = snprintf(problem, sizeof(problem), "%s: ", name);
    va_list args;

    va_start(args, format);
    vsnprintf(problem + n, sizeof(problem) - (size_t)n, format, args);
    va_end(args);
    return false;
}

/* The whole of it at that place, or an error. A write is a point where a thread can be cancelled;
 * here it holds the trace's lock. */
static bool write_at(const char *text, size_t length, uint64_t at)
{
    bool ok = true;
    int cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    while (ok && (length > 0)) {
        ssize_t n = pwrite(file, text, length, (off_t)at);

        if (n > 0) {
            text += n;
            length -= (size_t)n;
            at += (uint64_t)n;
        } else if ((n == 0) || (errno != EINTR)) {
            ok = fail("%s", (n == 0) ? "nothing can be written" : strerror(errno));
        }
    }
    pthread_setcancelstate(cancel, NULL);
    return ok;
}

/* ---- opening ---- */

static bool make_name(const char *pattern, bool numbered)
{
    size_t n         = 0;
    bool has_process = false;
    const char *c;

    for (c = pattern; (*c != '\0') && (n < sizeof(name)); c++) {
        if ((*c == '%') && (c[1] == 'p')) {
            n += (size_t)snprintf(name + n, sizeof(name) - n, "%d", (int)getpid());
            has_process = true;
            c++;
        } else {
            c += ((*c == '%') && (c[1] == '%')) ? 1 : 0;
            name[n++] = *c;
        }
    }
    if (numbered && !has_process && (n < sizeof(name))) {
        n += (size_t)snprintf(name + n, sizeof(name) - n, ".%d", (int)getpid());
    }
    if (n >= sizeof(name)) {
        name[60] = '\0';
        return fail("the name is too long");
    }
    name[n] = '\0';
    return true;
}

static bool still_ours(void)
{
    struct stat facts;

    return (fstat(file, &facts) == 0) && (facts.st_dev == file_device) &&
           (facts.st_ino == file_inode);
}

static bool open_file(void)
{
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
    int fd    = open(name, flags, 0600);

    file = fd;
    if ((fd >= 0) && (fd <= STDERR_FILENO)) {
        /* The program's output would go there. */
        file = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(fd);
    }
    return file >= 0;
}

/* Open and claim it. A file that another process is writing is left alone: *busy_p. */
static bool claim(bool *busy_p)
{
    struct stat facts;

    *busy_p = false;
    /* Not to wait for the reader of a pipe; readable by the user alone, as addresses should be.
     * In a folder that others may write, the name may be a link of theirs to a file of the user's:
     * no link is followed. Nothing is cut off before the file is known to be the user's. */
    if (!open_file()) {
        return fail("%s", (errno == ELOOP) ? "it is a symbolic link" : strerror(errno));
    }
    if (fstat(file, &facts) != 0) {
        fail("%s", strerror(errno));
    } else if (!S_ISREG(facts.st_mode)) {
        fail("it is not a regular file");
    } else if (facts.st_uid != geteuid()) {
        fail("it belongs to another user");
    } else if (facts.st_nlink != 1) {
        fail("it has %llu names (hard links)", (unsigned long long)facts.st_nlink);
    } else if ((flock(file, LOCK_EX | LOCK_NB) != 0) && (errno == EWOULDBLOCK)) {
        *busy_p = true;
        fail("another process is writing it");
    } else if ((fchmod(file, 0600) != 0) || (ftruncate(file, 0) != 0)) {
        fail("%s", strerror(errno));
    } else {
        file_device = facts.st_dev;
        file_inode  = facts.st_ino;
        return true;
    }
    close(file);
    file = -1;
    return false;
}

static void choose_limit(uint64_t limit_bytes)
{
    struct rlimit most;

    limit = (limit_bytes == 0) ? UINT64_MAX : limit_bytes;
    snprintf(limit_name, sizeof(limit_name), "MEMSPAN_TRACE_LIMIT=%llu",
             (unsigned long long)limit_bytes);
    /* Past that limit of the system's the process would be sent a signal. */
    if ((getrlimit(RLIMIT_FSIZE, &most) == 0) && (most.rlim_cur != RLIM_INFINITY) &&
        (most.rlim_cur < limit)) {
        limit = most.rlim_cur;
        snprintf(limit_name, sizeof(limit_name), "%llu bytes, the process's ulimit -f",
                 (unsigned long long)limit);
    }
}

bool msp_trace_file_open(const char *pattern, bool child, uint64_t limit_bytes)
{
    bool busy;

    if (!make_name(pattern, child)) {
        return false;
    }
    if (!claim(&busy) && (!busy || !make_name(pattern, true) || !claim(&busy))) {
        return false;
    }
    choose_limit(limit_bytes);
    used       = 0;
    any_event  = false;
    flushed_ns = 0;
    end_bytes  = 0;
    if (limit < sizeof(opening) + CLOSING_BYTES) {
        fail("the limit is too small: %s", limit_name);
    } else if (write_at(opening, sizeof(opening) - 1, 0) &&
               write_at(closing, CLOSING_BYTES, sizeof(opening) - 1)) {
        end_bytes = sizeof(opening) - 1;
        return true;
    }
    msp_trace_file_forget();
    return false;
}

/* ---- writing ---- */

enum msp_trace_file_result msp_trace_file_flush(void)
{
    if ((file < 0) || (used == 0)) {
        return MSP_TRACE_FILE_OK;
    }
    if (!still_ours()) {
        fail("the program has closed it");
        msp_trace_file_forget();
        return MSP_TRACE_FILE_FAILED;
    }
    memcpy(buffer + used, closing, CLOSING_BYTES);
    if (!write_at(buffer, used + CLOSING_BYTES, end_bytes)) {
        /* Back to the last whole document; the brackets were there, so there is space for them. */
        if ((ftruncate(file, (off_t)end_bytes) == 0)) {
            char why[PROBLEM_BYTES];
            memcpy(why, problem, sizeof(why));
            write_at(closing, CLOSING_BYTES, end_bytes);
            memcpy(problem, why, sizeof(why));
        }
        used = 0;
        msp_trace_file_forget();
        return MSP_TRACE_FILE_FAILED;
    }
    end_bytes += used;
    used = 0;
    return MSP_TRACE_FILE_OK;
}

enum msp_trace_file_result msp_trace_file_append(const char *text, size_t length, uint64_t now_ns)
{
    enum msp_trace_file_result result = MSP_TRACE_FILE_OK;
    size_t need                       = length + 2;

    if ((file < 0) || (need > BUFFER_BYTES)) {
        return MSP_TRACE_FILE_OK;
    }
    if (end_bytes + used + need + CLOSING_BYTES > limit) {
        return MSP_TRACE_FILE_FULL;
    }
    if (used + need > BUFFER_BYTES) {
        result     = msp_trace_file_flush();
        flushed_ns = now_ns;
        if (result != MSP_TRACE_FILE_OK) {
            return result;
        }
    }
    if (any_event) {
        buffer[used++] = ',';
        buffer[used++] = '\n';
    }
    any_event = true;
    memcpy(buffer + used, text, length);
    used += length;
    if (now_ns - flushed_ns > flush_after_ns) {
        result     = msp_trace_file_flush();
        flushed_ns = now_ns;
    }
    return result;
}

void msp_trace_file_close(void)
{
    msp_trace_file_flush();
    msp_trace_file_forget();
}

void msp_trace_file_forget(void)
{
    if ((file >= 0) && still_ours()) {
        close(file);
    }
    file = -1;
    used = 0;
}
