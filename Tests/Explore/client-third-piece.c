/* Bug: if a reply is incomplete, recv is called only once more, even if the reply is still incomplete after that.
   Why tests miss it: two cuts are needed; a reply in two pieces is handled correctly. The program is a client. */
#include "bed.h"

int main(int argc, char **argv) {
    if (!has_port(argc, argv)) return 2;
    char reply[256];
    int fd = connect_to(argv[1]);
    send_text(fd, "GET\r\n");
    ssize_t n = recv(fd, reply, sizeof reply, 0), more = 0;
    if (n <= 0) return 1;
    do {
        if (reply[n - 1] != '\n') more = recv(fd, reply + n, sizeof reply - (size_t)n, 0);
        if (more < 0) return 1;
        n += more;
    } while (fixed && more > 0 && reply[n - 1] != '\n');
    printf("reply of %zd\n", n);
    fflush(stdout);
    send_text(fd, "QUIT\r\n");
    while (recv(fd, reply, sizeof reply, 0) > 0) continue;
    close(fd);
    return 0;
}
