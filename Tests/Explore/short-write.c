/* Bug: the result of a send on a non-blocking socket is ignored, so bytes that the kernel did not accept are lost.
   Why tests miss it: with a fast reader and a large window, the kernel accepts the whole reply.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    char request[64], reply[8 * 1024];
    int small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    send_text(fd, "220 ready\r\n");
    if (receive_line(fd, request, sizeof request) <= 0) return;
    for (size_t i = 0; i < sizeof reply; i++) reply[i] = "0123456789abcdef"[i % 16];
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    size_t sent = (size_t)send(fd, reply, sizeof reply, MSG_NOSIGNAL);
    fcntl(fd, F_SETFL, flags);
    if (fixed && sent < sizeof reply) send_all(fd, reply + sent, sizeof reply - sent);
    send_text(fd, "end\r\n");
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
