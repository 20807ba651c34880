/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream is one pipe of one PE; a sink is an output of this process. Streams give whole lines
 * to their sink, in order of arrival. The start of a line without an end (a prompt, progress
 * dots) is shown after LINE_DELAY_S, unless more of it is in the pipe; if another PE prints first,
 * the line is ended. */

#include "cmd/common/cli.h"
#include "cmd/common/clock.h"
#include "cmd/oshrun/oshrun.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define READ_BYTES     65536
#define WRITE_BYTES    4096   /* accepted by a writable pipe without blocking */
#define SINK_BYTES_MAX 262144 /* more is left in the pipes */
#define LINE_BYTES_MAX 1048576
#define LINE_DELAY_S   0.2

struct stream {
    int fd; /* -1: closed, or never there */
    int pe_fd;
    int pe;
    struct sink *sink;
    char *text; /* at most the start of a line */
    size_t used;
    double since_s; /* time of the last addition */
};

struct sink {
    int fd;
    char *text;
    size_t used;
    size_t capacity;
    const struct stream *open_line; /* stream of an unfinished line */
    bool is_inherited;
    bool is_broken; /* its reader is gone */
    bool is_lost;   /* another write error: further output is dropped */
};

struct output {
    int pe_count;
    bool tag;
    int sink_count; /* 1: both are the same file, and keep their order */
    struct sink sinks[2];
    struct stream *streams; /* sink_count for each PE */
    int input_fd;           /* of the pipe to PE 0's standard input; -1: inherited */
    int input_pe_fd;
    char input[READ_BYTES];
    size_t input_used;
    int null_fd;
};

/* Space for size bytes after those used. False without memory: output is dropped. */
static bool reserve(char **text, size_t *capacity, size_t used, size_t size)
{
    if (used + size <= *capacity) {
        return true;
    }
    size_t wanted = (used + size) * 2;
    char *larger  = realloc(*text, wanted);
    if (larger == NULL) {
        return false;
    }
    *text     = larger;
    *capacity = wanted;
    return true;
}

static void append(struct sink *sink, const char *text, size_t size)
{
    if (!sink->is_broken && !sink->is_lost &&
        reserve(&sink->text, &sink->capacity, sink->used, size)) {
        memcpy(sink->text + sink->used, text, size);
        sink->used += size;
    }
}

/* Give one line of a stream, or its start, to its sink. */
static void append_line(const struct output *output, const struct stream *stream, const char *text,
                        size_t size)
{
    struct sink *sink = stream->sink;
    if (sink->open_line != NULL && sink->open_line != stream) {
        append(sink, "\n", 1);
        sink->open_line = NULL;
    }
    if (output->tag && sink->open_line == NULL) {
        char tag[16];
        append(sink, tag, (size_t)snprintf(tag, sizeof(tag), "[%d] ", stream->pe));
    }
    append(sink, text, size);
    sink->open_line = text[size - 1] == '\n' ? NULL : stream;
}

static void flush_start(const struct output *output, struct stream *stream)
{
    if (stream->used > 0) {
        append_line(output, stream, stream->text, stream->used);
        stream->used = 0;
    }
}

static void take_text(const struct output *output, struct stream *stream, const char *text,
                      size_t size)
{
    while (size > 0) {
        const char *newline = memchr(text, '\n', size);
        size_t length       = newline != NULL ? (size_t)(newline - text) + 1 : size;
        if (newline != NULL && stream->used == 0) {
            append_line(output, stream, text, length);
        } else {
            char *longer = realloc(stream->text, stream->used + length);
            if (longer == NULL) {
                return;
            }
            stream->text = longer;
            memcpy(stream->text + stream->used, text, length);
            stream->used += length;
            stream->since_s = cli_clock_s();
            if (newline != NULL || stream->used > LINE_BYTES_MAX) {
                flush_start(output, stream);
            }
        }
        text += length;
        size -= length;
    }
}

static void close_stream(const struct output *output, struct stream *stream)
{
    flush_start(output, stream);
    close(stream->fd);
    stream->fd = -1;
    free(stream->text);
    stream->text = NULL;
}

static void read_stream(const struct output *output, struct stream *stream)
{
    static char text[READ_BYTES]; /* the stack may be small (ulimit -s) */
    ssize_t size = read(stream->fd, text, sizeof(text));
    if (size > 0) {
        take_text(output, stream, text, (size_t)size);
    } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
        close_stream(output, stream);
    }
}

/* The reader is gone: PEs get SIGPIPE, as without a launcher. */
static void break_sink(struct output *output, struct sink *sink)
{
    sink->is_broken = true;
    sink->used      = 0;
    for (int i = 0; i < output->pe_count * output->sink_count; i++) {
        struct stream *stream = &output->streams[i];
        if (stream->fd >= 0 && stream->sink == sink) {
            stream->used = 0;
            close_stream(output, stream);
        }
    }
}

/* A full disk does not end the job; it is reported, and sets the exit status. */
static void lose_sink(struct output *output, struct sink *sink, int error)
{
    bool is_errors = sink == &output->sinks[output->sink_count - 1];
    sink->is_lost  = true;
    sink->used     = 0;
    cli_complain("cannot write the output of the PEs to standard %s: %s; it is lost",
                 is_errors && output->sink_count > 1 ? "error" : "output", strerror(error));
}

static void write_sink(struct output *output, struct sink *sink)
{
    size_t size     = sink->used < WRITE_BYTES ? sink->used : WRITE_BYTES;
    ssize_t written = write(sink->fd, sink->text, size);
    if (written > 0) {
        sink->used -= (size_t)written;
        memmove(sink->text, sink->text + written, sink->used);
    } else if (written < 0 && errno == EPIPE) {
        break_sink(output, sink);
    } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
        lose_sink(output, sink, errno);
    }
}

static bool is_same_file(int a, int b)
{
    struct stat first;
    struct stat second;
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* A terminal that stops background jobs on output would stop the PEs. */
static bool takes_lines(int fd)
{
    struct termios settings;
    return tcgetattr(fd, &settings) == 0 && !(settings.c_lflag & TOSTOP);
}

static bool open_pipe(int *read_fd_p, int *write_fd_p)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        cli_complain("cannot create a pipe for the output of the PEs: %s", strerror(errno));
        return false;
    }
    *read_fd_p  = ends[0];
    *write_fd_p = ends[1];
    return true;
}

static bool open_streams(struct output *output)
{
    for (int i = 0; i < output->pe_count * output->sink_count; i++) {
        struct stream *stream = &output->streams[i];
        stream->pe            = i / output->sink_count;
        stream->sink          = &output->sinks[i % output->sink_count];
        stream->fd = stream->pe_fd = -1;
    }
    for (int i = 0; i < output->pe_count * output->sink_count; i++) {
        struct stream *stream = &output->streams[i];
        if (!stream->sink->is_inherited && !open_pipe(&stream->fd, &stream->pe_fd)) {
            return false;
        }
    }
    return true;
}

struct output *output_open(int pe_count, bool tag_output)
{
    struct output *output = calloc(1, sizeof(*output));
    if (output == NULL) {
        cli_complain("out of memory");
        return NULL;
    }
    output->pe_count   = pe_count;
    output->tag        = tag_output;
    output->sink_count = is_same_file(STDOUT_FILENO, STDERR_FILENO) ? 1 : 2;
    for (int i = 0; i < output->sink_count; i++) {
        output->sinks[i].fd           = i == 0 ? STDOUT_FILENO : STDERR_FILENO;
        output->sinks[i].is_inherited = !tag_output && takes_lines(output->sinks[i].fd);
    }
    output->null_fd  = open("/dev/null", O_RDWR | O_CLOEXEC);
    output->streams  = calloc((size_t)pe_count * 2, sizeof(*output->streams));
    output->input_fd = output->input_pe_fd = -1;
    if (output->streams == NULL || output->null_fd < 0) {
        cli_complain("cannot open /dev/null, or out of memory");
        return NULL;
    }
    /* PEs are background processes of the terminal: reading from it would stop them. */
    if (isatty(STDIN_FILENO) && !open_pipe(&output->input_pe_fd, &output->input_fd)) {
        return NULL;
    }
    return open_streams(output) ? output : NULL;
}

void output_enter(const struct output *output, int pe)
{
    const struct stream *streams = &output->streams[pe * output->sink_count];
    const struct stream *errors  = &streams[output->sink_count - 1];
    if (pe != 0) {
        dup2(output->null_fd, STDIN_FILENO);
    } else if (output->input_pe_fd >= 0) {
        dup2(output->input_pe_fd, STDIN_FILENO);
    }
    if (streams[0].pe_fd >= 0) {
        dup2(streams[0].pe_fd, STDOUT_FILENO);
    }
    if (errors->pe_fd >= 0) {
        dup2(errors->pe_fd, STDERR_FILENO);
    }
}

void output_start(struct output *output)
{
    for (int i = 0; i < output->pe_count * output->sink_count; i++) {
        struct stream *stream = &output->streams[i];
        if (stream->pe_fd >= 0) {
            close(stream->pe_fd);
            fcntl(stream->fd, F_SETFL, O_NONBLOCK);
        }
    }
    if (output->input_pe_fd >= 0) {
        close(output->input_pe_fd);
        fcntl(output->input_fd, F_SETFL, O_NONBLOCK);
    }
}

int output_poll_max(const struct output *output)
{
    return output->pe_count * output->sink_count + output->sink_count + 2;
}

/* Only the foreground process group may read from a terminal. */
static int poll_input(const struct output *output, struct pollfd *events, int *timeout_ms)
{
    if (output->input_fd < 0) {
        return 0;
    }
    if (output->input_used > 0) {
        events[0] = (struct pollfd){.fd = output->input_fd, .events = POLLOUT};
        return 1;
    }
    if (tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        *timeout_ms = *timeout_ms < 0 || *timeout_ms > 1000 ? 1000 : *timeout_ms;
        return 0;
    }
    events[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    return 1;
}

/* While the sink is full, the rest of a line may be in the pipe. */
static bool has_input(const struct stream *stream)
{
    struct pollfd event = {.fd = stream->fd, .events = POLLIN};
    return poll(&event, 1, 0) == 1;
}

int output_poll(struct output *output, struct pollfd *events, int *timeout_ms)
{
    int count = poll_input(output, events, timeout_ms);
    for (int i = 0; i < output->sink_count; i++) {
        if (output->sinks[i].used > 0) {
            events[count++] = (struct pollfd){.fd = output->sinks[i].fd, .events = POLLOUT};
        }
    }
    for (int i = 0; i < output->pe_count * output->sink_count; i++) {
        struct stream *stream = &output->streams[i];
        if (stream->used > 0) {
            if (cli_clock_s() - stream->since_s > LINE_DELAY_S && !has_input(stream)) {
                flush_start(output, stream);
            }
            int wait_ms = (int)(LINE_DELAY_S * 1000 / 2);
            *timeout_ms = *timeout_ms < 0 || *timeout_ms > wait_ms ? wait_ms : *timeout_ms;
        }
        if (stream->fd >= 0 && stream->sink->used < SINK_BYTES_MAX) {
            events[count++] = (struct pollfd){.fd = stream->fd, .events = POLLIN};
        }
    }
    return count;
}

static void step_input(struct output *output, const struct pollfd *event)
{
    ssize_t size = 0;
    if (event->fd == STDIN_FILENO) {
        size               = read(STDIN_FILENO, output->input, sizeof(output->input));
        output->input_used = size > 0 ? (size_t)size : 0;
    } else {
        size = write(output->input_fd, output->input, output->input_used);
        if (size > 0) {
            output->input_used -= (size_t)size;
            memmove(output->input, output->input + size, output->input_used);
        }
    }
    /* End of input, or its reader has ended. */
    if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) {
        close(output->input_fd);
        output->input_fd = -1;
    }
}

void output_step(struct output *output, const struct pollfd *events, int count)
{
    int stream_count = output->pe_count * output->sink_count;
    int s            = 0; /* events are in the order of the streams */
    for (int i = 0; i < count; i++) {
        if (events[i].revents == 0) {
            continue;
        }
        bool done = false;
        for (int sink = 0; sink < output->sink_count && !done; sink++) {
            if (events[i].fd == output->sinks[sink].fd) {
                write_sink(output, &output->sinks[sink]);
                done = true;
            }
        }
        if (!done && output->input_fd >= 0 &&
            (events[i].fd == STDIN_FILENO || events[i].fd == output->input_fd)) {
            step_input(output, &events[i]);
            done = true;
        }
        while (!done && s < stream_count) {
            done = output->streams[s++].fd == events[i].fd;
        }
        if (done && s > 0 && output->streams[s - 1].fd == events[i].fd) {
            read_stream(output, &output->streams[s - 1]);
        }
    }
}

void output_show(struct output *output, int pe)
{
    for (int i = 0; i < output->sink_count; i++) {
        struct stream *stream = &output->streams[pe * output->sink_count + i];
        /* A pipe's worth: the PE may go on writing. */
        for (int k = 0; k < 2 && stream->fd >= 0 && has_input(stream); k++) {
            read_stream(output, stream);
        }
        flush_start(output, stream);
        struct pollfd event = {.fd = stream->sink->fd, .events = POLLOUT};
        while (stream->sink->used > 0 && poll(&event, 1, 0) == 1) {
            write_sink(output, stream->sink);
        }
    }
}

void output_finish(struct output *output)
{
    for (int i = 0; i < output->pe_count * output->sink_count; i++) {
        struct stream *stream = &output->streams[i];
        struct pollfd event   = {.fd = stream->fd, .events = POLLIN};
        while (stream->fd >= 0 && poll(&event, 1, 0) == 1) {
            read_stream(output, stream);
        }
        flush_start(output, stream);
    }
    for (int i = 0; i < output->sink_count; i++) {
        struct sink *sink = &output->sinks[i];
        while (sink->used > 0) {
            struct pollfd event = {.fd = sink->fd, .events = POLLOUT};
            poll(&event, 1, -1);
            write_sink(output, sink);
        }
    }
}

bool output_is_lost(const struct output *output)
{
    return output->sinks[0].is_lost || output->sinks[output->sink_count - 1].is_lost;
}

bool output_is_broken(const struct output *output)
{
    return output->sinks[0].is_broken || output->sinks[output->sink_count - 1].is_broken;
}
