/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_GPU_CONTROL_H
#define MEMSPAN_TESTS_FAKES_GPU_CONTROL_H

/* What the controls of the fakes have in common, one copy in each fake: the environment, counting
 * of calls, and host pages as a driver's own. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FAKE_NAMES = 96, FAKE_PAGE = 4096 };

static inline long fake_number(const char *name, long fallback)
{
    const char *text = getenv(name);

    return ((text == NULL) || (text[0] == '\0')) ? fallback : strtol(text, NULL, 0);
}

static inline void fake_text(const char *name, char *to, size_t size)
{
    const char *value = getenv(name);

    snprintf(to, size, "%s", (value == NULL) ? "" : value);
}

/* How often each call was made. */
struct fake_counters {
    struct {
        char name[48];
        unsigned count;
    } rows[FAKE_NAMES];
};

static inline unsigned *fake_counter(struct fake_counters *counters, const char *name)
{
    static unsigned none;
    int i;

    for (i = 0; i < FAKE_NAMES; i++) {
        if (counters->rows[i].name[0] == '\0') {
            snprintf(counters->rows[i].name, sizeof(counters->rows[i].name), "%s", name);
        }
        if (strcmp(counters->rows[i].name, name) == 0) {
            return &counters->rows[i].count;
        }
    }
    none = 0;
    return &none;
}

/* Calls set_attribute(number, value) for each "number=value" of a list. */
static inline void fake_each_attribute(const char *variable, void (*set_attribute)(int, int))
{
    const char *at = getenv(variable);

    while ((at != NULL) && (at[0] != '\0')) {
        int which = 0;
        int value = 0;
        if (sscanf(at, "%d=%d", &which, &value) == 2) {
            set_attribute(which, value);
        }
        at = strchr(at, ',');
        at = (at == NULL) ? NULL : at + 1;
    }
}

static inline size_t fake_whole_pages(size_t size)
{
    return (size + FAKE_PAGE - 1) & ~(size_t)(FAKE_PAGE - 1);
}

/* As a driver's own: on a page, and on nothing larger. */
static inline void *fake_map_on_page(size_t size)
{
    size_t large = 1 << 16;
    char *range =
        mmap(NULL, size + 2 * large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *aligned = (char *)(((uintptr_t)range + large - 1) & ~(uintptr_t)(large - 1));

    if (range == MAP_FAILED) {
        return MAP_FAILED;
    }
    munmap(range, (size_t)(aligned + FAKE_PAGE - range));
    munmap(aligned + FAKE_PAGE + size,
           (size_t)(range + size + 2 * large - (aligned + FAKE_PAGE + size)));
    return aligned + FAKE_PAGE;
}

#endif /* MEMSPAN_TESTS_FAKES_GPU_CONTROL_H */
