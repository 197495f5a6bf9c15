/* Bug: the peer's FIN is checked before the data, so unread bytes that arrived with the FIN are lost.
   Why tests miss it: an idle server reads the last command before the FIN arrives.
   The bug appears only if the server is busy with a slow reader.
   Connections are served one at a time. The commands are BIG and END. POLLRDHUP exists only on Linux. */
#include "bed.h"

static void serve(int fd) {
    char request[5], reply[12 * 1024];
    int small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    for (size_t i = 0; i < sizeof reply; i++) reply[i] = "0123456789abcdef"[i % 16];
    send_text(fd, "220 ready\r\n");
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN | POLLRDHUP};
        if (poll(&wait, 1, -1) < 0 || (!fixed && wait.revents & (POLLRDHUP | POLLHUP | POLLERR))) return;
        ssize_t n = recv(fd, request, sizeof request, MSG_WAITALL);
        if (n <= 0) return;
        if (request[0] == 'B' && send_all(fd, reply, sizeof reply) < 0) return;
        if (request[0] == 'E') send_text(fd, "end\r\n");
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
