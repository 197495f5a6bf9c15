/* Bug: the four bytes of the mask restart from the first one in each chunk.
   Why tests miss it: a short message is one chunk, and a cut at an offset that is a multiple of four is harmless.
   Connections are served one at a time. A message is a length byte, a mask of four bytes, and the masked text. */
#include "bed.h"

static void serve(int fd) {
    unsigned char head[5];
    char body[256], reply[300];
    while (recv(fd, head, 5, MSG_WAITALL) == 5) {
        size_t length = 0;
        while (length < head[0]) {
            ssize_t n = recv(fd, body + length, head[0] - length, 0);
            if (n <= 0) return;
            for (ssize_t i = 0; i < n; i++) body[length + (size_t)i] ^= (char)head[1 + (fixed ? (size_t)i + length : (size_t)i) % 4];
            length += (size_t)n;
        }
        snprintf(reply, sizeof reply, "got %.*s\r\n", (int)length, body);
        send_text(fd, reply);
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
