/* Bug: DATA changes how input is read, and empties the buffer, so bytes that follow DATA in the same segment are lost.
   Why tests miss it: a client waits a moment between the command and the data.
   Connections are served one at a time. The data consists of five bytes. */
#include "bed.h"

static void serve(int fd) {
    char buffer[256], reply[64];
    size_t length = 0;
    int data = 0;
    send_text(fd, "220 ready\r\n");
    for (ssize_t n; (n = recv(fd, buffer + length, sizeof buffer - length, 0)) > 0;) {
        length += (size_t)n;
        char *command = data ? NULL : memmem(buffer, length, "DATA\r\n", 6);
        if (command) {
            size_t rest = (size_t)(buffer + length - (command + 6));
            data = 1;
            length = fixed ? rest : 0;
            if (fixed) memmove(buffer, command + 6, rest);
        }
        if (!data || length < 5) continue;
        snprintf(reply, sizeof reply, "250 got %.5s\r\n", buffer);
        send_text(fd, reply);
        length = 0;
        data = 0;
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
