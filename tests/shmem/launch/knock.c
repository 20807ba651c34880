/* SPDX-License-Identifier: BSD-3-Clause */
/* launch-knock COUNT PROGRAM [ARGUMENT]...: a stranger at the PMIx server's port, whose address the
 * environment has: COUNT connections of each kind. The silent ones stay open in the program, which
 * is run then. */

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in server = {.sin_family = AF_INET};

static uint32_t draw(void)
{
    static uint64_t state = 1;
    state                 = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

static int knock(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&server, sizeof(server)) != 0) {
        perror("launch-knock: connect");
        exit(3);
    }
    return fd;
}

static void say(int fd, const void *bytes, size_t size)
{
    (void)send(fd, bytes, size, MSG_NOSIGNAL);
}

/* A header of PMIx, and a message that is as long as it says or less. */
static void say_message(int fd, uint32_t size_bytes, const void *bytes, size_t sent_bytes)
{
    uint32_t header[4] = {0, 0, size_bytes, 0};
    say(fd, header, sizeof(header));
    say(fd, bytes, sent_bytes);
}

static void close_by_reset(int fd)
{
    struct linger none = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    close(fd);
}

/* A client's first message without its end: module, credential, kind, job, rank, version. */
static void say_no_strings(int fd)
{
    char text[64] = "native";
    text[11]      = 0;          /* after a credential of no bytes: a client */
    memset(text + 12, 'j', 40); /* a job that is not there */
    say_message(fd, 52, text, 52);
}

static void knock_all(int count)
{
    unsigned char noise[600];
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof(noise); k++) {
            noise[k] = (unsigned char)draw();
        }
        int fd = knock();
        say(fd, noise, 1 + draw() % sizeof(noise));
        close(fd);
        say_message(fd = knock(), 500, noise, 500);
        close(fd);
        say_message(fd = knock(), UINT32_MAX, noise, 500);
        close(fd);
        say_message(fd = knock(), 500, noise, draw() % 500);
        close_by_reset(fd);
        say_message(fd = knock(), 0, noise, 0);
        close(fd);
        say_no_strings(fd = knock());
        close(fd);
        say(knock(), noise, draw() % 16); /* and silent from now on */
    }
}

int main(int argc, char **argv)
{
    const char *uri = getenv("PMIX_SERVER_URI4");
    const char *at  = uri != NULL ? strstr(uri, "tcp4://127.0.0.1:") : NULL;
    if (argc < 3 || at == NULL) {
        fprintf(stderr, "launch-knock: no server on the loopback interface: %s\n", uri);
        return 2;
    }
    server.sin_port        = htons((uint16_t)atoi(at + strlen("tcp4://127.0.0.1:")));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    knock_all(atoi(argv[1]));
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
