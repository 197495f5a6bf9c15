/* Bug: %41 is decoded only if all three bytes are in the same chunk; otherwise they are left unchanged.
   Why tests miss it: the bug appears only if the data is cut inside an escape.
   Connections are served one at a time. */
#include "bed.h"
#include <ctype.h>

/* Decodes a complete line in place, and returns its length. */
static size_t decoded(char *line, size_t length) {
    size_t to = 0;
    for (size_t i = 0; i < length; i++) {
        char digits[3] = {i + 2 < length ? line[i + 1] : 0, i + 2 < length ? line[i + 2] : 0, 0};
        int is_escape = line[i] == '%' && isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]);
        line[to++] = is_escape ? (char)strtol(digits, NULL, 16) : line[i];
        i += is_escape ? 2 : 0;
    }
    return to;
}

static void serve(int fd) {
    char chunk[256], line[512], reply[600];
    size_t length = 0;
    send_text(fd, "220 ready\r\n");
    for (ssize_t n; (n = recv(fd, chunk, sizeof chunk, 0)) > 0;)
        for (ssize_t i = 0; i < n && length < sizeof line; i++) {
            if (!fixed && chunk[i] == '%' && i + 2 < n && isxdigit((unsigned char)chunk[i + 1]) && isxdigit((unsigned char)chunk[i + 2])) {
                char digits[3] = {chunk[i + 1], chunk[i + 2], 0};
                line[length++] = (char)strtol(digits, NULL, 16);
                i += 2;
            } else if (chunk[i] == '\n') {
                if (fixed) length = decoded(line, length);
                snprintf(reply, sizeof reply, "250 %.*s\r\n", (int)length, line);
                send_text(fd, reply);
                length = 0;
            } else if (chunk[i] != '\r') {
                line[length++] = chunk[i];
            }
        }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
