/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail: each logs, once, its name and memspan_error_text(). Other calls log nothing. */
#define _GNU_SOURCE
#include <memspan/omp.h>
#include <memspan/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int log_fd;
static int failures;

static const char *read_log(void)
{
    static char text[8192];
    ssize_t n = pread(log_fd, text, sizeof(text) - 1, 0);

    text[(n < 0) ? 0 : n] = '\0';
    if ((ftruncate(log_fd, 0) != 0) || (lseek(log_fd, 0, SEEK_SET) != 0)) {
        exit(2);
    }
    return text;
}

static void check_told(const char *routine, int gives_nothing)
{
    char expected[1400];
    const char *text = read_log();

    snprintf(expected, sizeof(expected), " warn omp: %s is refused: %s", routine,
             memspan_error_text());
    if (!gives_nothing || (strstr(text, expected) == NULL)) {
        printf("%s%s: the log has \"%s\", not \"%s\"\n", routine,
               gives_nothing ? "" : " gives something", text, expected);
        failures++;
    }
}

static void check_silent(const char *what)
{
    const char *text = read_log();

    if (text[0] != '\0') {
        printf("%s: the log has \"%s\"\n", what, text);
        failures++;
    }
}

static int lines_in(const char *text)
{
    int lines = 0;

    for (; *text != '\0'; text++) {
        lines += (*text == '\n');
    }
    return lines;
}

static omp_allocator_handle_t with_fallback(omp_alloctrait_value_t fallback)
{
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, 4096}, {omp_atk_fallback, fallback}};

    return omp_init_allocator(omp_default_mem_space, 2, traits);
}

static void check_spaces(void)
{
    omp_alloctrait_t bad[] = {{omp_atk_alignment, 3}};
    int none[]             = {12345};

    check_told("omp_init_allocator",
               omp_init_allocator(omp_default_mem_space, 1, bad) == omp_null_allocator);
    check_told("omp_get_target_memspace",
               omp_get_target_memspace(1, none, omp_default_mem_space) == NULL);
    check_told("omp_get_device_memspace",
               omp_get_device_memspace(12345, omp_default_mem_space) == (omp_memspace_handle_t)0);
    check_told("omp_get_devices_allocator",
               omp_get_devices_allocator(1, none, omp_default_mem_space) == omp_null_allocator);
    check_told("omp_get_submemspace",
               omp_get_submemspace(omp_default_mem_space, 0, NULL) == (omp_memspace_handle_t)0);
    check_told("omp_get_memspace_num_resources",
               omp_get_memspace_num_resources((omp_memspace_handle_t)0x123456) == 0);
}

static void check_devices(void)
{
    char a[8] = "";

    check_told("omp_target_alloc", omp_target_alloc(8, 12345) == NULL);
    check_told("omp_target_memcpy", omp_target_memcpy(a, a, 8, 0, 0, 12345, 0) != 0);
    check_told("omp_get_mapped_ptr", omp_get_mapped_ptr(a, 12345) == NULL);
    check_told("omp_get_uid_from_device", omp_get_uid_from_device(12345) == NULL);
}

static void check_memory(void)
{
    omp_allocator_handle_t null_fb    = with_fallback(omp_atv_null_fb);
    omp_allocator_handle_t default_fb = with_fallback(omp_atv_default_mem_fb);
    omp_allocator_handle_t none       = (omp_allocator_handle_t)777;
    void *p                           = omp_alloc(100000, default_fb);

    check_silent("a fallback");
    omp_free(p, default_fb);
    if (omp_alloc(100000, null_fb) != NULL || omp_alloc(0, null_fb) != NULL) {
        failures++;
    }
    check_silent("null_fb, or a size of 0");
    check_told("omp_alloc", omp_alloc(100, none) == NULL);
    check_told("omp_calloc", omp_calloc(10, 10, none) == NULL);
    check_told("omp_aligned_alloc", omp_aligned_alloc(48, 96, omp_default_mem_alloc) == NULL);
    p = omp_alloc(100, omp_default_mem_alloc);
    check_told("omp_realloc", omp_realloc(p, 200, none, omp_null_allocator) == NULL);
    omp_free(p, omp_null_allocator);
    check_silent("a free");
    omp_destroy_allocator(null_fb);
    omp_destroy_allocator(default_fb);
    check_told("omp_alloc", omp_alloc(100, null_fb) == NULL);
}

int main(void)
{
    int errors_fd = dup(STDERR_FILENO);
    int i;

    log_fd = memfd_create("log", 0);
    if ((log_fd < 0) || (errors_fd < 0) || (dup2(log_fd, STDERR_FILENO) < 0)) {
        return 2;
    }
    check_spaces();
    check_devices();
    check_memory();
    for (i = 0; i < 100; i++) {
        (void)omp_aligned_calloc(3, 1, 1, omp_default_mem_alloc);
    }
    i = lines_in(read_log());
    if (i != 3) {
        printf("the same refusal a hundred times: %d lines, not 3\n", i);
        failures++;
    }
    dup2(errors_fd, STDERR_FILENO);
    return (failures == 0) ? 0 : 1;
}
