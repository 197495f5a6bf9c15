/* Bug: the read buffer has 64 bytes; an incomplete line at its end is dropped instead of being moved to the front.
   Why tests miss it: the buffer is empty again after each request, and no request has 64 bytes.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    char buffer[64], reply[100], *newline;
    size_t begin = 0, end = 0;
    send_text(fd, "220 ready\r\n");
    for (ssize_t n; (n = recv(fd, buffer + end, sizeof buffer - end, 0)) > 0;) {
        end += (size_t)n;
        while ((newline = memchr(buffer + begin, '\n', end - begin))) {
            size_t line = (size_t)(newline - buffer) + 1 - begin;
            snprintf(reply, sizeof reply, "250 %.*s", (int)line, buffer + begin);
            send_text(fd, reply);
            begin += line;
        }
        if (fixed && begin > 0) memmove(buffer, buffer + begin, end - begin), end -= begin, begin = 0;
        if (begin == end || end == sizeof buffer) begin = end = 0;
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
