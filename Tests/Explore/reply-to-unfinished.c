/* Bug: the connection with an unfinished line is remembered, and not forgotten when the line is complete: the next reply goes to it.
   Why tests miss it: lines that are sent at once are never unfinished.
   Each line is answered with its length. */
#include "bed.h"

static struct {
    char line[256];
    size_t length;
} states[64];
static int unfinished = -1;

/* Returns whether the connection is still open. */
static int serve(int fd) {
    char reply[32], *line = states[fd].line;
    ssize_t n = recv(fd, line + states[fd].length, sizeof states[fd].line - states[fd].length, 0);
    if (n <= 0) return 0;
    states[fd].length += (size_t)n;
    for (char *end; (end = memchr(line, '\n', states[fd].length));) {
        size_t size = (size_t)(end + 1 - line);
        snprintf(reply, sizeof reply, "%zu\r\n", size - 2);
        send_text(!fixed && unfinished >= 0 ? unfinished : fd, reply);
        states[fd].length -= size;
        memmove(line, end + 1, states[fd].length);
    }
    if (states[fd].length > 0) unfinished = fd;
    return states[fd].length < sizeof states[fd].line;
}

int main(int argc, char **argv) {
    if (!has_port(argc, argv)) return 2;
    struct pollfd fds[64] = {{.fd = listen_on(argv[1]), .events = POLLIN}};
    for (nfds_t count = 1; poll(fds, count, -1) >= 0;) {
        for (nfds_t i = count; i-- > 1;) {
            if (!fds[i].revents || serve(fds[i].fd)) continue;
            close(fds[i].fd);
            fds[i] = fds[--count];
        }
        if (!fds[0].revents) continue;
        int fd = accept(fds[0].fd, NULL, NULL);
        if (fd < 0) continue;
        if (fd >= 64 || count == 64) {
            close(fd);
            continue;
        }
        states[fd].length = 0;
        fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
}
