/* Bug: the 4 MiB of a session are freed only by QUIT; a client that leaves without QUIT leaks them.
   Why tests miss it: a polite client sends QUIT.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    size_t size = 4 * 1024 * 1024;
    char line[256], *session = malloc(size);
    if (!session) return;
    memset(session, 1, size);
    send_text(fd, "220 ready\r\n");
    while (receive_line(fd, line, sizeof line) > 0) {
        if (strcmp(line, "QUIT\r\n") == 0) {
            free(session);
            return;
        }
        if (send_text(fd, line) < 0) return;
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
