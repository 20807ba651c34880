/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that stand for devices: omp_default_device (GCC 16) in every routine that takes one, and
 * the host's uid, which leads back to the host. */
#include <memspan/omp.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_DEVICE = -5 };

static int failures;

static void check(int holds, const char *what)
{
    if (!holds) {
        printf("%s\n", what);
        failures++;
    }
}

int main(void)
{
    int host        = omp_get_initial_device();
    const char *uid = omp_get_uid_from_device(omp_initial_device);
    char a[16]      = "memory";
    char *p         = (char *)omp_target_alloc(16, DEFAULT_DEVICE);

    check((uid != NULL) && (omp_get_device_from_uid(uid) == host), "the host's uid is not its");
    check(uid == omp_get_uid_from_device(host), "the host has two uids");
    if (omp_get_default_device() == host) {
        check(uid == omp_get_uid_from_device(DEFAULT_DEVICE), "the default device has another uid");
    }
    check(p != NULL, "no memory of the default device");
    check(omp_target_memcpy(p, a, 16, 0, 0, DEFAULT_DEVICE, host) == 0, "not copied to");
    memset(a, 0, sizeof(a));
    check((omp_target_memcpy(a, p, 16, 0, 0, host, DEFAULT_DEVICE) == 0) &&
              (strcmp(a, "memory") == 0),
          "not copied from");
    check(omp_target_memset(p, 7, 16, DEFAULT_DEVICE) == p, "not set");
    check((omp_target_memcpy(a, p, 16, 0, 0, host, DEFAULT_DEVICE) == 0) && (a[15] == 7),
          "other bytes set");
    if (omp_get_default_device() == host) {
        check(omp_target_is_present(p, DEFAULT_DEVICE), "not present");
        check(omp_target_is_accessible(p, 16, DEFAULT_DEVICE), "not accessible");
        check(omp_get_mapped_ptr(p, DEFAULT_DEVICE) == p, "not mapped");
        check(omp_get_device_memspace(DEFAULT_DEVICE, omp_default_mem_space) ==
                  omp_get_device_memspace(omp_initial_device, omp_default_mem_space),
              "another space");
    }
    omp_target_free(p, DEFAULT_DEVICE);
    return (failures == 0) ? 0 : 1;
}
