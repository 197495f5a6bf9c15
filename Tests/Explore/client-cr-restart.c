/* Bug: a CR at the end of a chunk is remembered, and if the next byte is not an LF, both bytes are taken for content.
   If the next byte is a CR that begins the line ending (CR | CR LF), the line ending is missed.
   Why tests miss it: a line that ends in CR CR LF is rare, and the cut must fall between the two CRs.
   The program is a client. */
#include "bed.h"

int main(int argc, char **argv) {
    if (!has_port(argc, argv)) return 2;
    char chunk[256], line[512];
    size_t length = 0;
    int held = 0, ended = 0;
    int fd = connect_to(argv[1]);
    send_text(fd, "GET\r\n");
    for (ssize_t n; !ended && (n = recv(fd, chunk, sizeof chunk, 0)) > 0;)
        for (ssize_t i = 0; i < n && !ended && length + 2 < sizeof line; i++) {
            if (fixed) {
                line[length++] = chunk[i];
                ended = length > 1 && memcmp(line + length - 2, "\r\n", 2) == 0;
                length -= ended ? 2 : 0;
            } else if (held && chunk[i] == '\n') {
                ended = 1;
            } else if (held) {
                line[length++] = '\r';
                line[length++] = chunk[i];
            } else if (chunk[i] == '\r' && i + 1 < n && chunk[i + 1] == '\n') {
                ended = 1;
            } else if (chunk[i] != '\r' || i + 1 < n) {
                line[length++] = chunk[i];
            } else {
                held = 1;
                continue;
            }
            held = 0;
        }
    printf("line of %zu, %s\n", length, ended ? "ended" : "cut off");
    close(fd);
    return 0;
}
