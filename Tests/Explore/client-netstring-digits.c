/* Bug: the length of a netstring is parsed from the digits received so far, without waiting for the colon.
   Why tests miss it: the digits are sent together with the text whose bytes they count. The program is a client. */
#include "bed.h"

int main(int argc, char **argv) {
    if (!has_port(argc, argv)) return 2;
    char buffer[256];
    size_t length = 0;
    int fd = connect_to(argv[1]);
    send_text(fd, "GET\r\n");
    ssize_t n = recv(fd, buffer, sizeof buffer - 1, 0);
    if (n <= 0) return 1;
    length = (size_t)n;
    while (fixed && !memchr(buffer, ':', length) && (n = recv(fd, buffer + length, sizeof buffer - 1 - length, 0)) > 0) length += (size_t)n;
    buffer[length] = 0;
    char *text;
    size_t size = strtoul(buffer, &text, 10);
    size_t needed = (size_t)(text - buffer) + 1 + size + 1; /* digits, colon, text, comma */
    while (length < needed && needed < sizeof buffer) {
        n = recv(fd, buffer + length, sizeof buffer - length, 0);
        if (n <= 0) return 1;
        length += (size_t)n;
    }
    printf("text %.*s\n", (int)size, text + 1);
    close(fd);
    return 0;
}
