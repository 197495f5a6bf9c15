/* Bug: a CR at the end of a chunk is dropped as the first half of a CRLF, although it may be content.
   Why tests miss it: a CR inside a line is rare, and a chunk must end after it.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    char chunk[256], line[512], reply[600];
    size_t length = 0;
    send_text(fd, "220 ready\r\n");
    for (ssize_t n; (n = recv(fd, chunk, sizeof chunk, 0)) > 0;) {
        if (!fixed && chunk[n - 1] == '\r') n--;
        for (ssize_t i = 0; i < n; i++) {
            if (chunk[i] != '\n') {
                if (length < sizeof line) line[length++] = chunk[i];
                continue;
            }
            if (length > 0 && line[length - 1] == '\r') length--;
            snprintf(reply, sizeof reply, "250 %zu bytes\r\n", length);
            send_text(fd, reply);
            length = 0;
        }
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
