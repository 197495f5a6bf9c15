// A socket as a FILE*, read with getline: how many small C programs read lines.
// cc -pthread -o c_stdio Adapters/c_stdio.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 65536 };
enum state { UNUSED, CONNECTING, OPEN, STOPPING, OVER };
static struct connection { enum state state; int fd, port; char host[64]; } connections[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Both run with the lock held, so that lines of the protocol stay whole.
static void print_bytes(const char *name, int conn, const char *bytes, size_t count) {
    printf("{\"ev\":\"%s\",\"conn\":%d,\"data\":\"", name, conn);
    for (size_t i = 0; i < count; i++) {
        unsigned char c = bytes[i];
        printf(c < 32 || c > 126 || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
    }
    puts("\"}");
}

static void stopped(struct connection *c, const char *reason) {
    if (c->state != OVER) printf("{\"ev\":\"stop\",\"conn\":%d,\"reason\":\"%s\"}\n", (int)(c - connections), reason);
    c->state = OVER;
}

static const char *reason(int code) {
    return code == ECONNREFUSED ? "refused" : code == ECONNRESET ? "reset" : code == ETIMEDOUT ? "timeout" : "other";
}

static void *serve(void *argument) {
    struct connection *c = argument;
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(c->port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(c->port)};
    int is_four = inet_pton(AF_INET, c->host, &four.sin_addr) == 1;
    if (!is_four) inet_pton(AF_INET6, c->host, &six.sin6_addr);
    int failed = connect(c->fd, is_four ? (void *)&four : (void *)&six, is_four ? sizeof four : sizeof six);
    pthread_mutex_lock(&lock);
    if (failed) {
        stopped(c, reason(errno));
    } else if (c->state == CONNECTING) {
        c->state = OPEN;
        printf("{\"ev\":\"start\",\"conn\":%d}\n", (int)(c - connections));
        pthread_mutex_unlock(&lock);
        FILE *file = fdopen(dup(c->fd), "r");
        char *line = NULL;
        size_t space = 0;
        ssize_t count;
        errno = 0;
        while ((count = getline(&line, &space, file)) > 0) {
            pthread_mutex_lock(&lock);
            if (c->state == OPEN && line[count - 1] != '\n') print_bytes("leftover", c - connections, line, count);
            else if (c->state == OPEN) print_bytes("line", c - connections, line, count > 1 && line[count - 2] == '\r' ? count - 2 : count - 1);
            pthread_mutex_unlock(&lock);
        }
        int code = errno;
        free(line);
        pthread_mutex_lock(&lock);
        stopped(c, c->state == STOPPING ? "stopped" : ferror(file) ? reason(code) : "eof");
        fclose(file);
    }
    close(c->fd);
    pthread_mutex_unlock(&lock);
    return NULL;
}

// The protocol's JSON is flat and ASCII: the text behind "name": is all that is needed.
static const char *field(const char *op, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *found = strstr(op, key);
    return found ? found + strlen(key) : "";
}

static int is(const char *op, const char *name, const char *value) {
    const char *text = field(op, name);
    return *text == '"' && strncmp(text + 1, value, strlen(value)) == 0 && text[1 + strlen(value)] == '"';
}

static size_t unescape(const char *text, char *bytes) {
    size_t count = 0;
    unsigned code;
    for (text++; *text && *text != '"'; text++) {
        if (*text != '\\') bytes[count++] = *text;
        else if (*++text == 'u') { sscanf(text + 1, "%4x", &code); bytes[count++] = code; text += 4; }
        else bytes[count++] = *text == 'n' ? '\n' : *text == 'r' ? '\r' : *text;
    }
    return count;
}

static const char *perform(const char *op) {
    struct connection *c = &connections[atoi(field(op, "conn")) % MOST];
    if (is(op, "op", "connect")) {
        if (c->state != UNUSED) return "already-started";
        if (!is(op, "framing", "crlf")) return "unsupported";
        sscanf(field(op, "host"), "\"%63[^\"]", c->host);
        c->port = atoi(field(op, "port"));
        c->fd = socket(strchr(c->host, ':') ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
        c->state = CONNECTING;
        pthread_t thread;
        return pthread_create(&thread, NULL, serve, c) || pthread_detach(thread) ? "no thread" : NULL;
    }
    if (c->state == UNUSED) return "not-started";
    if (is(op, "op", "stop")) {
        if (c->state == OVER) return NULL;
        c->state = STOPPING;
        shutdown(c->fd, SHUT_WR);
        stopped(c, "stopped");
        shutdown(c->fd, SHUT_RD);
        return NULL;
    }
    if (c->state == OVER) return "stopped";
    if (is(op, "op", "half-close")) return shutdown(c->fd, SHUT_WR) ? "stopped" : NULL;
    if (!is(op, "op", "send")) return "unsupported";
    char *bytes = malloc(strlen(op) + 2);
    size_t count = unescape(field(op, "data"), bytes), written = 0;
    memcpy(bytes + count, "\r\n", 2);
    while (written < count + 2) {
        ssize_t n = send(c->fd, bytes + written, count + 2 - written, MSG_NOSIGNAL);
        if (n < 0) break;
        written += n;
    }
    free(bytes);
    return NULL;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    puts("{\"ev\":\"hello\",\"proto\":1,\"name\":\"c-stdio\",\"can\":[\"connect\",\"send\",\"lines\",\"leftover\",\"half-close\",\"stop\"]}");
    char *op = NULL;
    size_t space = 0;
    while (getline(&op, &space, stdin) > 0) {
        pthread_mutex_lock(&lock);
        const char *error = perform(op);
        printf(error ? "{\"ev\":\"done\",\"id\":%d,\"error\":\"%s\"}\n" : "{\"ev\":\"done\",\"id\":%d}\n", atoi(field(op, "id")), error);
        pthread_mutex_unlock(&lock);
    }
}
