/* Bug: the server writes without MSG_NOSIGNAL and without a look at errors: a client that resets ends it by SIGPIPE.
   Why tests miss it: a client that stays until it has its answer never makes a write fail.
   Connections are served one after the other. It ticks ten times, every 20 ms. */
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
