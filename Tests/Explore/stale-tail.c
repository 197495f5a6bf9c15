/* Bug: the chunk buffer is used as a string, but cleared for each line instead of for each recv. If a chunk is shorter
   than the previous one, the string also contains the tail of the previous chunk.
   Why tests miss it: a line in one chunk is handled correctly, and so is a line in two pieces whose
   first piece is not longer than the second.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    char chunk[64] = {0}, line[256] = "", reply[300];
    send_text(fd, "220 ready\r\n");
    for (ssize_t n; (n = recv(fd, chunk, sizeof chunk - 1, 0)) > 0;) {
        if (fixed) chunk[n] = 0;
        strncat(line, chunk, sizeof line - strlen(line) - 1);
        if (!strchr(line, '\n')) continue;
        snprintf(reply, sizeof reply, "250 %s", line);
        send_text(fd, reply);
        memset(chunk, 0, sizeof chunk);
        line[0] = 0;
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
