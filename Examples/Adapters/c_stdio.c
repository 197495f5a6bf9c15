// Reads a socket as a FILE * with getline, as many small C programs do.
// cc -pthread -o c_stdio Examples/Adapters/c_stdio.c
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 65536 };
enum state { UNUSED, LIVE, OVER };
static struct connection { enum state state; int fd; char host[256], port[8]; } connections[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// The lock must be held while `print_bytes` or `stopped` runs, so that the protocol's lines are not interleaved.
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

// Returns the name of the errno if the machine, not the peer, caused the error.
static const char *machine(int code) {
    return code == EADDRNOTAVAIL ? "EADDRNOTAVAIL" : code == EMFILE ? "EMFILE" : code == ENFILE ? "ENFILE"
        : code == ENOBUFS ? "ENOBUFS" : code == ENOMEM ? "ENOMEM" : NULL;
}

static void failed(struct connection *c, int code) {
    const char *why = code == ECONNREFUSED ? "refused" : code == ECONNRESET ? "reset" : code == ETIMEDOUT ? "timeout" : "other";
    if (c->state == LIVE && machine(code))
        printf("{\"ev\":\"stop\",\"conn\":%d,\"reason\":\"other\",\"machine\":\"%s\"}\n", (int)(c - connections), machine(code));
    else stopped(c, why);
    c->state = OVER;
}

// Tries the addresses of the host in turn. Returns 0 once connected; otherwise, the errno of the attempt to connect to
// the last address.
static int dial(struct connection *c) {
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int code = getaddrinfo(c->host, c->port, &wanted, &found) ? EHOSTUNREACH : 0, fd;
    for (struct addrinfo *each = found; each; each = code ? each->ai_next : NULL) {
        pthread_mutex_lock(&lock);
        if (c->fd > 0) close(c->fd);
        fd = c->fd = c->state == LIVE ? socket(each->ai_family, each->ai_socktype, 0) : -1;
        code = fd < 0 ? errno : 0;
        pthread_mutex_unlock(&lock);
        if (fd >= 0) code = connect(fd, each->ai_addr, each->ai_addrlen) ? errno : 0;
    }
    if (found) freeaddrinfo(found);
    return code;
}

static void *serve(void *argument) {
    struct connection *c = argument;
    int code = dial(c);
    pthread_mutex_lock(&lock);
    if (code) {
        failed(c, code);
    } else if (c->state == LIVE) {
        printf("{\"ev\":\"start\",\"conn\":%d}\n", (int)(c - connections));
        pthread_mutex_unlock(&lock);
        FILE *file = fdopen(dup(c->fd), "r");
        if (!file) {
            code = errno;
            pthread_mutex_lock(&lock);
            failed(c, code);
            close(c->fd);
            pthread_mutex_unlock(&lock);
            return NULL;
        }
        char *line = NULL;
        size_t space = 0;
        ssize_t count;
        errno = 0;
        while ((count = getline(&line, &space, file)) > 0) {
            pthread_mutex_lock(&lock);
            if (c->state == LIVE && line[count - 1] != '\n') print_bytes("leftover", c - connections, line, count);
            else if (c->state == LIVE) print_bytes("line", c - connections, line, count > 1 && line[count - 2] == '\r' ? count - 2 : count - 1);
            pthread_mutex_unlock(&lock);
        }
        code = errno;
        free(line);
        pthread_mutex_lock(&lock);
        if (ferror(file)) failed(c, code);
        else stopped(c, "eof");
        fclose(file);
    }
    if (c->fd > 0) close(c->fd);
    pthread_mutex_unlock(&lock);
    return NULL;
}

// The protocol's JSON is flat and ASCII, so finding the text after "name": is enough.
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
        else bytes[count++] = *text == 'n' ? '\n' : *text == 'r' ? '\r' : *text == 't' ? '\t' : *text == 'b' ? '\b' : *text == 'f' ? '\f' : *text;
    }
    return count;
}

// Performs an op. The lock is held, but is released while sending, because the peer may read slowly.
static const char *perform(const char *op) {
    struct connection *c = &connections[atoi(field(op, "conn")) % MOST];
    if (is(op, "op", "connect")) {
        if (c->state != UNUSED) return "already-started";
        if (!is(op, "framing", "crlf")) return "unsupported";
        sscanf(field(op, "host"), "\"%255[^\"]", c->host);
        sscanf(field(op, "port"), "%7[0-9]", c->port);
        c->state = LIVE;
        pthread_t thread;
        return pthread_create(&thread, NULL, serve, c) || pthread_detach(thread) ? "no thread" : NULL;
    }
    if (c->state == UNUSED) return "not-started";
    if (is(op, "op", "stop")) {
        if (c->state == LIVE && c->fd > 0) shutdown(c->fd, SHUT_RDWR); // `shutdown` also ends a pending connect.
        stopped(c, "stopped");
        return NULL;
    }
    if (c->state == OVER) return "stopped";
    if (is(op, "op", "half-close")) return shutdown(c->fd, SHUT_WR) ? "stopped" : NULL;
    if (!is(op, "op", "send")) return "unsupported";
    char *bytes = malloc(strlen(op) + 2);
    size_t count = unescape(field(op, "data"), bytes), written = 0;
    memcpy(bytes + count, "\r\n", 2);
    ssize_t n = 0;
    int fd = dup(c->fd); // The reading thread may close c->fd in the meantime.
    pthread_mutex_unlock(&lock);
    for (; written < count + 2 && n >= 0; written += n) n = send(fd, bytes + written, count + 2 - written, MSG_NOSIGNAL);
    pthread_mutex_lock(&lock);
    close(fd);
    free(bytes);
    return n < 0 ? "stopped" : NULL;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    puts("{\"ev\":\"hello\",\"proto\":1,\"minor\":4,\"name\":\"c-stdio\",\"can\":[\"connect\",\"send\",\"lines\",\"crlf\",\"leftover\",\"half-close\",\"stop\"],\"lacks\":[\"frames\"]}");
    char *op = NULL;
    size_t space = 0;
    while (getline(&op, &space, stdin) > 0) {
        pthread_mutex_lock(&lock);
        const char *error = perform(op);
        printf(error ? "{\"ev\":\"done\",\"id\":%d,\"error\":\"%s\"}\n" : "{\"ev\":\"done\",\"id\":%d}\n", atoi(field(op, "id")), error);
        pthread_mutex_unlock(&lock);
    }
}
