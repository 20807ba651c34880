/* SPDX-License-Identifier: BSD-3-Clause */
/* verbs.c: register a dma-buf with a network card.
 *
 * Registration makes the card's kernel driver map the device's pages; this is where machines
 * differ. It moves no data: that needs a second card or a loop through the switch. */

#include "cmd/memquery/output/output.h"
#include "cmd/memquery/probe/probe.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct ibv_device;
struct ibv_context;
struct ibv_pd;
struct ibv_mr;

enum { LOCAL_WRITE = 1, REMOTE_WRITE = 2, REMOTE_READ = 4 };

#define VERBS_MAP(X)                                                                               \
    X(struct ibv_device **, ibv_get_device_list, (int *count))                                     \
    X(void, ibv_free_device_list, (struct ibv_device * *list))                                     \
    X(const char *, ibv_get_device_name, (struct ibv_device * device))                             \
    X(struct ibv_context *, ibv_open_device, (struct ibv_device * device))                         \
    X(int, ibv_close_device, (struct ibv_context * context))                                       \
    X(struct ibv_pd *, ibv_alloc_pd, (struct ibv_context * context))                               \
    X(int, ibv_dealloc_pd, (struct ibv_pd * pd))                                                   \
    X(struct ibv_mr *, ibv_reg_dmabuf_mr,                                                          \
      (struct ibv_pd * pd, uint64_t offset, size_t length, uint64_t address, int fd, int access))  \
    X(int, ibv_dereg_mr, (struct ibv_mr * mr))

struct verbs {
#define MEMBER(result, name, arguments) result(*name) arguments;
    VERBS_MAP(MEMBER)
#undef MEMBER
};

struct memory {
    int fd;
    uint64_t offset;
    size_t size_bytes;
    const void *address;
};

static bool open_library(struct verbs *verbs)
{
    void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    bool whole    = library != NULL;

#define FIND(result, name, arguments)                                                              \
    if (whole) {                                                                                   \
        void *symbol = dlsym(library, #name);                                                      \
        memcpy(&verbs->name, &symbol, sizeof(symbol));                                             \
        whole = symbol != NULL;                                                                    \
    }
    VERBS_MAP(FIND)
#undef FIND
    return whole;
}

static void refuse_card(struct verbs_answer *answer, const char *card, const char *call)
{
    int error = errno;

    answer->end = VERBS_REFUSED;
    snprintf(answer->text, sizeof(answer->text), "card %s does not register it", card);
    snprintf(answer->native, sizeof(answer->native), "%s: %d %s", call, error, strerror(error));
}

static void register_on(const struct verbs *verbs, struct ibv_device *device,
                        const struct memory *memory, struct verbs_answer *answer)
{
    const char *card            = verbs->ibv_get_device_name(device);
    struct ibv_context *context = verbs->ibv_open_device(device);
    struct ibv_pd *pd;
    struct ibv_mr *mr;

    card = (card == NULL) ? "?" : card;
    if (context == NULL) {
        refuse_card(answer, card, "ibv_open_device");
        return;
    }
    pd = verbs->ibv_alloc_pd(context);
    if (pd == NULL) {
        refuse_card(answer, card, "ibv_alloc_pd");
        goto close_device;
    }
    mr = verbs->ibv_reg_dmabuf_mr(pd, memory->offset, memory->size_bytes,
                                  (uint64_t)(uintptr_t)memory->address, memory->fd,
                                  LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ);
    if (mr == NULL) {
        refuse_card(answer, card, "ibv_reg_dmabuf_mr");
        goto free_pd;
    }
    answer->end = VERBS_REGISTERED;
    snprintf(answer->text, sizeof(answer->text), "card %s registered %zu bytes", card,
             memory->size_bytes);
    answer->native[0] = '\0';
    (void)verbs->ibv_dereg_mr(mr);

free_pd:
    (void)verbs->ibv_dealloc_pd(pd);
close_device:
    (void)verbs->ibv_close_device(context);
}

void verbs_try(int fd, uint64_t offset, size_t size_bytes, const void *address,
               struct verbs_answer *answer_p)
{
    struct memory memory = {fd, offset, size_bytes, address};
    struct ibv_device **cards;
    struct verbs verbs;
    int count = 0;

    *answer_p = (struct verbs_answer){.end = VERBS_NO_CARD};
    if (!open_library(&verbs)) {
        return;
    }
    cards = verbs.ibv_get_device_list(&count);
    for (int i = 0; (cards != NULL) && (i < count) && (answer_p->end != VERBS_REGISTERED); i++) {
        register_on(&verbs, cards[i], &memory, answer_p);
    }
    if (cards != NULL) {
        verbs.ibv_free_device_list(cards);
    }
    cli_clean(answer_p->text);
    cli_clean(answer_p->native);
}
