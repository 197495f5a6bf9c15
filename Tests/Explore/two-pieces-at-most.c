/* Bug: the pieces of a line are kept in a table with two entries; a third piece replaces the second.
   Why tests miss it: a single cut creates two pieces.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    char pieces[2][128], line[300];
    size_t sizes[2] = {0, 0}, count = 0;
    send_text(fd, "220 ready\r\n");
    for (;;) {
        size_t slot = count < 2 ? count : 1;
        size_t kept = fixed && count > slot ? sizes[slot] : 0;
        ssize_t n = recv(fd, pieces[slot] + kept, sizeof pieces[slot] - kept, 0);
        if (n <= 0) return;
        n += (ssize_t)kept;
        sizes[slot] = (size_t)n;
        count = slot + 1;
        if (pieces[slot][n - 1] != '\n') continue;
        snprintf(line, sizeof line, "250 %.*s%.*s", (int)sizes[0], pieces[0], count > 1 ? (int)sizes[1] : 0, pieces[1]);
        send_text(fd, line);
        count = 0;
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
