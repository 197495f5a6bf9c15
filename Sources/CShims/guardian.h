// Declarations shared by the guardian's files.
#ifndef GUARDIAN_H
#define GUARDIAN_H

#include "CShims.h"
#include <stdint.h>
#include <sys/types.h>

// The run's requests to the guardian, each sent as one datagram.
enum { GUARDIAN_SPAWN = 1, GUARDIAN_MAKE_FOLDER, GUARDIAN_FORGET_FOLDER };

// The maximum length of a temporary folder's name, including the terminator.
#define GUARDIAN_NAME 32
#define GUARDIAN_PATH 4096

struct guardian_request {
    uint32_t operation;
    // The numbers of arguments and of environment entries in the payload's strings.
    uint32_t words;
    uint32_t environment;
    uint32_t size;
    // Whether the program runs in the network to which the network descriptor refers.
    uint32_t network;
    // Whether the program looks up names with the resolver of its network.
    uint32_t uses_names;
    char name[GUARDIAN_NAME];
    char path[GUARDIAN_PATH];
};

// The descriptors that are sent with GUARDIAN_SPAWN. The socket for news is first: the guardian always has room for one
// descriptor, and uses this socket to report that it has no room for the others.
enum { GUARDIAN_SOCKET, GUARDIAN_PAYLOAD, GUARDIAN_IN, GUARDIAN_OUT, GUARDIAN_ERR, GUARDIAN_NETWORK, GUARDIAN_DESCRIPTORS };

// Ends every descendant of the calling process except for the children in `spared`. The calling process must be a
// subreaper. SIGCHLD must be blocked; it is read from `signals`. Returns the number of children that could not be ended
// in time.
int guardian_end_all(const pid_t *spared, int count, int signals, int patience_ms);

// The main function of a guard, which receives the descriptors of the request.
_Noreturn void guardian_watch_program(const struct guardian_request *request, const int *descriptors);

// Blocks every signal, and returns a descriptor for SIGCHLD.
int guardian_block_signals(void);

// Sends news to the run (`struct probe_news`).
void guardian_tell(int socket, int kind, int value);

#endif
