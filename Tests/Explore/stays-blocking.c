/* Bug: to complete an unfinished line, a connection is made blocking, and remains so: after that line, the server waits for this client only.
   Why tests miss it: lines that are sent at once are never unfinished.
   Each line is answered with its length. */
#include "bed.h"

static void set_blocking(int fd, int on) { fcntl(fd, F_SETFL, on ? 0 : O_NONBLOCK); }

/* Reads until nothing has arrived, and answers each line. Returns whether the connection is still open. */
static int serve(int fd) {
    char line[256], reply[32];
    size_t length = 0;
    for (;;) {
        ssize_t n = recv(fd, line + length, 1, 0);
        if (n < 0 && errno == EAGAIN && length == 0) return 1;
        if (n < 0 && errno == EAGAIN) {
            set_blocking(fd, 1);
            continue;
        }
        if (n <= 0) return 0;
        if (line[length++] != '\n' && length < sizeof line) continue;
        if (fixed) set_blocking(fd, 0);
        snprintf(reply, sizeof reply, "%zu\r\n", length - 2);
        send_text(fd, reply);
        length = 0;
    }
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
        if (count == 64) {
            close(fd);
            continue;
        }
        set_blocking(fd, 0);
        fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
}
