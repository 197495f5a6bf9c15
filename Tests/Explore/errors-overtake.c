/* Bug: the replies to the commands of one read are collected and sent together, but errors are sent at once, before the replies.
   Why tests miss it: each command arrives in a segment of its own.
   Connections are served one at a time. The command GET is answered; all others are errors. */
#include "bed.h"

static void serve(int fd) {
    char input[256], replies[1024] = "";
    size_t length = 0;
    for (ssize_t n; (n = recv(fd, input + length, sizeof input - length, 0)) > 0;) {
        length += (size_t)n;
        for (char *end; (end = memchr(input, '\n', length));) {
            size_t size = (size_t)(end + 1 - input);
            if (memcmp(input, "GET\r\n", size) == 0) strcat(replies, "value\r\n");
            else if (fixed) strcat(replies, "error\r\n");
            else send_text(fd, "error\r\n");
            length -= size;
            memmove(input, end + 1, length);
        }
        send_text(fd, replies);
        replies[0] = 0;
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
