/* Bug: the server writes without MSG_NOSIGNAL and ignores errors; a reset by the client kills the server with SIGPIPE.
   Why tests miss it: if the client stays until it has its answer, no write ever fails.
   Connections are served one at a time. The server sends ten ticks at intervals of 20 ms. */
#include "bed.h"

static void serve(int fd) {
    char request[64];
    send_text(fd, "220 ready\r\n");
    if (receive_line(fd, request, sizeof request) <= 0) return;
    for (int i = 0; i < 10; i++) {
        usleep(20000);
        if (write(fd, "tick\r\n", 6) < 0) continue;
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
