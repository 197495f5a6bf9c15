/* Bug: what is left behind a line is moved to the front of the buffer, but not if it is a single byte.
   Why tests miss it: only a chunk that ends one byte behind a line's end leaves one byte.
   Connections are served one after the other. */
#include "bed.h"

static void serve(int fd) {
    char buffer[512], reply[600], *end;
    size_t length = 0;
    send_text(fd, "220 ready\r\n");
    for (ssize_t n; (n = recv(fd, buffer + length, sizeof buffer - length, 0)) > 0;) {
        length += (size_t)n;
        while ((end = memchr(buffer, '\n', length))) {
            size_t line = (size_t)(end - buffer) + 1;
            snprintf(reply, sizeof reply, "250 %.*s", (int)line, buffer);
            send_text(fd, reply);
            length -= line;
            if (length > (fixed ? 0 : 1)) memmove(buffer, buffer + line, length);
        }
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
