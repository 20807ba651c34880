/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong CASE: a program that makes one mistake. wrong.sh says what must be answered. */

#define SHMEMX_PARTITION_NAMES
#include <memspan/omp.h>
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static long variable;
static long *heap;

static void before_init(void)
{
    shmem_long_p(&variable, 1, 0);
}

static void after_finalize(void)
{
    shmem_finalize();
    shmem_long_p(&variable, 1, 0);
}

static void finalize_twice(void)
{
    shmem_finalize();
    shmem_finalize();
    exit(0);
}

static void leave_early(void)
{
    if (shmem_my_pe() == 0) {
        exit(0);
    }
    shmem_barrier_all();
    shmem_barrier_all();
}

static void finalize_early(void)
{
    if (shmem_my_pe() != 0) {
        shmem_long_wait_until(&variable, SHMEM_CMP_EQ, 5);
    }
}

static void malloc_before_init(void)
{
    (void)shmem_malloc(8);
}
static void pe_negative(void)
{
    shmem_long_p(&variable, 1, -1);
}
static void pe_too_large(void)
{
    shmem_long_p(&variable, 1, shmem_n_pes());
}
static void get_pe_wild(void)
{
    (void)shmem_long_g(&variable, 1 << 30);
}
static void atomic_pe_wild(void)
{
    shmem_long_atomic_inc(&variable, -5);
}

static const long constant[4] = {1, 2, 3, 4};

static void const_address(void)
{
    (void)shmem_long_g(&constant[shmem_my_pe()], 0);
}

static void waits_in_handler(const void *payload, size_t size, int pe, void *data)
{
    (void)payload;
    (void)size;
    (void)pe;
    (void)data;
    shmem_quiet();
}

static int add_handler(void)
{
    int id = -1;

    shmemx_handler_add(waits_in_handler, NULL, &id);
    shmem_barrier_all();
    return id;
}

static void call_unknown(void)
{
    shmemx_call(SHMEM_CTX_DEFAULT, add_handler() + 1, NULL, 0, 0);
}

static void call_too_large(void)
{
    shmemx_call(SHMEM_CTX_DEFAULT, add_handler(), heap, SHMEMX_CALL_MAX_BYTES + 1, 0);
}

static void call_pe(void)
{
    shmemx_call(SHMEM_CTX_DEFAULT, add_handler(), NULL, 0, 2);
}

static void call_waits(void)
{
    shmemx_call(SHMEM_CTX_DEFAULT, add_handler(), NULL, 0, shmem_my_pe());
    shmem_barrier_all();
}

/* PE 1 has not added it. */
static void call_not_added(void)
{
    int id = -1;

    if (shmem_my_pe() == 0) {
        shmemx_handler_add(waits_in_handler, NULL, &id);
    }
    shmemx_handler_add(waits_in_handler, NULL, &id);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        shmemx_call(SHMEM_CTX_DEFAULT, id, NULL, 0, 1);
    }
    shmem_barrier_all();
}

/* PE 1 has added none, and so looks for no calls. */
static void call_none_added(void)
{
    int id = -1;

    if (shmem_my_pe() == 0) {
        shmemx_handler_add(waits_in_handler, NULL, &id);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        shmemx_call(SHMEM_CTX_DEFAULT, id, NULL, 0, 1);
    }
    shmem_barrier_all();
}

/* oshrun does not serve MPI. */
static void properties(void)
{
    if ((shmemx_query_interoperability(-1) != MEMSPAN_ERR_INVALID) ||
        (shmemx_query_interoperability(SHMEMX_MPI_INITIALIZES + 1) != MEMSPAN_ERR_INVALID) ||
        (shmemx_query_interoperability(SHMEMX_MPI_PROCESSES_ARE_PES) != 0)) {
        exit(1);
    }
}

static void context_pe(void)
{
    shmem_team_t team;
    shmem_ctx_t context;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team);
    if (shmem_my_pe() == 0) {
        shmem_team_create_ctx(team, 0, &context);
        (void)shmem_ctx_long_g(context, &variable, 1);
    }
    shmem_barrier_all();
}

static void collective_address(void)
{
    enum { MANY = 1 << 16 };
    long *foreign = calloc(4 * MANY, sizeof *foreign);

    shmem_long_alltoall(SHMEM_TEAM_WORLD, foreign, foreign + (2 * MANY), MANY);
}

/* Of one PE alone, and kept by no flush of its own. */
static void printed_before(void)
{
    FILE *file = fdopen(dup(1), "w");

    setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
    if (shmem_my_pe() == 1) {
        printf("this was printed ");
        fprintf(file, "before\n");
        shmem_long_p(&variable, 1, 7);
    }
    shmem_barrier_all();
}

static void *read_for_ever(void *unused)
{
    int ends[2];
    FILE *file = (pipe(ends) == 0) ? fdopen(ends[0], "r") : NULL;

    (void)unused;
    (void)getc(file);
    return NULL;
}

/* Another thread holds the lock of a stream. */
static void printed_while_reading(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, read_for_ever, NULL);
    usleep(100000);
    printed_before();
}

static void space_outsider(void)
{
    shmemx_space_config_t config = {.struct_size = sizeof config, .size = 1 << 16};
    shmem_team_t team;
    shmemx_space_t space;
    long *memory;
    int me = shmem_my_pe();

    shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &team, NULL, 0, &(shmem_team_t){NULL});
    if ((shmemx_space_create(team, &config, &space) != 0) ||
        ((memory = shmemx_space_malloc(space, 64)) == NULL)) {
        exit(3);
    }
    shmem_long_p(memory, 7, me);
    if ((shmem_long_g(memory, me) != 7) || (shmem_ptr(memory, 1 - me) != NULL) ||
        shmem_addr_accessible(memory, 1 - me) || !shmem_addr_accessible(memory, me)) {
        exit(4);
    }
    shmem_barrier_all();
    if (me == (getenv("OUTSIDER") != NULL)) {
        shmem_long_p(memory, 8, 1 - me);
    }
    shmem_barrier_all();
}

static void info_version_null(void)
{
    int major;

    shmem_info_get_version(&major, NULL);
}

static void info_name_null(void)
{
    shmem_info_get_name(NULL);
}

static void query_thread_null(void)
{
    shmem_query_thread(NULL);
}

static void query_initialized_null(void)
{
    shmem_query_initialized(NULL);
}

static void wait_null(void)
{
    shmem_long_wait_until(NULL, SHMEM_CMP_EQ, 1);
}

static void test_any_null(void)
{
    (void)shmem_int_test_any(NULL, 4, NULL, SHMEM_CMP_EQ, 1);
}

static void signal_wait_null(void)
{
    (void)shmem_signal_wait_until(NULL, SHMEM_CMP_EQ, 1);
}

static void indices_null(void)
{
    (void)shmem_long_wait_until_some(&variable, 1, NULL, NULL, SHMEM_CMP_EQ, 0);
}

static void values_null(void)
{
    shmem_long_wait_until_all_vector(&variable, 1, NULL, SHMEM_CMP_EQ, NULL);
}

static void words_none(void)
{
    size_t none = 0;

    shmem_long_wait_until_all(NULL, 0, NULL, SHMEM_CMP_EQ, 1);
    none += shmem_long_wait_until_some(NULL, 0, NULL, NULL, SHMEM_CMP_EQ, 1);
    none += (size_t)(shmem_long_test_all_vector(NULL, 0, NULL, SHMEM_CMP_EQ, NULL) - 1);
    exit((int)none);
}

static void space_null(void)
{
    shmemx_space_config_t config = {.struct_size = sizeof config, .size = 1 << 16};

    (void)shmemx_space_create(SHMEM_TEAM_WORLD, &config, NULL);
}

/* The C library's stream. */
static void library_address(void)
{
    shmem_long_p((long *)(void *)stdout, 1, 1);
}

static void stack_address(void)
{
    long local = 0;

    shmem_long_p(&local, 1, 0);
}

static void malloc_address(void)
{
    long *block = malloc(sizeof *block);

    (void)shmem_long_atomic_fetch_add(block, 1, 0);
}

static void null_address(void)
{
    shmem_long_p(NULL, 1, 0);
}

static void past_the_end(void)
{
    static char source[1 << 20];

    shmem_putmem((char *)heap + (((size_t)1 << 29) - 4096), source, sizeof source, 0);
}

static long source[64];

static void stride_negative(void)
{
    shmem_long_iput(heap, source, -1, 1, 2, 1);
}

/* The last element, and that alone, lies behind the end. */
static void stride_past_the_end(void)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};

    if (shmemx_partition_info(1, &info) != 0) {
        exit(3);
    }
    shmem_long_iput((long *)((char *)info.base + info.size_bytes) - 8, source, 4, 1, 3, 1);
}

static void strided_get_address(void)
{
    long local[4] = {0};

    shmem_long_iget(local, local, 1, 2, 2, 1);
}

static void put_signal_address(void)
{
    static uint64_t signal;
    long local = 0;

    shmem_long_put_signal(&local, source, 1, &signal, 1, SHMEM_SIGNAL_SET, 1);
}

static void signal_address(void)
{
    uint64_t local = 0;

    shmem_ctx_long_put_signal_nbi(SHMEM_CTX_DEFAULT, heap, source, 1, &local, 1, SHMEM_SIGNAL_ADD,
                                  1);
}

static void signal_pe_wild(void)
{
    static uint64_t signal;

    shmemx_signal_add(&signal, 1, 9);
}

static void fetch_nbi_address(void)
{
    long local[2] = {0};

    shmem_long_atomic_fetch_inc_nbi(&local[0], &local[1], 1);
}

/* In bytes its multiples are more than addresses go, and 0 again in the end. */
static void stride_too_large(void)
{
    shmem_long_iput(heap, source, 1L << 58, 1, 33, 1);
}

/* In bytes it is 0. */
static void stride_wraps(void)
{
    shmem_long_iput(heap, source, 1L << 61, 1, 2, 1);
}

static void result_null(void)
{
    (void)shmem_ctx_create(0, NULL);
}

static void new_team_null(void)
{
    (void)shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, NULL);
}

static void free_twice(void)
{
    shmem_free(heap);
    shmem_free(heap);
}

static void free_inside(void)
{
    shmem_free(heap + 1);
}
static void free_foreign(void)
{
    shmem_free(&variable);
}

static void out_of_heap(void)
{
    void *block = shmem_malloc((size_t)1 << 40);

    exit((block == NULL) ? 0 : 1);
}

static void context_destroyed_twice(void)
{
    shmem_ctx_t context;

    shmem_ctx_create(0, &context);
    shmem_ctx_destroy(context);
    shmem_ctx_destroy(context);
}

/* Its place is another one's by now. */
static void context_reused(void)
{
    const uintptr_t place = 0xfff;
    shmem_ctx_t context;
    shmem_ctx_t other;

    shmem_ctx_create(0, &context);
    shmem_ctx_destroy(context);
    do {
        shmem_ctx_create(0, &other);
        if ((((uintptr_t)other ^ (uintptr_t)context) & place) != 0) {
            shmem_ctx_destroy(other);
            other = SHMEM_CTX_INVALID;
        }
    } while (other == SHMEM_CTX_INVALID);
    shmem_ctx_long_p(context, &variable, 1, 0);
}

static void context_stale(void)
{
    shmem_ctx_t context;

    shmem_ctx_create(0, &context);
    shmem_ctx_destroy(context);
    shmem_ctx_long_p(context, &variable, 1, 0);
}

static void team_null(void)
{
    (void)shmem_team_sync(SHMEM_TEAM_INVALID);
}

static void partition_unknown(void)
{
    /* The reason is printed once. */
    exit(((shmemx_partition_malloc(8, 77) == NULL) && (shmemx_partition_malloc(8, 77) == NULL))
             ? 0
             : 1);
}

static void mapped_unknown(void)
{
    exit(((__tgt_set_shmem_allocator(NULL, NULL, 0) == -1) &&
          (memspan_map_symmetric(heap, 8) != MEMSPAN_OK))
             ? 0
             : 1);
}

static void handler_null(void)
{
    int id = -1;

    exit((shmemx_handler_add(NULL, NULL, &id) == MEMSPAN_ERR_INVALID) ? 0 : 1);
}

static void overlapping(void)
{
    shmem_long_put(heap, heap + 1, 4, shmem_my_pe());
}

static void nothing(void)
{
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"no_files_in_one", nothing},
    {"few_addresses_in_one", nothing},
    {"pe_negative", pe_negative},
    {"pe_too_large", pe_too_large},
    {"get_pe_wild", get_pe_wild},
    {"atomic_pe_wild", atomic_pe_wild},
    {"stack_address", stack_address},
    {"library_address", library_address},
    {"const_address", const_address},
    {"space_outsider", space_outsider},
    {"info_version_null", info_version_null},
    {"info_name_null", info_name_null},
    {"query_thread_null", query_thread_null},
    {"query_initialized_null", query_initialized_null},
    {"wait_null", wait_null},
    {"test_any_null", test_any_null},
    {"signal_wait_null", signal_wait_null},
    {"indices_null", indices_null},
    {"values_null", values_null},
    {"words_none", words_none},
    {"space_null", space_null},
    {"context_pe", context_pe},
    {"properties", properties},
    {"call_unknown", call_unknown},
    {"call_too_large", call_too_large},
    {"call_pe", call_pe},
    {"call_waits", call_waits},
    {"call_not_added", call_not_added},
    {"call_none_added", call_none_added},
    {"collective_address", collective_address},
    {"printed_before", printed_before},
    {"printed_while_reading", printed_while_reading},
    {"malloc_address", malloc_address},
    {"null_address", null_address},
    {"past_the_end", past_the_end},
    {"stride_negative", stride_negative},
    {"stride_too_large", stride_too_large},
    {"stride_wraps", stride_wraps},
    {"stride_past_the_end", stride_past_the_end},
    {"strided_get_address", strided_get_address},
    {"put_signal_address", put_signal_address},
    {"signal_address", signal_address},
    {"signal_pe_wild", signal_pe_wild},
    {"fetch_nbi_address", fetch_nbi_address},
    {"context_reused", context_reused},
    {"result_null", result_null},
    {"new_team_null", new_team_null},
    {"free_twice", free_twice},
    {"free_inside", free_inside},
    {"free_foreign", free_foreign},
    {"out_of_heap", out_of_heap},
    {"context_destroyed_twice", context_destroyed_twice},
    {"context_stale", context_stale},
    {"team_null", team_null},
    {"partition_unknown", partition_unknown},
    {"mapped_unknown", mapped_unknown},
    {"handler_null", handler_null},
    {"overlapping", overlapping},
    {"after_finalize", after_finalize},
    {"finalize_twice", finalize_twice},
    {"leave_early", leave_early},
    {"finalize_early", finalize_early},
};

/* One PE alone can open no more files, or has few addresses (a sanitizer needs them all). */
static void limit_one(int resource, rlim_t limit)
{
    const struct rlimit limits = {limit, limit};
    const char *pe             = getenv("OSHRUN_PE");

    if ((pe != NULL) && (strcmp(pe, "1") == 0)) {
        (void)setrlimit(resource, &limits);
    }
}

static void limit(const char *name)
{
    if (strcmp(name, "no_files_in_one") == 0) {
        limit_one(RLIMIT_NOFILE, 3);
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (strcmp(name, "few_addresses_in_one") == 0) {
        limit_one(RLIMIT_AS, (rlim_t)16 << 30);
    }
#endif
}

int main(int argc, char **argv)
{
    size_t i;

    if (argc != 2) {
        return 2;
    }
    if (strcmp(argv[1], "before_init") == 0) {
        before_init();
        return 0;
    }
    if (strcmp(argv[1], "malloc_before_init") == 0) {
        malloc_before_init();
        return 0;
    }
    limit(argv[1]);
    shmem_init();
    heap = shmem_malloc(4096);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            shmem_finalize();
            return 0;
        }
    }
    return 2;
}
