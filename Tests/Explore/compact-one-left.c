/* Bug: the bytes after a line are moved to the front of the buffer, unless there is only one such byte.
   Why tests miss it: only a chunk that ends one byte after a line ending leaves a single byte.
   Connections are served one at a time. */
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
