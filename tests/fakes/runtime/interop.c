/* SPDX-License-Identifier: BSD-3-Clause */
/* Interop objects: the runtime's are passed on to it, ours are never, and values that
 * are no object get a result code. */

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fake_runtime_interop(void);

/* The compiler's calls, as in core/omp/abi.h. */
void __tgt_interop_init(void *location, int thread, omp_interop_t *interop, int type, int device,
                        int count, void *depends, int nowait);
void __tgt_interop_use(void *location, int thread, omp_interop_t *interop, int device, int count,
                       void *depends, int nowait);
void __tgt_interop_destroy(void *location, int thread, omp_interop_t *interop, int device,
                           int count, void *depends, int nowait);
omp_interop_t __tgt_interop_get(void *location, int type, int64_t device, int count,
                                void *preferences, void *context, void *depends);
int __tgt_interop_use60(void *location, omp_interop_t interop, void *context, void *depends);
int __tgt_interop_release(void *location, omp_interop_t interop, void *context, void *depends);

struct context {
    uint32_t version;
    uint32_t flags;
    int thread;
};

struct dependences {
    int count;
    void *list;
    int other_count;
    void *others;
};

enum { TARGET = 1, TARGETSYNC = 2, TARGETSYNC_60 = 1, DISPATCH = 1, OFFLOAD_FAIL = -1 };

static char list[48]; /* two dependences, which nothing reads */

static void pretend(const char *devices, const char *foreign)
{
    setenv("MEMSPAN_BACKENDS", "host", 1);
    if (devices != NULL) {
        setenv("FAKE_RUNTIME_DEVICES", devices, 1);
    }
    if (foreign != NULL) {
        setenv("FAKE_RUNTIME_INTEROP", foreign, 1);
    }
}

Test(interop, theirs_are_passed_on)
{
    struct context context = {0, 0, 7};
    omp_interop_t object   = omp_interop_none;
    int code;

    pretend("2", "5");
    __tgt_interop_init(NULL, 7, &object, TARGETSYNC, 1, 0, NULL, 1);
    cr_assert_neq(object, omp_interop_none);
    __tgt_interop_use(NULL, 7, &object, -1, 2, list, 0);
    cr_expect_eq(omp_get_num_interop_properties(object), 3);
    cr_expect_eq(omp_get_interop_int(object, omp_ipr_fr_id, &code), 5);
    cr_expect_str_eq(omp_get_interop_str(object, omp_ipr_vendor_name, &code), "fake");
    cr_expect_str_eq(omp_get_interop_name(object, omp_ipr_fr_id), "fake name");
    cr_expect_str_eq(omp_get_interop_type_desc(object, omp_ipr_fr_id), "fake type");
    cr_expect_str_eq(omp_get_interop_rc_desc(object, 0), "fake code");
    __tgt_interop_destroy(NULL, 7, &object, -1, 0, NULL, 0);
    cr_expect_eq(object, omp_interop_none);
    cr_expect_str_eq(fake_runtime_interop(), "iud");
    object = __tgt_interop_get(NULL, TARGETSYNC_60, 1, 0, NULL, &context, NULL);
    cr_assert_neq(object, omp_interop_none);
    cr_expect_eq(__tgt_interop_use60(NULL, object, &context, NULL), 5);
    cr_expect_eq(__tgt_interop_release(NULL, object, &context, NULL), 6);
    cr_expect_str_eq(fake_runtime_interop(), "gUr");
}

static void check_ours(omp_interop_t object, int device, int has_queue)
{
    memspan_queue_h queue   = MEMSPAN_QUEUE_NULL;
    omp_interop_rc_t code   = omp_irc_other;
    memspan_status_t status = memspan_queue_of_interop(object, &queue);

    cr_assert_neq(object, omp_interop_none);
    cr_expect_eq(omp_get_interop_int(object, omp_ipr_fr_id, &code), omp_ifr_memspan);
    cr_expect_eq(code, omp_irc_success);
    cr_expect_eq(omp_get_interop_int(object, omp_ipr_device_num, NULL), device);
    cr_expect_str_eq(omp_get_interop_str(object, omp_ipr_fr_name, &code), "memspan");
    cr_expect_eq(omp_get_interop_ptr(object, omp_ipr_targetsync, &code), (void *)queue);
    cr_expect_eq(code, has_queue ? omp_irc_success : omp_irc_no_value);
    cr_expect_eq(status, has_queue ? MEMSPAN_OK : MEMSPAN_ERR_INVALID);
    cr_expect_eq(queue != MEMSPAN_QUEUE_NULL, has_queue);
    if (has_queue) {
        cr_expect_eq(memspan_queue_synchronize(queue), MEMSPAN_OK);
    }
}

/* The host, and devices for which the runtime makes no object. */
Test(interop, ours_where_the_runtime_has_none)
{
    struct context context         = {0, 0, 7};
    struct dependences dependences = {2, list, 0, NULL};
    omp_interop_t object           = omp_interop_none;
    omp_interop_t stale;

    pretend(NULL, NULL);
    __tgt_interop_init(NULL, 7, &object, TARGETSYNC, 0, 2, list, 0);
    check_ours(object, 0, 1);
    __tgt_interop_use(NULL, 7, &object, -1, 2, list, 0);
    stale = object;
    __tgt_interop_destroy(NULL, 7, &object, -1, 2, list, 0);
    cr_expect_eq(object, omp_interop_none);
    cr_expect_str_eq(fake_runtime_interop(), "www");
    __tgt_interop_destroy(NULL, 7, &stale, -1, 0, NULL, 0); /* refused */
    object = __tgt_interop_get(NULL, TARGETSYNC_60, 0, 0, NULL, &context, &dependences);
    check_ours(object, 0, 1);
    cr_expect_eq(__tgt_interop_use60(NULL, object, &context, &dependences), 0);
    cr_expect_eq(__tgt_interop_release(NULL, object, &context, &dependences), 0);
    cr_expect_eq(__tgt_interop_release(NULL, object, &context, NULL), OFFLOAD_FAIL);
    cr_expect_str_eq(fake_runtime_interop(), "www");
    __tgt_interop_init(NULL, 7, &object, TARGET, -1, 0, NULL, 0);
    check_ours(object, 0, 0);
    __tgt_interop_destroy(NULL, 7, &object, -1, 0, NULL, 0);
    context.flags = DISPATCH; /* which the runtime would have to end */
    object        = __tgt_interop_get(NULL, TARGETSYNC_60, 0, 0, NULL, &context, NULL);
    cr_expect_eq(object, omp_interop_none);
    cr_expect_str_eq(fake_runtime_interop(), "g");
}

Test(interop, none_and_stale)
{
    struct context context         = {0, 0, 7};
    struct dependences dependences = {2, list, 0, NULL};
    omp_interop_t object           = omp_interop_none;
    omp_interop_rc_t code          = omp_irc_success;
    memspan_queue_h queue;
    int i;

    pretend("1", "5");
    cr_expect_eq(omp_get_interop_int(object, omp_ipr_fr_id, &code), 0);
    cr_expect_eq(code, omp_irc_empty);
    cr_expect_null(omp_get_interop_ptr(object, omp_ipr_targetsync, NULL));
    cr_expect_null(omp_get_interop_str(object, omp_ipr_fr_name, &code));
    cr_expect_eq(omp_get_num_interop_properties(object), 0);
    cr_expect_str_eq(omp_get_interop_name(object, omp_ipr_fr_id), "fr_id");
    cr_expect_str_eq(omp_get_interop_type_desc(object, omp_ipr_targetsync), "void *");
    for (i = omp_irc_other; i <= omp_irc_no_value; i++) {
        cr_expect_not_null(omp_get_interop_rc_desc(object, (omp_interop_rc_t)i));
    }
    cr_expect_null(omp_get_interop_rc_desc(object, (omp_interop_rc_t)2));
    cr_expect_null(omp_get_interop_rc_desc(object, (omp_interop_rc_t)-7));
    cr_expect_eq(memspan_queue_of_interop(object, &queue), MEMSPAN_ERR_INVALID);
    __tgt_interop_use(NULL, 7, &object, -1, 2, list, 0);
    __tgt_interop_destroy(NULL, 7, &object, -1, 2, list, 0);
    cr_expect_eq(__tgt_interop_use60(NULL, object, &context, &dependences), OFFLOAD_FAIL);
    cr_expect_str_eq(fake_runtime_interop(), "www");
    cr_assert_eq(memspan_queue_open(MEMSPAN_HOST, MEMSPAN_QUEUE_OWN, NULL, 0, &queue), MEMSPAN_OK);
    cr_assert_eq(memspan_interop_of_queue(queue, &object), MEMSPAN_OK);
    check_ours(object, 1, 1);
    cr_expect_eq(omp_get_interop_int(object, omp_ipr_vendor, &code), 0);
    cr_expect_eq(code, omp_irc_no_value);
    cr_expect_eq(omp_get_interop_int(object, omp_ipr_targetsync, &code), 0);
    cr_expect_eq(code, omp_irc_type_ptr);
    cr_expect_eq(omp_get_interop_int(object, (omp_interop_property_t)0, &code), 0);
    cr_expect_eq(code, omp_irc_out_of_range);
    cr_expect_null(omp_get_interop_name(object, (omp_interop_property_t)-10));
    __tgt_interop_destroy(NULL, 7, &object, -1, 0, NULL, 0); /* the queue stays */
    cr_expect_eq(memspan_interop_of_queue(queue, &object), MEMSPAN_OK);
    cr_expect_eq(memspan_interop_of_queue(queue, NULL), MEMSPAN_ERR_INVALID);
    cr_expect_eq(memspan_queue_close(queue), MEMSPAN_OK);
    cr_expect_eq(omp_get_interop_int(object, omp_ipr_fr_id, &code), 0);
    cr_expect_eq(code, omp_irc_other);
    cr_expect_eq(memspan_interop_of_queue(queue, &object), MEMSPAN_ERR_NOT_FOUND);
    cr_expect_eq(memspan_queue_of_interop(object, &queue), MEMSPAN_ERR_NOT_FOUND);
}

/* Streams of the runtime's objects, on the device of a pretended driver. */
static memspan_status_t open_stream(const char *driver, const char *foreign,
                                    memspan_queue_h *queue_p)
{
    char device[16];
    omp_interop_t object;

    pretend(NULL, foreign);
    snprintf(device, sizeof(device), "%s:0", driver);
    setenv("MEMSPAN_BACKENDS", driver, 1);
    setenv("MEMSPAN_DEVICES", device, 1);
    object =
        __tgt_interop_get(NULL, TARGETSYNC_60, 0, 0, NULL, &(struct context){0, DISPATCH, 7}, NULL);
    cr_assert_neq(object, omp_interop_none);
    return memspan_queue_of_interop(object, queue_p);
}

static void check_stream(memspan_queue_h queue, memspan_queue_type_t type, omp_interop_fr_t foreign,
                         void *stream)
{
    memspan_queue_info_t info = {.struct_size = sizeof(info)};
    omp_interop_t object;

    cr_assert_eq(memspan_queue_describe(queue, &info), MEMSPAN_OK);
    cr_expect_eq(info.type, type);
    cr_assert_eq(memspan_interop_of_queue(queue, &object), MEMSPAN_OK);
    cr_expect_eq(omp_get_interop_int(object, omp_ipr_fr_id, NULL), (int)foreign);
    cr_expect_eq(omp_get_interop_ptr(object, omp_ipr_targetsync, NULL), stream);
}

/* The default stream, for which the pretended driver does not wait. */
Test(interop, stream_of_cuda)
{
    memspan_queue_h queue;

    cr_assert_eq(open_stream("cuda", "1", &queue), MEMSPAN_OK, "%s", memspan_error_text());
    check_stream(queue, MEMSPAN_QUEUE_CUDA, omp_ifr_cuda_driver, NULL);
    cr_assert_eq(open_stream("cuda", "2", &queue), MEMSPAN_OK);
    check_stream(queue, MEMSPAN_QUEUE_CUDA, omp_ifr_cuda_driver, NULL);
    cr_assert_eq(open_stream("cuda", "5", &queue), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(open_stream("cuda", "4", &queue), MEMSPAN_ERR_UNSUPPORTED);
    setenv("FAKE_RUNTIME_TARGET", "1", 1);
    cr_assert_eq(open_stream("cuda", "1", &queue), MEMSPAN_ERR_INVALID);
}

Test(interop, stream_of_hip)
{
    void *driver = dlopen("libamdhip64.so.7", RTLD_NOW);
    int (*start)(unsigned flags);
    int (*create)(void **stream_p, unsigned flags);
    void *stream = NULL;
    char text[32];
    memspan_queue_h queue;

    cr_assert_not_null(driver);
    *(void **)&start  = dlsym(driver, "hipInit");
    *(void **)&create = dlsym(driver, "hipStreamCreateWithFlags");
    cr_assert((start != NULL) && (create != NULL));
    cr_assert_eq(start(0), 0);
    cr_assert_eq(create(&stream, 1), 0);
    snprintf(text, sizeof(text), "%p", stream);
    setenv("FAKE_RUNTIME_STREAM", text, 1);
    cr_assert_eq(open_stream("hip", "5", &queue), MEMSPAN_OK, "%s", memspan_error_text());
    check_stream(queue, MEMSPAN_QUEUE_HIP, omp_ifr_hip, stream);
    cr_expect_eq(memspan_queue_close(queue), MEMSPAN_OK, "%s", memspan_error_text());
}
