/* Bug: the client waits for input, reads until EAGAIN, and takes the bytes received so far for the whole list.
   Why tests miss it: a short list has arrived completely by the time the client wakes up. The program is a client. */
#include "bed.h"

int main(int argc, char **argv) {
    if (!has_port(argc, argv)) return 2;
    char list[1024];
    size_t length = 0;
    int fd = connect_to(argv[1]), items = 0;
    send_text(fd, "LIST\r\n");
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, -1) != 1) return 1;
    for (ssize_t n; (n = recv(fd, list + length, sizeof list - length, fixed ? 0 : MSG_DONTWAIT)) > 0;) {
        length += (size_t)n;
        items = 0;
        for (size_t i = 0; i < length; i++) items += list[i] == '\n';
        if (fixed && items == 3) break;
    }
    printf("%d lines\n", items);
    fflush(stdout);
    send_text(fd, "QUIT\r\n");
    while (recv(fd, list, sizeof list, 0) > 0) continue;
    close(fd);
    return 0;
}
