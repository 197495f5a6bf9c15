#include <stdlib.h>
#include <string.h>

#include "COpenSSL.h"
#include "openssl.h"

static int add_extension(X509 *certificate, X509V3_CTX *about, int kind, const char *value) {
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, about, kind, value);
    if (!extension) return 0;
    int done = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return done;
}

static int fill(X509 *certificate, EVP_PKEY *key, const struct probe_tls_certificate_request *request,
                const probe_tls_certificate *issuer) {
    X509_NAME *subject = X509_get_subject_name(certificate);
    X509 *by = issuer ? issuer->certificate : certificate;
    if (!X509_set_version(certificate, X509_VERSION_3)) return 0;
    if (!ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), request->serial)) return 0;
    if (!X509_gmtime_adj(X509_getm_notBefore(certificate), request->not_before)) return 0;
    if (!X509_gmtime_adj(X509_getm_notAfter(certificate), request->not_after)) return 0;
    if (!X509_set_pubkey(certificate, key)) return 0;
    if (!X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)request->common_name, -1, -1, 0)) return 0;
    if (!X509_set_issuer_name(certificate, X509_get_subject_name(by))) return 0;
    X509V3_CTX about;
    X509V3_set_ctx(&about, by, certificate, NULL, NULL, 0);
    // Strict verifiers require the following extensions (RFC 5280, section 4.2.1).
    if (!add_extension(certificate, &about, NID_subject_key_identifier, "hash")) return 0;
    if (issuer && !add_extension(certificate, &about, NID_authority_key_identifier, "keyid:always")) return 0;
    if (request->is_authority) {
        if (!add_extension(certificate, &about, NID_basic_constraints, "critical,CA:TRUE")) return 0;
        if (!add_extension(certificate, &about, NID_key_usage, "critical,keyCertSign,cRLSign")) return 0;
    } else {
        if (!add_extension(certificate, &about, NID_basic_constraints, "critical,CA:FALSE")) return 0;
        if (!add_extension(certificate, &about, NID_key_usage, "critical,digitalSignature")) return 0;
        if (!add_extension(certificate, &about, NID_ext_key_usage, "serverAuth,clientAuth")) return 0;
    }
    if (request->alternative_names &&
        !add_extension(certificate, &about, NID_subject_alt_name, request->alternative_names)) return 0;
    return X509_sign(certificate, issuer ? issuer->key : key, EVP_sha256()) > 0;
}

probe_tls_certificate *probe_tls_certificate_new(
    const struct probe_tls_certificate_request *request, const probe_tls_certificate *issuer) {
    probe_tls_certificate *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->key = EVP_EC_gen("P-256");
    made->certificate = X509_new();
    if (made->key && made->certificate && fill(made->certificate, made->key, request, issuer)) return made;
    probe_tls_certificate_free(made);
    return NULL;
}

void probe_tls_certificate_free(probe_tls_certificate *certificate) {
    if (!certificate) return;
    X509_free(certificate->certificate);
    EVP_PKEY_free(certificate->key);
    free(certificate);
}

size_t probe_tls_certificate_pem(const probe_tls_certificate *certificate, int of_the_key, char *pem, size_t capacity) {
    BIO *memory = BIO_new(BIO_s_mem());
    if (!memory) return 0;
    int written = of_the_key ? PEM_write_bio_PrivateKey(memory, certificate->key, NULL, NULL, 0, NULL, NULL)
                             : PEM_write_bio_X509(memory, certificate->certificate);
    size_t count = written ? BIO_ctrl_pending(memory) : 0;
    if (count > capacity || (count && BIO_read(memory, pem, (int)count) != (int)count)) count = 0;
    BIO_free(memory);
    return count;
}
