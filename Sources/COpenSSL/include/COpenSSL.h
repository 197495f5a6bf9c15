// OpenSSL 3, which is loaded when it is first needed. Linking it would cost 1.3 ms of CPU time at each start, even for
// a run without TLS. OpenSSL's headers are private to this target.
//
// The functions take no locks: a context and its sessions belong to one thread. `probe_tls_load` must be called before
// any other function.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Loads libssl.so.3 and libcrypto.so.3.
//
// Returns null if all required functions were found, otherwise the loader's message. Must be called only once.
const char *probe_tls_load(void);

// Returns the version of OpenSSL, such as `OpenSSL 3.0.19 27 Jan 2026`.
const char *probe_tls_library(void);

// Returns the number of the peer's alert that caused the calling thread's last failure, or -1 if the failure has
// another cause. The failure remains in OpenSSL's error queue.
int probe_tls_alert_of_error(void);

// Removes the calling thread's last OpenSSL failure and returns its reason, such as `certificate verify failed`; null
// if there is no failure.
const char *probe_tls_take_error(void);

// MARK: Certificates

typedef struct probe_tls_certificate probe_tls_certificate;

struct probe_tls_certificate_request {
    const char *common_name;
    // The certificate's alternative names, such as `DNS:localhost,IP:127.0.0.1`; null for none.
    const char *alternative_names;
    // The beginning and the end of the certificate's validity period, in seconds from now.
    long not_before, not_after;
    uint64_t serial;
    int is_authority;
};

// Creates a P-256 key and a certificate for it, signed by `issuer`, or self-signed if `issuer` is null. Returns null if
// OpenSSL failed.
probe_tls_certificate *probe_tls_certificate_new(
    const struct probe_tls_certificate_request *request, const probe_tls_certificate *issuer);
void probe_tls_certificate_free(probe_tls_certificate *);

// Copies the certificate or its key as PEM and returns the length. Returns 0 if OpenSSL failed or `capacity` is too
// small.
size_t probe_tls_certificate_pem(const probe_tls_certificate *, int of_the_key, char *pem, size_t capacity);

// MARK: Contexts

typedef struct probe_tls_context probe_tls_context;

enum probe_tls_version { PROBE_TLS_1_2 = 0x303, PROBE_TLS_1_3 = 0x304 };

enum probe_tls_client_certificate { PROBE_TLS_NOT_ASKED, PROBE_TLS_ASKED, PROBE_TLS_REQUIRED };

// Creates a context. Returns null if OpenSSL failed.
probe_tls_context *probe_tls_context_new(int is_server, int lowest_version, int highest_version);
void probe_tls_context_free(probe_tls_context *);

// The following functions return 1 on success, or 0 if OpenSSL failed.
int probe_tls_context_use(probe_tls_context *, const probe_tls_certificate *);
// Uses certificates and a key in PEM. The first certificate is the actor's own, and the others form its chain.
int probe_tls_context_use_pem(
    probe_tls_context *, const char *certificates, size_t certificates_length, const char *key, size_t key_length);
int probe_tls_context_trust_pem(probe_tls_context *, const char *certificates, size_t length);
// Makes a client verify its peer. Makes a server request a certificate and, if a certificate is required, refuse a
// handshake without one.
int probe_tls_context_verify(probe_tls_context *, enum probe_tls_client_certificate);
// Sets the protocols in the format of RFC 7301, in which each protocol is preceded by a byte with its length. A server
// refuses a client that offers none of the protocols.
int probe_tls_context_set_alpn(probe_tls_context *, const uint8_t *protocols, size_t length);
// Sets the number of tickets that a server sends after its handshake (TLS 1.3). In TLS 1.2, 0 disables tickets.
int probe_tls_context_set_tickets(probe_tls_context *, size_t count);
// Offers only TLS_AES_128_GCM_SHA256, which is the cipher suite that `probe_tls_seal` uses.
int probe_tls_context_use_one_suite(probe_tls_context *);

// MARK: Sessions

typedef struct probe_tls_session probe_tls_session;

// Callbacks that are invoked during calls to the session's functions, on the same thread.
struct probe_tls_observer {
    void *context;
    // Receives a line of the key log, without its terminator.
    void (*key_log)(void *context, const char *line);
    // Receives the header of a record (type 256), or the content of a record whose content type is `type`: an alert or
    // a handshake message.
    void (*message)(void *context, int is_sent, int type, const uint8_t *bytes, size_t count);
};

probe_tls_session *probe_tls_session_new(probe_tls_context *, struct probe_tls_observer);
void probe_tls_session_free(probe_tls_session *);

// Sets the name that a client sends as SNI, and the name or numeric address that the certificate must be valid for.
// Either name may be null.
int probe_tls_session_set_name(probe_tls_session *, const char *indicated, const char *verified);
// Makes a client offer to resume the session of an earlier connection to its server, if that connection established a
// session.
void probe_tls_session_resume(probe_tls_session *, const probe_tls_session *earlier);

// Passes bytes received from the network to the session.
int probe_tls_session_receive(probe_tls_session *, const uint8_t *bytes, size_t count);
// Returns the number of received bytes that do not form a complete record yet, or that follow close_notify.
size_t probe_tls_session_unread(const probe_tls_session *);
// Removes the bytes that must be sent and returns their number. With a `capacity` of 0, returns only their number.
size_t probe_tls_session_send(probe_tls_session *, uint8_t *bytes, size_t capacity);

enum probe_tls_result {
    PROBE_TLS_DONE = 0,
    // More bytes are needed from the network.
    PROBE_TLS_WAITS = -1,
    // The peer's close_notify has been read.
    PROBE_TLS_NOTIFIED = -2,
    // The call failed, and `probe_tls_take_error` returns the reason.
    PROBE_TLS_FAILED = -3,
};

int probe_tls_session_handshake(probe_tls_session *);
// Reads plaintext bytes. Returns their number, or a result other than `PROBE_TLS_DONE`.
int probe_tls_session_read(probe_tls_session *, uint8_t *bytes, size_t capacity);
// Writes all bytes as one record; `count` must be between 1 and 16384.
int probe_tls_session_write(probe_tls_session *, const uint8_t *bytes, size_t count);
int probe_tls_session_notify(probe_tls_session *);
int probe_tls_session_update_key(probe_tls_session *, int is_requested);
int probe_tls_session_send_ticket(probe_tls_session *);
int probe_tls_session_request_hello(probe_tls_session *);

int probe_tls_session_version(const probe_tls_session *);
// The following strings belong to the session and are valid until the session changes. A string is null if its value is
// not known.
const char *probe_tls_session_cipher(const probe_tls_session *);
const char *probe_tls_session_indicated_name(const probe_tls_session *);
size_t probe_tls_session_alpn(const probe_tls_session *, const uint8_t **protocol);
// Returns whether a handshake is in progress, either the session's first handshake or a later one.
int probe_tls_session_is_in_handshake(const probe_tls_session *);
int probe_tls_session_has_peer_certificate(const probe_tls_session *);
int probe_tls_session_is_resumed(const probe_tls_session *);
// Returns the reason why verification of the peer's certificate failed, such as `certificate has expired`; null if it
// did not fail.
const char *probe_tls_session_verification(const probe_tls_session *);

// MARK: Forged records (TLS 1.3, TLS_AES_128_GCM_SHA256)

// Computes HKDF-Expand-Label with an empty context (RFC 8446, section 7.1) from a secret of 32 bytes. Returns 1, or 0
// if OpenSSL failed.
int probe_tls_expand(const uint8_t *secret, const char *label, uint8_t *out, size_t count);
// Writes the record's header, ciphertext and tag: 5 + `count` + 1 + 16 bytes (RFC 8446, section 5.2). Returns 1, or 0
// if OpenSSL failed.
int probe_tls_seal(
    const uint8_t *key, const uint8_t *iv, uint64_t sequence, uint8_t type, const uint8_t *bytes, size_t count, uint8_t *out);
