/* Bug: a proxy ignores how many bytes of a reply a non-blocking send to the client has accepted; the rest is lost.
   Why tests miss it: a fast client receives everything.
   Connections are served one at a time. The arguments are the port and the backend's port. */
#include "bed.h"

static void serve(int client, int backend) {
    struct pollfd fds[2] = {{.fd = client, .events = POLLIN}, {.fd = backend, .events = POLLIN}};
    char data[4096];
    int small = 4096;
    setsockopt(client, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    while (poll(fds, 2, -1) > 0) {
        for (int i = 0; i < 2; i++) {
            if (!fds[i].revents) continue;
            ssize_t n = recv(fds[i].fd, data, sizeof data, 0);
            if (n <= 0) return;
            if (fixed || i == 0) send_all(fds[1 - i].fd, data, (size_t)n);
            else send(client, data, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
    }
}

int main(int argc, char **argv) {
    fixed = argc == 4 && strcmp(argv[3], "--fixed") == 0;
    if (argc != 3 && !fixed) return 2;
    int listener = listen_on(argv[1]);
    for (;;) {
        int client = accept(listener, NULL, NULL);
        if (client < 0) continue;
        int backend = connect_to(argv[2]);
        serve(client, backend);
        close(client);
        close(backend);
    }
}
