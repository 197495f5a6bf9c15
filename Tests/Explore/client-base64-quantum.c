/* Bug: each chunk of base64 is decoded separately, and an incomplete group of four characters at its end is dropped.
   Why tests miss it: a single chunk, or a cut after a complete group, is handled correctly. The program is a client. */
#include "bed.h"

int main(int argc, char **argv) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!has_port(argc, argv)) return 2;
    char chunk[256], text[512] = "";
    size_t length = 0;
    int fd = connect_to(argv[1]);
    send_text(fd, "GET\r\n");
    size_t rest = 0;
    for (ssize_t n; (n = recv(fd, chunk + rest, sizeof chunk - rest, 0)) > 0;) {
        n += (ssize_t)rest;
        for (ssize_t i = 0; i + 4 <= n; i += 4) {
            uint32_t group = 0;
            for (int k = 0; k < 4; k++) {
                const char *found = memchr(alphabet, chunk[i + k], 64);
                group = group << 6 | (uint32_t)(found ? found - alphabet : 0);
            }
            for (int shift = 16; shift >= 0 && length < sizeof text - 1; shift -= 8) text[length++] = (char)(group >> shift);
        }
        rest = fixed ? (size_t)n % 4 : 0;
        memmove(chunk, chunk + n - rest, rest);
    }
    printf("text %s\n", text);
    close(fd);
    return 0;
}
