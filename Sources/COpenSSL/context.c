#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "COpenSSL.h"
#include "context.h"
#include "openssl.h"

static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
                           unsigned int offered_length, void *data) {
    (void)ssl;
    probe_tls_context *context = data;
    unsigned char *found;
    if (SSL_select_next_proto(&found, length, context->protocols, (unsigned)context->protocols_length, offered, offered_length) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

// OpenSSL's security level 2 would refuse the weak parameters that a script may make a TLS 1.2 client offer.
static const int security_level = 1;

probe_tls_context *probe_tls_context_new(int is_server, int lowest_version, int highest_version) {
    probe_tls_context *context = calloc(1, sizeof *context);
    if (!context) return NULL;
    context->is_server = is_server;
    context->ssl = SSL_CTX_new(TLS_method());
    if (!context->ssl || !SSL_CTX_set_min_proto_version(context->ssl, lowest_version) ||
        !SSL_CTX_set_max_proto_version(context->ssl, highest_version) ||
        !SSL_CTX_set_session_id_context(context->ssl, (const unsigned char *)"tcpprobe", 8)) {
        probe_tls_context_free(context);
        return NULL;
    }
    SSL_CTX_set_security_level(context->ssl, security_level);
    // The session cache lets a client keep the session that it has established with its server.
    SSL_CTX_set_session_cache_mode(context->ssl, SSL_SESS_CACHE_BOTH);
    SSL_CTX_set_keylog_callback(context->ssl, probe_tls_key_log);
    SSL_CTX_set_msg_callback(context->ssl, probe_tls_message);
    return context;
}

void probe_tls_context_free(probe_tls_context *context) {
    if (!context) return;
    SSL_CTX_free(context->ssl);
    free(context->protocols);
    free(context);
}

int probe_tls_context_use(probe_tls_context *context, const probe_tls_certificate *certificate) {
    return SSL_CTX_use_certificate(context->ssl, certificate->certificate) == 1 &&
           SSL_CTX_use_PrivateKey(context->ssl, certificate->key) == 1 && SSL_CTX_check_private_key(context->ssl) == 1;
}

static BIO *memory_of(const char *bytes, size_t count) { return count > INT_MAX ? NULL : BIO_new_mem_buf(bytes, (int)count); }

// A key with a passphrase is rejected, because OpenSSL must not ask for the passphrase on the terminal.
static int no_passphrase(char *buffer, int size, int writing, void *data) {
    (void)buffer, (void)size, (void)writing, (void)data;
    return -1;
}

// Returns whether the last failure means only that the PEM data contains no further certificates.
static int is_at_end(void) {
    unsigned long code = ERR_get_error();
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

int probe_tls_context_use_pem(
    probe_tls_context *context, const char *certificates, size_t certificates_length, const char *key, size_t key_length) {
    BIO *memory = memory_of(certificates, certificates_length);
    X509 *own = memory ? PEM_read_bio_X509(memory, NULL, no_passphrase, NULL) : NULL;
    int done = own && SSL_CTX_use_certificate(context->ssl, own) == 1;
    X509_free(own);
    while (done) {
        X509 *next = PEM_read_bio_X509(memory, NULL, no_passphrase, NULL);
        if (!next) {
            done = is_at_end();
            break;
        }
        done = SSL_CTX_add1_chain_cert(context->ssl, next) == 1;
        X509_free(next);
    }
    BIO_free(memory);
    if (!done) return 0;
    memory = memory_of(key, key_length);
    EVP_PKEY *read = memory ? PEM_read_bio_PrivateKey(memory, NULL, no_passphrase, NULL) : NULL;
    done = read && SSL_CTX_use_PrivateKey(context->ssl, read) == 1 && SSL_CTX_check_private_key(context->ssl) == 1;
    EVP_PKEY_free(read);
    BIO_free(memory);
    return done;
}

int probe_tls_context_trust_pem(probe_tls_context *context, const char *certificates, size_t length) {
    BIO *memory = memory_of(certificates, length);
    if (!memory) return 0;
    int count = 0, done = 1;
    while (done) {
        X509 *next = PEM_read_bio_X509(memory, NULL, no_passphrase, NULL);
        if (!next) break;
        done = X509_STORE_add_cert(SSL_CTX_get_cert_store(context->ssl), next) == 1;
        X509_free(next);
        count++;
    }
    // If the PEM data contains no certificate at all, the failure remains in OpenSSL's error queue as the reason.
    if (count && done) done = is_at_end();
    BIO_free(memory);
    return count && done;
}

int probe_tls_context_verify(probe_tls_context *context, enum probe_tls_client_certificate wanted) {
    int mode = SSL_VERIFY_PEER;
    if (context->is_server && wanted == PROBE_TLS_NOT_ASKED) mode = SSL_VERIFY_NONE;
    if (context->is_server && wanted == PROBE_TLS_REQUIRED) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_CTX_set_verify(context->ssl, mode, NULL);
    return 1;
}

int probe_tls_context_set_alpn(probe_tls_context *context, const uint8_t *protocols, size_t length) {
    if (!context->is_server) return SSL_CTX_set_alpn_protos(context->ssl, protocols, (unsigned)length) == 0;
    context->protocols = malloc(length);
    if (!context->protocols) return 0;
    memcpy(context->protocols, protocols, length);
    context->protocols_length = length;
    SSL_CTX_set_alpn_select_cb(context->ssl, choose_protocol, context);
    return 1;
}

int probe_tls_context_set_tickets(probe_tls_context *context, size_t count) {
    if (count == 0) {
        SSL_CTX_set_options(context->ssl, SSL_OP_NO_TICKET);
        // Without the session cache, TLS 1.2 clients can't resume sessions by session ID.
        SSL_CTX_set_session_cache_mode(context->ssl, SSL_SESS_CACHE_OFF);
    }
    return SSL_CTX_set_num_tickets(context->ssl, count) == 1;
}

int probe_tls_context_use_one_suite(probe_tls_context *context) {
    return SSL_CTX_set_ciphersuites(context->ssl, "TLS_AES_128_GCM_SHA256") == 1;
}
