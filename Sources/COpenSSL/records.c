#include <string.h>

#include "COpenSSL.h"
#include "openssl.h"

int probe_tls_expand(const uint8_t *secret, const char *label, uint8_t *out, size_t count) {
    // An HkdfLabel consists of the output length, a length-prefixed label that begins with `tls13 `, and an empty
    // context (RFC 8446, section 7.1).
    static const char prefix[] = "tls13 ";
    const size_t prefix_length = sizeof prefix - 1, label_length = strlen(label);
    uint8_t info[64];
    size_t used = 0;
    if (count > 255 || prefix_length + label_length + 4 > sizeof info) return 0;
    info[used++] = 0;
    info[used++] = (uint8_t)count;
    info[used++] = (uint8_t)(prefix_length + label_length);
    memcpy(info + used, prefix, prefix_length);
    used += prefix_length;
    memcpy(info + used, label, label_length);
    used += label_length;
    info[used++] = 0;

    EVP_PKEY_CTX *derivation = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, NULL);
    size_t made = count;
    int done = derivation && EVP_PKEY_derive_init(derivation) > 0 &&
               EVP_PKEY_CTX_set_hkdf_mode(derivation, EVP_PKEY_HKDEF_MODE_EXPAND_ONLY) > 0 &&
               EVP_PKEY_CTX_set_hkdf_md(derivation, EVP_sha256()) > 0 &&
               EVP_PKEY_CTX_set1_hkdf_key(derivation, secret, 32) > 0 &&
               EVP_PKEY_CTX_add1_hkdf_info(derivation, info, (int)used) > 0 &&
               EVP_PKEY_derive(derivation, out, &made) > 0 && made == count;
    EVP_PKEY_CTX_free(derivation);
    return done;
}

enum { header_length = 5, tag_length = 16, nonce_length = 12 };

int probe_tls_seal(
    const uint8_t *key, const uint8_t *iv, uint64_t sequence, uint8_t type, const uint8_t *bytes, size_t count, uint8_t *out) {
    // The record's sequence number is XORed into the last eight bytes of the IV (RFC 8446, section 5.3).
    uint8_t nonce[nonce_length];
    memcpy(nonce, iv, nonce_length);
    for (int i = 0; i < 8; i++) nonce[nonce_length - 1 - i] ^= (uint8_t)(sequence >> (8 * i));
    // An encrypted record has the header of a TLS 1.2 application data record (RFC 8446, section 5.2).
    const size_t length = count + 1 + tag_length;
    out[0] = 23;
    out[1] = 3;
    out[2] = 3;
    out[3] = (uint8_t)(length >> 8);
    out[4] = (uint8_t)length;

    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    uint8_t *text = out + header_length;
    int written = 0, last = 0;
    int done = cipher && EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), NULL, key, nonce) == 1 &&
               EVP_EncryptUpdate(cipher, NULL, &written, out, header_length) == 1;
    int position = 0;
    if (done && count > 0) {
        done = EVP_EncryptUpdate(cipher, text, &written, bytes, (int)count) == 1;
        position = written;
    }
    // The real content type follows the content.
    done = done && EVP_EncryptUpdate(cipher, text + position, &written, &type, 1) == 1 &&
           EVP_EncryptFinal_ex(cipher, text + position + written, &last) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, tag_length, text + count + 1) == 1;
    EVP_CIPHER_CTX_free(cipher);
    return done;
}
