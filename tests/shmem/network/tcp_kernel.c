/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_kernel.c: calls of the kernel and the C library that the tests of the driver wrap. */

#include "tests/shmem/network/tcp_kernel.h"
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>

size_t tcp_kernel_room_bytes = SIZE_MAX;
bool tcp_kernel_has_no_memory;

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct iovec piece = message->msg_iov[0];
    size_t i;

    if (tcp_kernel_room_bytes == SIZE_MAX) {
        return __real_sendmsg(fd, message, flags);
    }
    if (tcp_kernel_room_bytes == 0) {
        errno = EAGAIN;
        return -1;
    }
    for (i = 1; (piece.iov_len == 0) && (i < message->msg_iovlen); i++) {
        piece = message->msg_iov[i];
    }
    if (piece.iov_len > tcp_kernel_room_bytes) {
        piece.iov_len = tcp_kernel_room_bytes;
    }
    return __real_sendmsg(fd, &(struct msghdr){.msg_iov = &piece, .msg_iovlen = 1}, flags);
}

void *__real_malloc(size_t size_bytes);
void *__wrap_malloc(size_t size_bytes);
void *__wrap_malloc(size_t size_bytes)
{
    return tcp_kernel_has_no_memory ? NULL : __real_malloc(size_bytes);
}
