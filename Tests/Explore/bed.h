/* Code shared by the C programs in this folder: a listener, a connection, and a complete send.
   Nothing here has a planted bug. */
#define _GNU_SOURCE /* needed for POLLRDHUP */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static inline struct sockaddr_in loopback(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static inline void die(const char *what) {
    perror(what);
    exit(1);
}

static inline int listen_on(const char *port) {
    struct sockaddr_in address = loopback(port);
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) die("socket");
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 64) < 0) die("listen");
    return fd;
}

static inline int connect_to(const char *port) {
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) die("connect");
    return fd;
}

/* Returns 0, or -1 if the connection was lost. */
static inline int send_all(int fd, const void *data, size_t size) {
    for (const char *from = data; size > 0;) {
        ssize_t n = send(fd, from, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        from += n;
        size -= (size_t)n;
    }
    return 0;
}

static inline int send_text(int fd, const char *text) { return send_all(fd, text, strlen(text)); }

/* Reads the next line with its LF, and appends a NUL. Returns its length; 0 at the end of the input, even within a line; -1 for an error. */
static inline ssize_t receive_line(int fd, char *line, size_t room) {
    for (size_t length = 0; length + 1 < room;) {
        ssize_t n = recv(fd, line + length, 1, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n;
        line[++length] = 0;
        if (line[length - 1] == '\n') return (ssize_t)length;
    }
    return 0;
}

/* Whether the program must run without its bug. */
static int fixed;

/* Whether the arguments are `PORT` or `PORT --fixed`. */
static inline int has_port(int argc, char **argv) {
    fixed = argc == 3 && strcmp(argv[2], "--fixed") == 0;
    if (argc != 2 && !fixed) fprintf(stderr, "usage: %s PORT [--fixed]\n", argv[0]);
    return argc == 2 || fixed;
}

/* Serves the connections to the port one at a time, forever. */
static inline int serve_each(int argc, char **argv, void (*serve)(int fd)) {
    if (!has_port(argc, argv)) return 2;
    int listener = listen_on(argv[1]);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) continue;
        serve(fd);
        close(fd);
    }
}
