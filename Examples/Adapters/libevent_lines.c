// libevent: a bufferevent for each connection, and evbuffer_readln for lines; also listens. TLS uses its OpenSSL bufferevents.
// cc -o libevent_lines Examples/Adapters/libevent_lines.c -levent -levent_openssl -lssl -lcrypto
#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 65536, ACCEPTED = 1000000 };
enum state { UNUSED, CONNECTING, LIVE, STOPPING, OVER };
struct connection {
    enum state state;
    int number;
    size_t max_line;
    struct timeval idle;
    struct event *timer; // expires if connecting takes too long
    struct bufferevent *stream;
    struct evconnlistener *listener;
    SSL *tls;
    int is_secured;
    size_t sent;
};
static struct connection connections[2 * MOST];
static struct event_base *base;
static int accepted;

static struct connection *find(int number) { return &connections[number < ACCEPTED ? number % MOST : MOST + number % MOST]; }

static void print_bytes(const char *name, int conn, const char *bytes, size_t count) {
    printf("{\"ev\":\"%s\",\"conn\":%d,\"data\":\"", name, conn);
    for (size_t i = 0; i < count; i++) {
        unsigned char c = bytes[i];
        printf(c < 32 || c > 126 || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
    }
    puts("\"}");
}

static void stopped_by(struct connection *c, const char *reason, const char *machine) {
    if (c->state == OVER) return;
    if (c->state != STOPPING && machine) printf("{\"ev\":\"stop\",\"conn\":%d,\"reason\":\"%s\",\"machine\":\"%s\"}\n", c->number, reason, machine);
    else printf("{\"ev\":\"stop\",\"conn\":%d,\"reason\":\"%s\"}\n", c->number, c->state == STOPPING ? "stopped" : reason);
    c->state = OVER;
    if (c->timer) event_free(c->timer);
    if (c->is_secured) {
        // Sends a close_notify without waiting for the answer, as libevent's manual recommends.
        SSL_set_shutdown(c->tls, SSL_RECEIVED_SHUTDOWN);
        SSL_shutdown(c->tls);
    }
    if (c->stream) bufferevent_free(c->stream);
    if (c->listener) evconnlistener_free(c->listener);
    c->timer = NULL, c->stream = NULL, c->listener = NULL;
}

static void stopped(struct connection *c, const char *reason) { stopped_by(c, reason, NULL); }

// Returns the name of the errno if the machine, not the peer, caused the error.
static const char *machine(int code) {
    return code == EADDRNOTAVAIL ? "EADDRNOTAVAIL" : code == EMFILE ? "EMFILE" : code == ENFILE ? "ENFILE"
        : code == ENOBUFS ? "ENOBUFS" : code == ENOMEM ? "ENOMEM" : NULL;
}

static const char *reason(int code) {
    return code == ECONNREFUSED ? "refused" : code == ECONNRESET ? "reset" : code == EPIPE ? "broken-pipe" : code == ETIMEDOUT ? "timeout" : "other";
}

// Returns the reason for an error of an OpenSSL bufferevent.
static const char *reason_of_tls(struct connection *c, int code) {
    unsigned long error = bufferevent_get_openssl_error(c->stream);
    if (error == SSL_ERROR_SYSCALL) error = 0; // libevent sets SSL_ERROR_SYSCALL; the cause of the error is in errno.
    if (!c->is_secured) return !error && code && code != EINPROGRESS ? reason(code) : "tls-failed";
    if (!error) return code && code != EAGAIN ? reason(code) : "tls-truncated";
    return ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING ? "tls-truncated" : "tls-failed";
}

static void secured(struct connection *c) {
    const unsigned char *protocol;
    unsigned length;
    c->is_secured = 1;
    SSL_get0_alpn_selected(c->tls, &protocol, &length);
    printf("{\"ev\":\"secured\",\"conn\":%d,\"version\":\"%s\",\"alpn\":\"%.*s\"}\n", c->number, SSL_get_version(c->tls) + 4, (int)length, protocol ? (const char *)protocol : "");
}

static void can_read(struct bufferevent *stream, void *argument) {
    struct connection *c = argument;
    struct evbuffer *input = bufferevent_get_input(stream);
    size_t length;
    char *line;
    while (c->state == LIVE && (line = evbuffer_readln(input, &length, EVBUFFER_EOL_CRLF_STRICT))) {
        if (c->max_line && length > c->max_line) stopped(c, "too-long");
        else print_bytes("line", c->number, line, length);
        free(line);
    }
    // libevent does not limit the length of lines, so a program must check the length itself. The terminator's CR may
    // have arrived already.
    if (c->state == LIVE && c->max_line && evbuffer_get_length(input) > c->max_line + 1) stopped(c, "too-long");
}

static void written(struct bufferevent *stream, void *argument) {
    struct connection *c = argument;
    (void)stream;
    if (c->state == LIVE && c->sent) printf("{\"ev\":\"sent\",\"conn\":%d,\"bytes\":%zu}\n", c->number, c->sent);
    c->sent = 0;
    if (c->state == STOPPING) stopped(c, "stopped");
}

static void happened(struct bufferevent *stream, short what, void *argument) {
    struct connection *c = argument;
    int code = EVUTIL_SOCKET_ERROR();
    if (what & BEV_EVENT_CONNECTED) {
        if (c->tls) secured(c);
        if (c->state == LIVE) return;
        if (c->timer) event_free(c->timer);
        c->timer = NULL;
        c->state = LIVE;
        printf("{\"ev\":\"start\",\"conn\":%d}\n", c->number);
        bufferevent_set_timeouts(stream, c->idle.tv_sec || c->idle.tv_usec ? &c->idle : NULL, c->idle.tv_sec || c->idle.tv_usec ? &c->idle : NULL);
        bufferevent_enable(stream, EV_READ);
    } else if (what & BEV_EVENT_TIMEOUT) {
        stopped(c, "timeout");
    } else if (what & BEV_EVENT_ERROR) {
        const char *why = c->tls ? reason_of_tls(c, code) : reason(code);
        stopped_by(c, why, strcmp(why, "other") ? NULL : machine(code));
    } else if (what & BEV_EVENT_EOF && c->tls && !c->is_secured) {
        stopped(c, "tls-failed");
    } else if (what & BEV_EVENT_EOF) {
        struct evbuffer *input = bufferevent_get_input(stream);
        size_t length = evbuffer_get_length(input);
        if (c->state == LIVE && length) print_bytes("leftover", c->number, (char *)evbuffer_pullup(input, -1), length);
        stopped(c, "eof");
    }
}

static void too_late(evutil_socket_t fd, short what, void *argument) {
    (void)fd, (void)what;
    stopped(argument, "timeout");
}

static void open_stream(struct connection *c, evutil_socket_t fd) {
    int options = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;
    c->stream = c->tls ? bufferevent_openssl_socket_new(base, fd, c->tls, BUFFEREVENT_SSL_CONNECTING, options)
        : bufferevent_socket_new(base, fd, options);
    bufferevent_setcb(c->stream, can_read, written, happened, c);
}

static void accept_one(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *peer, int length, void *argument) {
    struct connection *of = argument, *c = find(ACCEPTED + accepted);
    (void)listener, (void)peer, (void)length;
    *c = (struct connection){.number = ACCEPTED + accepted++, .max_line = of->max_line, .idle = of->idle};
    printf("{\"ev\":\"accept\",\"conn\":%d,\"listener\":%d}\n", c->number, of->number);
    open_stream(c, fd);
    happened(c->stream, BEV_EVENT_CONNECTED, c);
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

// Verifies the chain and the name. Returns NULL if the file of authorities can't be read.
static SSL *secure(const char *op) {
    char ca[4096] = "", name[256] = "";
    sscanf(field(op, "ca"), "\"%4095[^\"]", ca);
    sscanf(field(op, "name"), "\"%255[^\"]", name);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, is(op, "version", "1.3") ? TLS1_3_VERSION : TLS1_2_VERSION);
    if (is(op, "version", "1.2")) SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL *tls = SSL_CTX_load_verify_locations(context, ca, NULL) ? SSL_new(context) : NULL;
    SSL_CTX_free(context);
    if (!tls) return NULL;
    if (!X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), name)) {
        SSL_set1_host(tls, name);
        SSL_set_tlsext_host_name(tls, name);
    }
    unsigned char protocols[1024];
    unsigned count = 0;
    const char *next = field(op, "alpn");
    while (*next == '[' || *next == ',') {
        size_t length = strcspn(next + 2, "\"");
        if (count + 1 + length > sizeof protocols) break;
        protocols[count++] = length;
        memcpy(protocols + count, next + 2, length);
        count += length;
        next += 3 + length;
    }
    SSL_set_alpn_protos(tls, protocols, count);
    return tls;
}

// Adds a filtering bufferevent on top of the existing one, whose unread bytes OpenSSL then parses as a record.
static const char *start_tls(struct connection *c, const char *op) {
    if (c->tls) return "already-started";
    if (!(c->tls = secure(op))) return "invalid";
    bufferevent_setcb(c->stream, NULL, NULL, NULL, NULL);
    c->stream = bufferevent_openssl_filter_new(base, c->stream, c->tls, BUFFEREVENT_SSL_CONNECTING, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    bufferevent_setcb(c->stream, can_read, written, happened, c);
    bufferevent_enable(c->stream, EV_READ);
    return NULL;
}

static struct timeval milliseconds(const char *text) {
    long count = atol(text);
    return (struct timeval){count / 1000, count % 1000 * 1000};
}

static int listen_error; // the error of the current op

// Stops a listener that can't accept a connection; libevent would otherwise retry at once.
static void cannot_accept(struct evconnlistener *listener, void *argument) {
    (void)listener;
    int code = errno;
    if (machine(code)) stopped_by(argument, "other", machine(code));
}

static const char *begin(struct connection *c, int number, const char *op, int *port) {
    char host[256] = "", service[8] = "";
    sscanf(field(op, "host"), "\"%255[^\"]", host);
    sscanf(field(op, "port"), "%7[0-9]", service);
    *c = (struct connection){.number = number, .max_line = atol(field(op, "max-line")), .idle = milliseconds(field(op, "idle-timeout-ms"))};
    if (is(op, "op", "connect")) {
        struct timeval limit = milliseconds(field(op, "connect-timeout-ms"));
        c->state = CONNECTING;
        if (*field(op, "tls") == '{' && !(c->tls = secure(op))) {
            stopped(c, "tls-failed");
            return NULL;
        }
        open_stream(c, -1);
        if (limit.tv_sec || limit.tv_usec) evtimer_add(c->timer = evtimer_new(base, too_late, c), &limit);
        // Every failure, even an immediate one, is reported as an event of the stream.
        bufferevent_socket_connect_hostname(c->stream, NULL, AF_UNSPEC, host, atoi(service));
        return NULL;
    }
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    if (getaddrinfo(host, service, &wanted, &found)) return "no such host";
    c->listener = evconnlistener_new_bind(base, accept_one, c, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, -1, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (!c->listener) return strerror(listen_error = errno);
    evconnlistener_set_error_cb(c->listener, cannot_accept);
    c->state = LIVE;
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    getsockname(evconnlistener_get_fd(c->listener), (struct sockaddr *)&address, &length);
    *port = ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port : ((struct sockaddr_in *)&address)->sin_port);
    return NULL;
}

static const char *perform(const char *op, int *port) {
    int number = atoi(field(op, "conn"));
    struct connection *c = find(number);
    if (is(op, "op", "connect") || is(op, "op", "listen")) {
        if (c->state != UNUSED) return "already-started";
        return is(op, "framing", "crlf") ? begin(c, number, op, port) : "unsupported";
    }
    if (c->state == UNUSED) return "not-started";
    if (is(op, "op", "stop")) {
        if (c->state == OVER || c->state == STOPPING) return NULL;
        int waits = c->state == LIVE && c->stream && evbuffer_get_length(bufferevent_get_output(c->stream));
        c->state = STOPPING;
        if (waits) bufferevent_disable(c->stream, EV_READ);
        else stopped(c, "stopped");
        return NULL;
    }
    if (c->state == OVER || c->state == STOPPING) return "stopped";
    if (c->state == CONNECTING || !c->stream) return "not-started";
    if (is(op, "op", "stop-reading")) return bufferevent_disable(c->stream, EV_READ) ? "stopped" : NULL;
    if (is(op, "op", "resume-reading")) return bufferevent_enable(c->stream, EV_READ) ? "stopped" : NULL;
    if (is(op, "op", "start-tls")) return start_tls(c, op);
    if (!is(op, "op", "send")) return "unsupported"; // libevent does not support half-close.
    char *bytes = malloc(strlen(op) + 2);
    size_t count = unescape(field(op, "data"), bytes);
    memcpy(bytes + count, "\r\n", 2);
    bufferevent_write(c->stream, bytes, count + 2);
    c->sent += count + 2;
    free(bytes);
    return NULL;
}

static void take(struct bufferevent *console, void *argument) {
    char *op;
    (void)argument;
    while ((op = evbuffer_readln(bufferevent_get_input(console), NULL, EVBUFFER_EOL_LF))) {
        int id = atoi(field(op, "id")), port = 0;
        listen_error = 0;
        const char *error = perform(op, &port);
        if (error && machine(listen_error)) printf("{\"ev\":\"done\",\"id\":%d,\"error\":\"%s\",\"machine\":\"%s\"}\n", id, error, machine(listen_error));
        else if (error) printf("{\"ev\":\"done\",\"id\":%d,\"error\":\"%s\"}\n", id, error);
        else if (port) printf("{\"ev\":\"done\",\"id\":%d,\"port\":%d}\n", id, port);
        else printf("{\"ev\":\"done\",\"id\":%d}\n", id);
        free(op);
    }
}

static void end(struct bufferevent *console, short what, void *argument) {
    (void)console, (void)what, (void)argument;
    exit(0);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    signal(SIGPIPE, SIG_IGN);
    // On some systems, epoll does not support pipes; libevent then uses another method.
    struct event_config *config = event_config_new();
    event_config_require_features(config, EV_FEATURE_FDS);
    base = event_base_new_with_config(config);
    printf("{\"ev\":\"hello\",\"proto\":1,\"minor\":4,\"name\":\"libevent\",\"version\":\"%s\",\"can\":[\"connect\",\"listen\",\"send\",\"lines\",\"crlf\",\"sent\",\"leftover\","
           "\"stop\",\"stop-reading\",\"resume-reading\",\"connect-timeout\",\"idle-timeout\",\"max-line\",\"tls\",\"start-tls\"],\"lacks\":[\"frames\"]}\n", event_get_version());
    struct bufferevent *console = bufferevent_socket_new(base, 0, 0);
    bufferevent_setcb(console, take, NULL, end, NULL);
    bufferevent_enable(console, EV_READ);
    return event_base_dispatch(base);
}
