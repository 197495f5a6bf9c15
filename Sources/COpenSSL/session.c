#include <limits.h>
#include <stdlib.h>

#include "COpenSSL.h"
#include "context.h"
#include "openssl.h"

struct probe_tls_session {
    SSL *ssl;
    struct probe_tls_observer observer;
};

static probe_tls_session *of(const SSL *ssl) { return SSL_get_ex_data(ssl, 0); }

void probe_tls_key_log(const SSL *ssl, const char *line) {
    probe_tls_session *session = of(ssl);
    if (session) session->observer.key_log(session->observer.context, line);
}

void probe_tls_message(int is_sent, int version, int type, const void *bytes, size_t count, SSL *ssl, void *context) {
    (void)version, (void)context;
    probe_tls_session *session = of(ssl);
    if (session) session->observer.message(session->observer.context, is_sent, type, bytes, count);
}

probe_tls_session *probe_tls_session_new(probe_tls_context *context, struct probe_tls_observer observer) {
    probe_tls_session *session = calloc(1, sizeof *session);
    if (!session) return NULL;
    session->observer = observer;
    session->ssl = SSL_new(context->ssl);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    if (!session->ssl || !in || !out || !SSL_set_ex_data(session->ssl, 0, session)) {
        BIO_free(in);
        BIO_free(out);
        SSL_free(session->ssl);
        free(session);
        return NULL;
    }
    // An empty buffer does not mean that the input has ended, because more bytes may arrive.
    BIO_set_mem_eof_return(in, -1);
    BIO_set_mem_eof_return(out, -1);
    SSL_set_bio(session->ssl, in, out);
    if (context->is_server) {
        SSL_set_accept_state(session->ssl);
    } else {
        SSL_set_connect_state(session->ssl);
    }
    return session;
}

void probe_tls_session_free(probe_tls_session *session) {
    if (!session) return;
    SSL_free(session->ssl);
    free(session);
}

int probe_tls_session_set_name(probe_tls_session *session, const char *indicated, const char *verified) {
    if (indicated && SSL_set_tlsext_host_name(session->ssl, indicated) != 1) return 0;
    if (!verified) return 1;
    // A numeric address is compared with the certificate's IP addresses; any other name is compared with its DNS names.
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session->ssl), verified) == 1) return 1;
    ERR_clear_error();
    SSL_set_hostflags(session->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(session->ssl, verified) == 1;
}

void probe_tls_session_resume(probe_tls_session *session, const probe_tls_session *earlier) {
    SSL_SESSION *given = SSL_get1_session(earlier->ssl);
    if (given && SSL_SESSION_is_resumable(given)) SSL_set_session(session->ssl, given);
    SSL_SESSION_free(given);
}

int probe_tls_session_receive(probe_tls_session *session, const uint8_t *bytes, size_t count) {
    return count <= INT_MAX && BIO_write(SSL_get_rbio(session->ssl), bytes, (int)count) == (int)count;
}

size_t probe_tls_session_unread(const probe_tls_session *session) { return BIO_ctrl_pending(SSL_get_rbio(session->ssl)); }

size_t probe_tls_session_send(probe_tls_session *session, uint8_t *bytes, size_t capacity) {
    BIO *out = SSL_get_wbio(session->ssl);
    if (capacity == 0) return BIO_ctrl_pending(out);
    int count = BIO_read(out, bytes, capacity > INT_MAX ? INT_MAX : (int)capacity);
    return count > 0 ? (size_t)count : 0;
}

static int result(probe_tls_session *session, int returned) {
    switch (SSL_get_error(session->ssl, returned)) {
        case SSL_ERROR_NONE: return PROBE_TLS_DONE;
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE: return PROBE_TLS_WAITS;
        case SSL_ERROR_ZERO_RETURN: return PROBE_TLS_NOTIFIED;
        default: return PROBE_TLS_FAILED;
    }
}

int probe_tls_session_handshake(probe_tls_session *session) {
    ERR_clear_error();
    int returned = SSL_do_handshake(session->ssl);
    return returned == 1 ? PROBE_TLS_DONE : result(session, returned);
}

int probe_tls_session_read(probe_tls_session *session, uint8_t *bytes, size_t capacity) {
    ERR_clear_error();
    int returned = SSL_read(session->ssl, bytes, capacity > INT_MAX ? INT_MAX : (int)capacity);
    return returned > 0 ? returned : result(session, returned);
}

int probe_tls_session_write(probe_tls_session *session, const uint8_t *bytes, size_t count) {
    ERR_clear_error();
    int returned = SSL_write(session->ssl, bytes, (int)count);
    return returned > 0 ? PROBE_TLS_DONE : result(session, returned);
}

int probe_tls_session_notify(probe_tls_session *session) {
    ERR_clear_error();
    int returned = SSL_shutdown(session->ssl);
    // 0 means that close_notify was sent, but the peer's close_notify has not been received.
    return returned >= 0 ? PROBE_TLS_DONE : result(session, returned);
}

// Calls the handshake function again to write the requested message.
static int continued(probe_tls_session *session, int is_accepted) {
    return is_accepted ? probe_tls_session_handshake(session) : PROBE_TLS_FAILED;
}

int probe_tls_session_update_key(probe_tls_session *session, int is_requested) {
    ERR_clear_error();
    return continued(session, SSL_key_update(session->ssl, is_requested ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED));
}

int probe_tls_session_send_ticket(probe_tls_session *session) {
    ERR_clear_error();
    return continued(session, SSL_new_session_ticket(session->ssl));
}

int probe_tls_session_request_hello(probe_tls_session *session) {
    ERR_clear_error();
    return continued(session, SSL_renegotiate(session->ssl));
}

int probe_tls_session_version(const probe_tls_session *session) { return SSL_version(session->ssl); }

const char *probe_tls_session_cipher(const probe_tls_session *session) {
    const SSL_CIPHER *cipher = SSL_get_current_cipher(session->ssl);
    return cipher ? SSL_CIPHER_get_name(cipher) : NULL;
}

const char *probe_tls_session_indicated_name(const probe_tls_session *session) {
    return SSL_get_servername(session->ssl, TLSEXT_NAMETYPE_host_name);
}

size_t probe_tls_session_alpn(const probe_tls_session *session, const uint8_t **protocol) {
    unsigned length = 0;
    SSL_get0_alpn_selected(session->ssl, protocol, &length);
    return length;
}

int probe_tls_session_is_in_handshake(const probe_tls_session *session) { return SSL_in_init(session->ssl); }

int probe_tls_session_has_peer_certificate(const probe_tls_session *session) {
    return SSL_get0_peer_certificate(session->ssl) != NULL;
}

int probe_tls_session_is_resumed(const probe_tls_session *session) { return SSL_session_reused(session->ssl); }

const char *probe_tls_session_verification(const probe_tls_session *session) {
    long found = SSL_get_verify_result(session->ssl);
    return found == X509_V_OK ? NULL : X509_verify_cert_error_string(found);
}
