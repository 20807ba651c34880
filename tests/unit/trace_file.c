/* SPDX-License-Identifier: BSD-3-Clause */
/* core/debug/trace_file.c on a disk that fills up: what was written stays whole JSON, the failure
 * is reported once, and nothing is written after it. pwrite() here stands for the system's. */

#include "core/debug/watcher.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static off_t room     = -1; /* bytes that a file may have; -1: any */
static size_t at_once = SIZE_MAX;
static int interruptions;

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    size_t n = (count < at_once) ? count : at_once;

    if (interruptions > 0) {
        interruptions--;
        errno = EINTR;
        return -1;
    }
    if ((room >= 0) && (at + (off_t)n > room)) {
        n = (at < room) ? (size_t)(room - at) : 0;
        if (n == 0) {
            errno = ENOSPC;
            return -1;
        }
    }
    if (lseek(fd, at, SEEK_SET) != at) {
        return -1;
    }
    return write(fd, bytes, n);
}

static char path[64];
static char text[1 << 20];

static void set_up(void)
{
    snprintf(path, sizeof(path), "/tmp/memspan-trace-file-%d", (int)getpid());
}

static void tear_down(void)
{
    unlink(path);
}

TestSuite(trace_file, .init = set_up, .fini = tear_down);

static const char opening[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
static const char closing[] = "\n]}\n";

/* The file is the opening, @p events times the event with commas between, and the closing. */
static void check_whole(const char *event, size_t *events_p)
{
    FILE *file = fopen(path, "r");
    size_t n, events = 0;
    char *at;

    cr_assert_neq(file, NULL);
    n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    cr_assert_eq(strncmp(text, opening, sizeof(opening) - 1), 0, "%.60s", text);
    at = text + sizeof(opening) - 1;
    while (strncmp(at, event, strlen(event)) == 0) {
        at += strlen(event);
        events++;
        if (strncmp(at, ",\n", 2) != 0) {
            break;
        }
        at += 2;
    }
    cr_assert_str_eq(at, closing, "after %zu events: %.60s", events, at);
    *events_p = events;
}

static const char event[] = "{\"ph\":\"i\",\"name\":\"an event that is of some length\"}";

Test(trace_file, writes_in_pieces_and_interrupted)
{
    size_t events = 0;

    at_once       = 7;
    interruptions = 3;
    cr_assert(msp_trace_file_open(path, false, 0));
    for (int i = 0; i < 50; i++) {
        cr_assert_eq(msp_trace_file_append(event, strlen(event), 1), MSP_TRACE_FILE_OK);
    }
    interruptions = 2;
    msp_trace_file_close();
    check_whole(event, &events);
    cr_expect_eq(events, 50);
}

Test(trace_file, a_disk_that_is_full)
{
    enum msp_trace_file_result result = MSP_TRACE_FILE_OK;
    size_t events                     = 0;
    int i;

    cr_assert(msp_trace_file_open(path, false, 0));
    room = 100000;
    for (i = 0; (i < 100000) && (result == MSP_TRACE_FILE_OK); i++) {
        result = msp_trace_file_append(event, strlen(event), 1);
    }
    cr_assert_eq(result, MSP_TRACE_FILE_FAILED);
    cr_expect_neq(strstr(msp_trace_file_problem(), path), NULL);
    cr_expect_neq(strstr(msp_trace_file_problem(), strerror(ENOSPC)), NULL, "%s",
                  msp_trace_file_problem());
    cr_expect_not(msp_trace_file_is_open());
    check_whole(event, &events);
    cr_expect_gt(events, 1000);
    room = -1;
    cr_expect_eq(msp_trace_file_append(event, strlen(event), 1), MSP_TRACE_FILE_OK);
    msp_trace_file_close();
    check_whole(event, &events);
}

/* After each second what is there is written, however little it is. */
Test(trace_file, old_events_do_not_wait)
{
    static const uint64_t second = UINT64_C(1000000000);
    size_t events                = 0;

    cr_assert(msp_trace_file_open(path, false, 0));
    msp_trace_file_append(event, strlen(event), 10 * second);
    check_whole(event, &events);
    cr_expect_eq(events, 1);
    msp_trace_file_append(event, strlen(event), 10 * second + 5);
    check_whole(event, &events);
    cr_expect_eq(events, 1);
    msp_trace_file_append(event, strlen(event), 12 * second);
    check_whole(event, &events);
    cr_expect_eq(events, 3);
    msp_trace_file_close();
}
