// OpenSSL 3, loaded when it is first needed. A run without TLS pays nothing for it: linked, it would take 1.3 ms of processor time at each
// start. Its own headers stay inside this target.
//
// Nothing here takes a lock: a context and its sessions belong to one thread. `probe_tls_load` comes before every other function.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Loads libssl.so.3 and libcrypto.so.3.
//
// Returns null if everything that is used was found, else the loader's reason. Called once.
const char *probe_tls_load(void);

// As `OpenSSL 3.0.19 27 Jan 2026`.
const char *probe_tls_library(void);

// The number of the peer's alert that the calling thread's last failure came from; -1 if it came from something else. It is not taken.
int probe_tls_alert_of_error(void);

// The reason of the calling thread's last failure in the library, as `certificate verify failed`; null if there is none. It is taken.
const char *probe_tls_take_error(void);

// MARK: Certificates

typedef struct probe_tls_certificate probe_tls_certificate;

struct probe_tls_certificate_request {
    const char *common_name;
    // As `DNS:localhost,IP:127.0.0.1`; null for none.
    const char *alternative_names;
    // Seconds from now.
    long not_before, not_after;
    uint64_t serial;
    int is_authority;
};

// Makes a key (P-256) and a certificate for it, signed with `issuer`; with null by itself. Null if the library failed.
probe_tls_certificate *probe_tls_certificate_new(
    const struct probe_tls_certificate_request *request, const probe_tls_certificate *issuer);
void probe_tls_certificate_free(probe_tls_certificate *);

// Copies the certificate, or its key, as PEM, and returns its length; 0 if the library failed or `capacity` is too small.
size_t probe_tls_certificate_pem(const probe_tls_certificate *, int of_the_key, char *pem, size_t capacity);

// MARK: Contexts

typedef struct probe_tls_context probe_tls_context;

enum probe_tls_version { PROBE_TLS_1_2 = 0x303, PROBE_TLS_1_3 = 0x304 };

enum probe_tls_client_certificate { PROBE_TLS_NOT_ASKED, PROBE_TLS_ASKED, PROBE_TLS_REQUIRED };

// Null if the library failed.
probe_tls_context *probe_tls_context_new(int is_server, int lowest_version, int highest_version);
void probe_tls_context_free(probe_tls_context *);

// These return 1, or 0 if the library failed.
int probe_tls_context_use(probe_tls_context *, const probe_tls_certificate *);
// Takes what the files' bytes (PEM) hold. Of `certificates` the first is the own one, the others are its chain.
int probe_tls_context_use_pem(
    probe_tls_context *, const char *certificates, size_t certificates_length, const char *key, size_t key_length);
int probe_tls_context_trust_pem(probe_tls_context *, const char *certificates, size_t length);
// A client verifies its peer. A server asks for a certificate, and refuses the handshake without one if it is required.
int probe_tls_context_verify(probe_tls_context *, enum probe_tls_client_certificate);
// `protocols` in the form of RFC 7301: each behind a byte with its length. A server refuses a client that has none of them.
int probe_tls_context_set_alpn(probe_tls_context *, const uint8_t *protocols, size_t length);
// How many tickets a server sends behind its handshake (TLS 1.3). With TLS 1.2, 0 turns them off.
int probe_tls_context_set_tickets(probe_tls_context *, size_t count);
// Offers TLS_AES_128_GCM_SHA256 alone, for which `probe_tls_seal` writes.
int probe_tls_context_use_one_suite(probe_tls_context *);

// MARK: Sessions

typedef struct probe_tls_session probe_tls_session;

// Called during a call of the session, on the same thread.
struct probe_tls_observer {
    void *context;
    // A line of the key log, without its end.
    void (*key_log)(void *context, const char *line);
    // A record's header (type 256), or what a record of this content type carries: an alert, a message of the handshake.
    void (*message)(void *context, int is_sent, int type, const uint8_t *bytes, size_t count);
};

probe_tls_session *probe_tls_session_new(probe_tls_context *, struct probe_tls_observer);
void probe_tls_session_free(probe_tls_session *);

// A client's: what it sends as SNI, and the name or numeric address that the certificate has to be for. Null for none.
int probe_tls_session_set_name(probe_tls_session *, const char *indicated, const char *verified);
// A client begins with what the other session was given by its server, if anything.
void probe_tls_session_resume(probe_tls_session *, const probe_tls_session *earlier);

// Bytes from the network.
int probe_tls_session_receive(probe_tls_session *, const uint8_t *bytes, size_t count);
// Bytes of the network that are no whole record yet, or that stand behind close_notify.
size_t probe_tls_session_unread(const probe_tls_session *);
// Takes what is to be sent; returns how much. `capacity` 0 only asks how much there is.
size_t probe_tls_session_send(probe_tls_session *, uint8_t *bytes, size_t capacity);

enum probe_tls_result {
    PROBE_TLS_DONE = 0,
    // More has to come from the network.
    PROBE_TLS_WAITS = -1,
    // The peer's close_notify was read.
    PROBE_TLS_NOTIFIED = -2,
    // `probe_tls_take_error` has the reason.
    PROBE_TLS_FAILED = -3,
};

int probe_tls_session_handshake(probe_tls_session *);
// The number of bytes, or a result other than `PROBE_TLS_DONE`.
int probe_tls_session_read(probe_tls_session *, uint8_t *bytes, size_t capacity);
// One record of all these bytes: from 1 to 16384.
int probe_tls_session_write(probe_tls_session *, const uint8_t *bytes, size_t count);
int probe_tls_session_notify(probe_tls_session *);
int probe_tls_session_update_key(probe_tls_session *, int is_requested);
int probe_tls_session_send_ticket(probe_tls_session *);
int probe_tls_session_request_hello(probe_tls_session *);

int probe_tls_session_version(const probe_tls_session *);
// Of the session: valid while it is unchanged. Null where there is none.
const char *probe_tls_session_cipher(const probe_tls_session *);
const char *probe_tls_session_indicated_name(const probe_tls_session *);
size_t probe_tls_session_alpn(const probe_tls_session *, const uint8_t **protocol);
// A handshake is under way, the first or a later one.
int probe_tls_session_is_in_handshake(const probe_tls_session *);
int probe_tls_session_has_peer_certificate(const probe_tls_session *);
int probe_tls_session_is_resumed(const probe_tls_session *);
// What verification of the peer's certificate found, as `certificate has expired`; null if nothing was wrong with it.
const char *probe_tls_session_verification(const probe_tls_session *);

// MARK: Records of our own (TLS 1.3, TLS_AES_128_GCM_SHA256)

// HKDF-Expand-Label with an empty context (RFC 8446, 7.1). The secret has 32 bytes. Returns 1, or 0 if the library failed.
int probe_tls_expand(const uint8_t *secret, const char *label, uint8_t *out, size_t count);
// Writes the record's header, ciphertext and tag: 5 + `count` + 1 + 16 bytes (RFC 8446, 5.2). Returns 1, or 0 if the library failed.
int probe_tls_seal(
    const uint8_t *key, const uint8_t *iv, uint64_t sequence, uint8_t type, const uint8_t *bytes, size_t count, uint8_t *out);
