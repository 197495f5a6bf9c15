// Of the guardian's own files: what one takes from the other.
#ifndef GUARDIAN_H
#define GUARDIAN_H

#include "CShims.h"
#include <stdint.h>
#include <sys/types.h>

// The run's requests to the guardian: one datagram each.
enum { GUARDIAN_SPAWN = 1, GUARDIAN_MAKE_FOLDER, GUARDIAN_FORGET_FOLDER };

// Names of the run's temporary folders are short.
#define GUARDIAN_NAME 32
#define GUARDIAN_PATH 4096

struct guardian_request {
    uint32_t operation;
    // Behind the strings of the payload: how many words and how many entries of the environment.
    uint32_t words;
    uint32_t environment;
    uint32_t size;
    char name[GUARDIAN_NAME];
    char path[GUARDIAN_PATH];
};

// With GUARDIAN_SPAWN come these descriptors.
enum { GUARDIAN_PAYLOAD, GUARDIAN_IN, GUARDIAN_OUT, GUARDIAN_ERR, GUARDIAN_SOCKET, GUARDIAN_DESCRIPTORS };

// Ends every descendant of the calling process, which must be their subreaper, but not the children in `spared`; SIGCHLD is blocked
// and read from `signals`. Returns how many children could not be ended within the time.
int guardian_end_all(const pid_t *spared, int count, int signals, int patience_ms);

// The life of the process that guards one program. It has the descriptors of the request.
_Noreturn void guardian_watch_program(const struct guardian_request *request, const int *descriptors);

// A descriptor for SIGCHLD; every signal is blocked.
int guardian_block_signals(void);

// Tells the run (`struct probe_news`).
void guardian_tell(int socket, int kind, int value);

#endif
