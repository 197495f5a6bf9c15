/* Bug: a reset connection is marked as closed but stays in the poll set, so the loop spins at 100 % CPU.
   Why tests miss it: a client that closes normally sends FIN, which is handled.
   Several connections are served at once, at most 63. */
#include "bed.h"

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    struct pollfd set[64] = {{.fd = listen_on(argv[1]), .events = POLLIN}};
    int gone[64] = {0};
    for (nfds_t count = 1; poll(set, count, -1) >= 0;) {
        for (nfds_t i = 1; i < count; i++) {
            char chunk[256];
            if (!set[i].revents || gone[i]) continue;
            ssize_t n = recv(set[i].fd, chunk, sizeof chunk, 0);
            if (n > 0 && send_all(set[i].fd, chunk, (size_t)n) == 0) continue;
            if (n == 0) {
                close(set[i].fd);
                set[i].fd = -1; /* poll ignores this entry */
            } else {
                gone[i] = 1; /* the descriptor must also be closed */
            }
        }
        if (set[0].revents && count < 64) {
            set[count] = (struct pollfd){.fd = accept(set[0].fd, NULL, NULL), .events = POLLIN};
            gone[count] = 0;
            send_text(set[count].fd, "220 ready\r\n");
            count++;
        }
    }
    return 1;
}
