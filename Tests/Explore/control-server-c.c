/* Control: a server for messages with a length prefix of two bytes, without a planted bug; explore must find nothing.
   One poll loop serves up to 62 connections. Each has one buffer for both input and replies, so the server does not read from a client
   that does not read its replies. */
#include "bed.h"

enum { MOST = 64, ROOM = 2048 };

struct peer {
    unsigned char in[ROOM], out[4 * ROOM];
    size_t got, queued;
    int ended; /* no more input */
};

static struct pollfd set[MOST];
static struct peer peers[MOST];

/* Answers each complete message, while there is room for its reply. */
static void answer(struct peer *p) {
    size_t at = 0;
    while (p->got - at >= 2) {
        size_t size = (size_t)p->in[at] << 8 | p->in[at + 1];
        if (size > ROOM - 2) {
            p->ended = 1; /* larger than the limit */
            at = p->got;
            break;
        }
        if (p->got - at < 2 + size || sizeof p->out - p->queued < 2 + size) break;
        memcpy(p->out + p->queued, p->in + at, 2 + size);
        for (size_t i = 0; i < size; i++) p->out[p->queued + 2 + i] = p->in[at + 2 + size - 1 - i];
        p->queued += 2 + size;
        at += 2 + size;
    }
    memmove(p->in, p->in + at, p->got - at);
    p->got -= at;
}

/* Returns 0 if the connection has ended. */
static int work(int fd, struct peer *p) {
    if (!p->ended && p->got < ROOM) {
        ssize_t n = recv(fd, p->in + p->got, ROOM - p->got, 0);
        if (n > 0) p->got += (size_t)n;
        if (n == 0) p->ended = 1;
        if (n < 0 && errno != EAGAIN && errno != EINTR) return 0;
    }
    do {
        answer(p);
        if (p->queued == 0) return !p->ended;
        ssize_t n = send(fd, p->out, p->queued, MSG_NOSIGNAL);
        if (n < 0) return errno == EAGAIN || errno == EINTR;
        p->queued -= (size_t)n;
        memmove(p->out, p->out + n, p->queued);
    } while (1);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    set[0] = (struct pollfd){.fd = listen_on(argv[1]), .events = POLLIN};
    for (int i = 1; i < MOST; i++) set[i].fd = -1;
    for (;;) {
        if (poll(set, MOST, -1) < 0) continue;
        for (int i = 1; i < MOST; i++) {
            if (set[i].fd < 0 || !set[i].revents) continue;
            if (!work(set[i].fd, &peers[i])) {
                close(set[i].fd);
                set[i].fd = -1;
                continue;
            }
            int reads = !peers[i].ended && peers[i].got < ROOM;
            set[i].events = (short)((reads ? POLLIN : 0) | (peers[i].queued > 0 ? POLLOUT : 0));
        }
        if (!set[0].revents) continue;
        int fd = accept(set[0].fd, NULL, NULL), i = 1;
        while (i < MOST && set[i].fd >= 0) i++;
        if (fd < 0) continue;
        if (i == MOST) {
            close(fd);
            continue;
        }
        fcntl(fd, F_SETFL, O_NONBLOCK);
        memset(&peers[i], 0, sizeof peers[i]);
        set[i] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
}
