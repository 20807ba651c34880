/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_verbs.c: a libibverbs.so.1 with two network cards. FAKE_VERBS: "" registers with the
 * second card (the first cannot), "none" has no cards, "old" registers with none. Objects that
 * are not freed, in order, end the process. */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An exported function of the library. */
#define FAKE(result, name, arguments)                                                              \
    __attribute__((visibility("default"))) result name arguments;                                  \
    result name arguments

struct thing {
    struct thing *under; /* what must outlive it */
    int users;
    int card;
};

static struct thing cards[2] = {{NULL, 0, 0}, {NULL, 0, 1}};

static int is_set(const char *word)
{
    const char *setting = getenv("FAKE_VERBS");

    return (setting != NULL) && (strcmp(setting, word) == 0);
}

static struct thing *make(struct thing *under)
{
    struct thing *thing = calloc(1, sizeof(*thing));

    if (thing == NULL) {
        abort();
    }
    under->users++;
    thing->under = under;
    thing->card  = under->card;
    return thing;
}

static int end(struct thing *thing)
{
    if (thing->users != 0) {
        abort();
    }
    thing->under->users--;
    free(thing);
    return 0;
}

FAKE(struct thing **, ibv_get_device_list, (int *count))
{
    struct thing **list = calloc(3, sizeof(struct thing *));

    if (list == NULL) {
        abort();
    }
    *count  = is_set("none") ? 0 : 2;
    list[0] = &cards[0];
    list[1] = &cards[1];
    return list;
}

FAKE(void, ibv_free_device_list, (struct thing * *list))
{
    if ((cards[0].users != 0) || (cards[1].users != 0)) {
        abort();
    }
    free(list);
}

FAKE(const char *, ibv_get_device_name, (const struct thing *card))
{
    return (card->card == 0) ? "fake_0" : "fake_1";
}

FAKE(struct thing *, ibv_open_device, (struct thing * card))
{
    return make(card);
}

FAKE(int, ibv_close_device, (struct thing * context))
{
    return end(context);
}

FAKE(struct thing *, ibv_alloc_pd, (struct thing * context))
{
    return make(context);
}

FAKE(int, ibv_dealloc_pd, (struct thing * pd))
{
    return end(pd);
}

FAKE(struct thing *, ibv_reg_dmabuf_mr,
     (struct thing * pd, uint64_t offset, size_t length, uint64_t address, int fd, int access))
{
    struct stat about;

    if ((pd->card == 0) || is_set("old") || (access != 7)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    /* The kernel's rule: within a page both must agree. */
    if ((fstat(fd, &about) != 0) || ((uint64_t)about.st_size < offset + length) ||
        (offset % 4096 != address % 4096)) {
        errno = EINVAL;
        return NULL;
    }
    return make(pd);
}

FAKE(int, ibv_dereg_mr, (struct thing * mr))
{
    return end(mr);
}
