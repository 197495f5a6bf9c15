/* Bug: the code path for a reset connection lacks a close, so each reset leaks a descriptor.
   Why tests miss it: a client that ends with QUIT or FIN takes the other path.
   Connections are served one at a time. */
#include "bed.h"

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    int listener = listen_on(argv[1]);
    for (;;) {
        char line[256];
        ssize_t n;
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) continue;
        send_text(fd, "220 ready\r\n");
        while ((n = receive_line(fd, line, sizeof line)) > 0 && strcmp(line, "QUIT\r\n") != 0)
            if (send_text(fd, line) < 0) break;
        if (n < 0) continue; /* the error is logged elsewhere */
        close(fd);
    }
}
