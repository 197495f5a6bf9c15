/* Bug: the size of a chunk is a local variable of the function that parses what has arrived, so its digits start again after each read.
   Why tests miss it: the line with the size arrives at once.
   Connections are served one at a time. The size of a chunk is hexadecimal; the data of each chunk is echoed as a line. */
#include "bed.h"

static struct {
    enum { SIZE, DATA } state;
    size_t size, left;
    char data[256];
} parser;

static void parse(int fd, const char *bytes, size_t count) {
    size_t size = fixed ? parser.size : 0;
    for (size_t i = 0; i < count; i++) {
        char byte = bytes[i];
        if (parser.state == DATA) {
            parser.data[parser.left++] = byte;
            if (parser.left < parser.size) continue;
            send_all(fd, parser.data, parser.size);
            send_text(fd, "\r\n");
            parser.state = SIZE;
            parser.size = size = 0;
        } else if (byte == '\n') {
            parser.state = DATA;
            parser.size = size % sizeof parser.data;
            parser.left = 0;
        } else if (byte != '\r') {
            size = size * 16 + (size_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
            if (fixed) parser.size = size;
        }
    }
}

static void serve(int fd) {
    char input[256];
    memset(&parser, 0, sizeof parser);
    for (ssize_t n; (n = recv(fd, input, sizeof input, 0)) > 0;) parse(fd, input, (size_t)n);
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
