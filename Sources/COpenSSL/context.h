#pragma once
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

#include "COpenSSL.h"

struct probe_tls_context {
    SSL_CTX *ssl;
    int is_server;
    // The ALPN protocols that a server accepts, in the format of RFC 7301.
    uint8_t *protocols;
    size_t protocols_length;
};

void probe_tls_key_log(const SSL *ssl, const char *line);
void probe_tls_message(int is_sent, int version, int type, const void *bytes, size_t count, SSL *ssl, void *context);
