/* Bug: if the four bytes of a length have not all arrived, one more recv is expected to return the remaining bytes.
   Why tests miss it: two cuts inside the four bytes are needed; a single cut is handled correctly.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    unsigned char head[4] = {0};
    char body[256], reply[300];
    for (;;) {
        ssize_t n = recv(fd, head, 4, fixed ? MSG_WAITALL : 0);
        if (n <= 0) return;
        if (n < 4 && recv(fd, head + n, (size_t)(4 - n), 0) <= 0) return;
        uint32_t length = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
        if (length >= sizeof body || recv(fd, body, length, MSG_WAITALL) != (ssize_t)length) return;
        snprintf(reply, sizeof reply, "got %.*s\r\n", (int)length, body);
        send_text(fd, reply);
        memset(head, 0, sizeof head);
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
