/* SPDX-License-Identifier: BSD-3-Clause */
/* last_thread.c: the list of helper threads, and the watch over the others once main has ended.
 *
 * Nothing watches while main runs: its end starts a thread, by the destructor of a key that main
 * alone has a value for. */

#include "shmem/last_thread.h"
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256, LOOK_MS = 50, LOOK_MAX_MS = 1000 };

struct threads {
    int count; /* -1: too many, or not known */
    pid_t ids[THREADS_MAX];
};

static struct threads before;
static _Atomic pid_t helpers[THREADS_MAX]; /* 0 while its thread is still writing it */
static atomic_int helper_count;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static bool contains(const pid_t *ids, int count, pid_t id)
{
    int i;

    for (i = 0; (i < count) && (ids[i] != id); i++) {
    }
    return i < count;
}

static void list(struct threads *threads)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;

    threads->count = (folder == NULL) ? -1 : 0;
    while ((folder != NULL) && ((entry = readdir(folder)) != NULL)) {
        const int id = atoi(entry->d_name);

        if ((id == 0) || (threads->count < 0)) {
            continue;
        }
        if (threads->count == THREADS_MAX) {
            threads->count = -1;
        } else {
            threads->ids[threads->count++] = id;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

static bool is_helper(pid_t id)
{
    const int count = atomic_load(&helper_count);
    int i;

    for (i = 0; (i < count) && (i < THREADS_MAX); i++) {
        if (atomic_load(&helpers[i]) == id) {
            return true;
        }
    }
    return false;
}

static void add_helper(pid_t id)
{
    if (!is_helper(id)) {
        const int index = atomic_fetch_add(&helper_count, 1);

        if (index < THREADS_MAX) {
            atomic_store(&helpers[index], id);
        }
    }
}

/* ---- after the end of main ---- */

static bool only_helpers_are_left(void)
{
    struct threads now;
    int i;

    list(&now);
    for (i = 0; i < now.count; i++) {
        if ((now.ids[i] != getpid()) && (now.ids[i] != gettid()) && !is_helper(now.ids[i])) {
            return false;
        }
    }
    return now.count >= 0;
}

/* It takes signals: those that end the process may find no other thread that does. */
static void *watch(void *unused)
{
    long look_ms = LOOK_MS;

    while (!only_helpers_are_left()) {
        nanosleep(&(struct timespec){look_ms / 1000, (look_ms % 1000) * 1000000}, NULL);
        look_ms = (look_ms < LOOK_MAX_MS) ? look_ms + (look_ms / 8) : look_ms;
    }
    exit(0);
    return unused;
}

static void main_ends(void *unused)
{
    pthread_t thread;

    (void)unused;
    if (pthread_create(&thread, NULL, watch, NULL) == 0) {
        pthread_detach(thread);
    }
}

static void make_key(void)
{
    (void)pthread_key_create(&key, main_ends);
}

/* ---- a job's start ---- */

/* The number of a helper that has ended may be another thread's by now. */
static void forget_ended(void)
{
    struct threads kept = {.count = 0};
    int i;

    for (i = 0; i < before.count; i++) {
        if (is_helper(before.ids[i])) {
            kept.ids[kept.count++] = before.ids[i];
        }
    }
    for (i = 0; i < kept.count; i++) {
        atomic_store(&helpers[i], kept.ids[i]);
    }
    atomic_store(&helper_count, kept.count);
}

void msp_last_thread_before_start(void)
{
    list(&before);
    forget_ended();
}

void msp_last_thread_after_start(void)
{
    struct threads now;
    int i;

    list(&now);
    for (i = 0; (before.count >= 0) && (i < now.count); i++) {
        if (!contains(before.ids, before.count, now.ids[i])) {
            add_helper(now.ids[i]);
        }
    }
    if (gettid() == getpid()) {
        pthread_once(&key_once, make_key);
        (void)pthread_setspecific(key, &before);
    }
}

void msp_last_thread_add_helper(void)
{
    add_helper(gettid());
}
