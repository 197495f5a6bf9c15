/* Bug: a recv of the two bytes of a length may return only one byte, which is taken for the end of the connection.
   Why tests miss it: the two bytes are sent together with the message.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    unsigned char head[2];
    char body[256], reply[300];
    while (recv(fd, head, 2, fixed ? MSG_WAITALL : 0) == 2) {
        size_t length = (size_t)head[0] << 8 | head[1];
        if (length >= sizeof body || recv(fd, body, length, MSG_WAITALL) != (ssize_t)length) return;
        snprintf(reply, sizeof reply, "got %.*s\r\n", (int)length, body);
        send_text(fd, reply);
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
