/* Bug: the checksum over 16-bit words pads every chunk of odd size with a zero byte, not only the last chunk.
   Why tests miss it: a single chunk is handled correctly, and so are cuts at even offsets.
   Connections are served one at a time. A message consists of a length byte and the specified number of bytes. */
#include "bed.h"

static void serve(int fd) {
    unsigned char size, chunk[256];
    char reply[32];
    while (recv(fd, &size, 1, MSG_WAITALL) == 1) {
        unsigned sum = 0;
        for (size_t left = size; left > 0;) {
            ssize_t n = recv(fd, chunk, left, fixed ? MSG_WAITALL : 0);
            if (n <= 0) return;
            for (ssize_t i = 0; i < n; i += 2) sum += (unsigned)chunk[i] << 8 | (i + 1 < n ? chunk[i + 1] : 0u);
            left -= (size_t)n;
        }
        snprintf(reply, sizeof reply, "sum %u\r\n", sum);
        send_text(fd, reply);
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
