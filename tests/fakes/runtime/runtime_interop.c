/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime_interop.c: the interop objects of the pretended runtime.
 *
 *   FAKE_RUNTIME_INTEROP   the foreign runtime of its objects (it makes none when unset)
 *   FAKE_RUNTIME_STREAM    their streams (the default stream when unset)
 *   FAKE_RUNTIME_TARGET    set: they have none
 *
 * fake_runtime_interop() has what was called since it was last called, a letter each: init, use,
 * destroy, get, Use60, release, wait for dependences (w). */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char calls[64];
static char object; /* all of its objects are this one */

static void note(char call)
{
    size_t length = strlen(calls);

    if (length < sizeof(calls) - 1) {
        calls[length] = call;
    }
}

const char *fake_runtime_interop(void)
{
    static char last[sizeof(calls)];

    memcpy(last, calls, sizeof(calls));
    memset(calls, 0, sizeof(calls));
    return last;
}

static void *stream(void)
{
    const char *text = getenv("FAKE_RUNTIME_STREAM");

    return (text == NULL) ? NULL : (void *)(uintptr_t)strtoull(text, NULL, 0);
}

static void *make(void)
{
    return (getenv("FAKE_RUNTIME_INTEROP") == NULL) ? NULL : &object;
}

/* Not an object of its own: libomptarget reads at the address. */
static void check(const void *interop)
{
    if (interop != &object) {
        abort();
    }
}

void __tgt_interop_init(void *location, int thread, void **interop, int type, int device, int count,
                        void *depends, int nowait)
{
    note('i');
    (void)location;
    if ((thread != 7) || (type < 1) || (device != 1) || (count != 0) || (depends != NULL) ||
        (nowait != 1)) {
        abort();
    }
    *interop = make();
}

void __tgt_interop_use(void *location, int thread, void **interop, int device, int count,
                       void *depends, int nowait)
{
    (void)location, (void)thread, (void)device, (void)count, (void)depends, (void)nowait;
    note('u');
    check(*interop);
}

void __tgt_interop_destroy(void *location, int thread, void **interop, int device, int count,
                           void *depends, int nowait)
{
    (void)location, (void)thread, (void)device, (void)count, (void)depends, (void)nowait;
    note('d');
    check(*interop); /* and stays, as in LLVM 22 */
}

void *__tgt_interop_get(void *location, int type, int64_t device, int count, void *preferences,
                        void *context, void *depends)
{
    (void)location, (void)type, (void)device, (void)count, (void)preferences, (void)context,
        (void)depends;
    note('g');
    return make();
}

int __tgt_interop_use60(void *location, void *interop, void *context, void *depends)
{
    (void)location, (void)context, (void)depends;
    note('U');
    check(interop);
    return 5;
}

int __tgt_interop_release(void *location, void *interop, void *context, void *depends)
{
    (void)location, (void)context, (void)depends;
    note('r');
    check(interop);
    return 6;
}

void __kmpc_omp_wait_deps(void *location, int thread, int count, void *list, int other_count,
                          void *others)
{
    if ((count != 2) || (other_count != 0) || (thread != 7) || (list == NULL)) {
        abort();
    }
    (void)location, (void)others;
    note('w');
}

intptr_t omp_get_interop_int(const void *interop, int property, int *code)
{
    check(interop);
    *code = 0;
    return (property == -1) ? atoi(getenv("FAKE_RUNTIME_INTEROP")) : 0;
}

void *omp_get_interop_ptr(const void *interop, int property, int *code)
{
    check(interop);
    *code = (getenv("FAKE_RUNTIME_TARGET") == NULL) ? 0 : -6;
    return (property == -9) ? stream() : NULL;
}

const char *omp_get_interop_str(const void *interop, int property, int *code)
{
    check(interop);
    *code = property;
    return "fake";
}

int omp_get_num_interop_properties(const void *interop)
{
    check(interop);
    return 3;
}

const char *omp_get_interop_name(const void *interop, int property)
{
    (void)property;
    check(interop);
    return "fake name";
}

const char *omp_get_interop_type_desc(const void *interop, int property)
{
    (void)property;
    check(interop);
    return "fake type";
}

const char *omp_get_interop_rc_desc(const void *interop, int code)
{
    (void)code;
    check(interop);
    return "fake code";
}
