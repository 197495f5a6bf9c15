// The OpenSSL functions that this target calls, through pointers that `probe_tls_load` sets. Each function name is also
// defined as a macro for its pointer, so that OpenSSL's own macros use the pointers.
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define PROBE_OF_LIBSSL(X)                                                                                              \
    X(SSL_CIPHER_get_name) X(SSL_CTX_check_private_key) X(SSL_CTX_ctrl) X(SSL_CTX_free) X(SSL_CTX_get_cert_store)       \
    X(SSL_CTX_new) X(SSL_CTX_set_alpn_protos) X(SSL_CTX_set_alpn_select_cb) X(SSL_CTX_set_ciphersuites)                 \
    X(SSL_CTX_set_keylog_callback) X(SSL_CTX_set_msg_callback) X(SSL_CTX_set_num_tickets) X(SSL_CTX_set_options)        \
    X(SSL_CTX_set_security_level) X(SSL_CTX_set_session_id_context) X(SSL_CTX_set_verify) X(SSL_CTX_use_PrivateKey)     \
    X(SSL_CTX_use_certificate) X(SSL_SESSION_free) X(SSL_SESSION_is_resumable) X(SSL_ctrl) X(SSL_do_handshake)          \
    X(SSL_free) X(SSL_get0_alpn_selected) X(SSL_get0_param) X(SSL_in_init) X(SSL_get0_peer_certificate) X(SSL_get1_session) X(SSL_get_current_cipher)               \
    X(SSL_get_error) X(SSL_get_ex_data) X(SSL_get_rbio) X(SSL_get_servername) X(SSL_get_verify_result) X(SSL_get_wbio)  \
    X(SSL_key_update) X(SSL_new) X(SSL_new_session_ticket) X(SSL_read) X(SSL_renegotiate) X(SSL_select_next_proto)      \
    X(SSL_session_reused) X(SSL_set1_host) X(SSL_set_accept_state) X(SSL_set_bio) X(SSL_set_connect_state)              \
    X(SSL_set_ex_data) X(SSL_set_hostflags) X(SSL_set_session) X(SSL_shutdown) X(SSL_version) X(SSL_write)              \
    X(TLS_method)

#define PROBE_OF_LIBCRYPTO(X)                                                                                           \
    X(ASN1_INTEGER_set_uint64) X(BIO_ctrl) X(BIO_ctrl_pending) X(BIO_free) X(BIO_new) X(BIO_new_mem_buf) X(BIO_read)    \
    X(BIO_s_mem) X(BIO_write) X(ERR_clear_error) X(ERR_get_error) X(ERR_lib_error_string) X(ERR_peek_error)             \
    X(ERR_reason_error_string) X(EVP_CIPHER_CTX_ctrl) X(EVP_CIPHER_CTX_free) X(EVP_CIPHER_CTX_new)                      \
    X(EVP_EncryptFinal_ex) X(EVP_EncryptInit_ex) X(EVP_EncryptUpdate) X(EVP_PKEY_CTX_add1_hkdf_info)                    \
    X(EVP_PKEY_CTX_free) X(EVP_PKEY_CTX_new_id) X(EVP_PKEY_CTX_set1_hkdf_key) X(EVP_PKEY_CTX_set_hkdf_md)               \
    X(EVP_PKEY_CTX_set_hkdf_mode) X(EVP_PKEY_Q_keygen) X(EVP_PKEY_derive) X(EVP_PKEY_derive_init) X(EVP_PKEY_free)      \
    X(EVP_aes_128_gcm) X(EVP_sha256) X(OpenSSL_version) X(PEM_read_bio_PrivateKey) X(PEM_read_bio_X509)                 \
    X(PEM_write_bio_PrivateKey) X(PEM_write_bio_X509) X(X509V3_EXT_conf_nid) X(X509V3_set_ctx) X(X509_EXTENSION_free)   \
    X(X509_NAME_add_entry_by_txt) X(X509_STORE_add_cert) X(X509_VERIFY_PARAM_set1_ip_asc) X(X509_add_ext) X(X509_free)  \
    X(X509_get_serialNumber) X(X509_get_subject_name) X(X509_getm_notAfter) X(X509_getm_notBefore) X(X509_gmtime_adj)   \
    X(X509_new) X(X509_set_issuer_name) X(X509_set_pubkey) X(X509_set_version) X(X509_sign)                             \
    X(X509_verify_cert_error_string)

struct probe_openssl {
#define X(name) __typeof__(&name) name##_;
    PROBE_OF_LIBSSL(X)
    PROBE_OF_LIBCRYPTO(X)
#undef X
};

extern struct probe_openssl probe_openssl;

struct probe_tls_certificate {
    X509 *certificate;
    EVP_PKEY *key;
};

// If OpenSSL defines one of the function names as a macro, that macro is undefined first.
#undef SSL_CIPHER_get_name
#define SSL_CIPHER_get_name probe_openssl.SSL_CIPHER_get_name_
#undef SSL_CTX_check_private_key
#define SSL_CTX_check_private_key probe_openssl.SSL_CTX_check_private_key_
#undef SSL_CTX_ctrl
#define SSL_CTX_ctrl probe_openssl.SSL_CTX_ctrl_
#undef SSL_CTX_free
#define SSL_CTX_free probe_openssl.SSL_CTX_free_
#undef SSL_CTX_get_cert_store
#define SSL_CTX_get_cert_store probe_openssl.SSL_CTX_get_cert_store_
#undef SSL_CTX_new
#define SSL_CTX_new probe_openssl.SSL_CTX_new_
#undef SSL_CTX_set_alpn_protos
#define SSL_CTX_set_alpn_protos probe_openssl.SSL_CTX_set_alpn_protos_
#undef SSL_CTX_set_alpn_select_cb
#define SSL_CTX_set_alpn_select_cb probe_openssl.SSL_CTX_set_alpn_select_cb_
#undef SSL_CTX_set_ciphersuites
#define SSL_CTX_set_ciphersuites probe_openssl.SSL_CTX_set_ciphersuites_
#undef SSL_CTX_set_keylog_callback
#define SSL_CTX_set_keylog_callback probe_openssl.SSL_CTX_set_keylog_callback_
#undef SSL_CTX_set_msg_callback
#define SSL_CTX_set_msg_callback probe_openssl.SSL_CTX_set_msg_callback_
#undef SSL_CTX_set_num_tickets
#define SSL_CTX_set_num_tickets probe_openssl.SSL_CTX_set_num_tickets_
#undef SSL_CTX_set_options
#define SSL_CTX_set_options probe_openssl.SSL_CTX_set_options_
#undef SSL_CTX_set_security_level
#define SSL_CTX_set_security_level probe_openssl.SSL_CTX_set_security_level_
#undef SSL_CTX_set_session_id_context
#define SSL_CTX_set_session_id_context probe_openssl.SSL_CTX_set_session_id_context_
#undef SSL_CTX_set_verify
#define SSL_CTX_set_verify probe_openssl.SSL_CTX_set_verify_
#undef SSL_CTX_use_PrivateKey
#define SSL_CTX_use_PrivateKey probe_openssl.SSL_CTX_use_PrivateKey_
#undef SSL_CTX_use_certificate
#define SSL_CTX_use_certificate probe_openssl.SSL_CTX_use_certificate_
#undef SSL_SESSION_free
#define SSL_SESSION_free probe_openssl.SSL_SESSION_free_
#undef SSL_SESSION_is_resumable
#define SSL_SESSION_is_resumable probe_openssl.SSL_SESSION_is_resumable_
#undef SSL_ctrl
#define SSL_ctrl probe_openssl.SSL_ctrl_
#undef SSL_do_handshake
#define SSL_do_handshake probe_openssl.SSL_do_handshake_
#undef SSL_free
#define SSL_free probe_openssl.SSL_free_
#undef SSL_get0_alpn_selected
#define SSL_get0_alpn_selected probe_openssl.SSL_get0_alpn_selected_
#undef SSL_get0_param
#define SSL_get0_param probe_openssl.SSL_get0_param_
#undef SSL_in_init
#define SSL_in_init probe_openssl.SSL_in_init_
#undef SSL_get0_peer_certificate
#define SSL_get0_peer_certificate probe_openssl.SSL_get0_peer_certificate_
#undef SSL_get1_session
#define SSL_get1_session probe_openssl.SSL_get1_session_
#undef SSL_get_current_cipher
#define SSL_get_current_cipher probe_openssl.SSL_get_current_cipher_
#undef SSL_get_error
#define SSL_get_error probe_openssl.SSL_get_error_
#undef SSL_get_ex_data
#define SSL_get_ex_data probe_openssl.SSL_get_ex_data_
#undef SSL_get_rbio
#define SSL_get_rbio probe_openssl.SSL_get_rbio_
#undef SSL_get_servername
#define SSL_get_servername probe_openssl.SSL_get_servername_
#undef SSL_get_verify_result
#define SSL_get_verify_result probe_openssl.SSL_get_verify_result_
#undef SSL_get_wbio
#define SSL_get_wbio probe_openssl.SSL_get_wbio_
#undef SSL_key_update
#define SSL_key_update probe_openssl.SSL_key_update_
#undef SSL_new
#define SSL_new probe_openssl.SSL_new_
#undef SSL_new_session_ticket
#define SSL_new_session_ticket probe_openssl.SSL_new_session_ticket_
#undef SSL_read
#define SSL_read probe_openssl.SSL_read_
#undef SSL_renegotiate
#define SSL_renegotiate probe_openssl.SSL_renegotiate_
#undef SSL_select_next_proto
#define SSL_select_next_proto probe_openssl.SSL_select_next_proto_
#undef SSL_session_reused
#define SSL_session_reused probe_openssl.SSL_session_reused_
#undef SSL_set1_host
#define SSL_set1_host probe_openssl.SSL_set1_host_
#undef SSL_set_accept_state
#define SSL_set_accept_state probe_openssl.SSL_set_accept_state_
#undef SSL_set_bio
#define SSL_set_bio probe_openssl.SSL_set_bio_
#undef SSL_set_connect_state
#define SSL_set_connect_state probe_openssl.SSL_set_connect_state_
#undef SSL_set_ex_data
#define SSL_set_ex_data probe_openssl.SSL_set_ex_data_
#undef SSL_set_hostflags
#define SSL_set_hostflags probe_openssl.SSL_set_hostflags_
#undef SSL_set_session
#define SSL_set_session probe_openssl.SSL_set_session_
#undef SSL_shutdown
#define SSL_shutdown probe_openssl.SSL_shutdown_
#undef SSL_version
#define SSL_version probe_openssl.SSL_version_
#undef SSL_write
#define SSL_write probe_openssl.SSL_write_
#undef TLS_method
#define TLS_method probe_openssl.TLS_method_
#undef ASN1_INTEGER_set_uint64
#define ASN1_INTEGER_set_uint64 probe_openssl.ASN1_INTEGER_set_uint64_
#undef BIO_ctrl
#define BIO_ctrl probe_openssl.BIO_ctrl_
#undef BIO_ctrl_pending
#define BIO_ctrl_pending probe_openssl.BIO_ctrl_pending_
#undef BIO_free
#define BIO_free probe_openssl.BIO_free_
#undef BIO_new
#define BIO_new probe_openssl.BIO_new_
#undef BIO_new_mem_buf
#define BIO_new_mem_buf probe_openssl.BIO_new_mem_buf_
#undef BIO_read
#define BIO_read probe_openssl.BIO_read_
#undef BIO_s_mem
#define BIO_s_mem probe_openssl.BIO_s_mem_
#undef BIO_write
#define BIO_write probe_openssl.BIO_write_
#undef ERR_clear_error
#define ERR_clear_error probe_openssl.ERR_clear_error_
#undef ERR_get_error
#define ERR_get_error probe_openssl.ERR_get_error_
#undef ERR_lib_error_string
#define ERR_lib_error_string probe_openssl.ERR_lib_error_string_
#undef ERR_peek_error
#define ERR_peek_error probe_openssl.ERR_peek_error_
#undef ERR_reason_error_string
#define ERR_reason_error_string probe_openssl.ERR_reason_error_string_
#undef EVP_CIPHER_CTX_ctrl
#define EVP_CIPHER_CTX_ctrl probe_openssl.EVP_CIPHER_CTX_ctrl_
#undef EVP_CIPHER_CTX_free
#define EVP_CIPHER_CTX_free probe_openssl.EVP_CIPHER_CTX_free_
#undef EVP_CIPHER_CTX_new
#define EVP_CIPHER_CTX_new probe_openssl.EVP_CIPHER_CTX_new_
#undef EVP_EncryptFinal_ex
#define EVP_EncryptFinal_ex probe_openssl.EVP_EncryptFinal_ex_
#undef EVP_EncryptInit_ex
#define EVP_EncryptInit_ex probe_openssl.EVP_EncryptInit_ex_
#undef EVP_EncryptUpdate
#define EVP_EncryptUpdate probe_openssl.EVP_EncryptUpdate_
#undef EVP_PKEY_CTX_add1_hkdf_info
#define EVP_PKEY_CTX_add1_hkdf_info probe_openssl.EVP_PKEY_CTX_add1_hkdf_info_
#undef EVP_PKEY_CTX_free
#define EVP_PKEY_CTX_free probe_openssl.EVP_PKEY_CTX_free_
#undef EVP_PKEY_CTX_new_id
#define EVP_PKEY_CTX_new_id probe_openssl.EVP_PKEY_CTX_new_id_
#undef EVP_PKEY_CTX_set1_hkdf_key
#define EVP_PKEY_CTX_set1_hkdf_key probe_openssl.EVP_PKEY_CTX_set1_hkdf_key_
#undef EVP_PKEY_CTX_set_hkdf_md
#define EVP_PKEY_CTX_set_hkdf_md probe_openssl.EVP_PKEY_CTX_set_hkdf_md_
#undef EVP_PKEY_CTX_set_hkdf_mode
#define EVP_PKEY_CTX_set_hkdf_mode probe_openssl.EVP_PKEY_CTX_set_hkdf_mode_
#undef EVP_PKEY_Q_keygen
#define EVP_PKEY_Q_keygen probe_openssl.EVP_PKEY_Q_keygen_
#undef EVP_PKEY_derive
#define EVP_PKEY_derive probe_openssl.EVP_PKEY_derive_
#undef EVP_PKEY_derive_init
#define EVP_PKEY_derive_init probe_openssl.EVP_PKEY_derive_init_
#undef EVP_PKEY_free
#define EVP_PKEY_free probe_openssl.EVP_PKEY_free_
#undef EVP_aes_128_gcm
#define EVP_aes_128_gcm probe_openssl.EVP_aes_128_gcm_
#undef EVP_sha256
#define EVP_sha256 probe_openssl.EVP_sha256_
#undef OpenSSL_version
#define OpenSSL_version probe_openssl.OpenSSL_version_
#undef PEM_read_bio_PrivateKey
#define PEM_read_bio_PrivateKey probe_openssl.PEM_read_bio_PrivateKey_
#undef PEM_read_bio_X509
#define PEM_read_bio_X509 probe_openssl.PEM_read_bio_X509_
#undef PEM_write_bio_PrivateKey
#define PEM_write_bio_PrivateKey probe_openssl.PEM_write_bio_PrivateKey_
#undef PEM_write_bio_X509
#define PEM_write_bio_X509 probe_openssl.PEM_write_bio_X509_
#undef X509V3_EXT_conf_nid
#define X509V3_EXT_conf_nid probe_openssl.X509V3_EXT_conf_nid_
#undef X509V3_set_ctx
#define X509V3_set_ctx probe_openssl.X509V3_set_ctx_
#undef X509_EXTENSION_free
#define X509_EXTENSION_free probe_openssl.X509_EXTENSION_free_
#undef X509_NAME_add_entry_by_txt
#define X509_NAME_add_entry_by_txt probe_openssl.X509_NAME_add_entry_by_txt_
#undef X509_STORE_add_cert
#define X509_STORE_add_cert probe_openssl.X509_STORE_add_cert_
#undef X509_VERIFY_PARAM_set1_ip_asc
#define X509_VERIFY_PARAM_set1_ip_asc probe_openssl.X509_VERIFY_PARAM_set1_ip_asc_
#undef X509_add_ext
#define X509_add_ext probe_openssl.X509_add_ext_
#undef X509_free
#define X509_free probe_openssl.X509_free_
#undef X509_get_serialNumber
#define X509_get_serialNumber probe_openssl.X509_get_serialNumber_
#undef X509_get_subject_name
#define X509_get_subject_name probe_openssl.X509_get_subject_name_
#undef X509_getm_notAfter
#define X509_getm_notAfter probe_openssl.X509_getm_notAfter_
#undef X509_getm_notBefore
#define X509_getm_notBefore probe_openssl.X509_getm_notBefore_
#undef X509_gmtime_adj
#define X509_gmtime_adj probe_openssl.X509_gmtime_adj_
#undef X509_new
#define X509_new probe_openssl.X509_new_
#undef X509_set_issuer_name
#define X509_set_issuer_name probe_openssl.X509_set_issuer_name_
#undef X509_set_pubkey
#define X509_set_pubkey probe_openssl.X509_set_pubkey_
#undef X509_set_version
#define X509_set_version probe_openssl.X509_set_version_
#undef X509_sign
#define X509_sign probe_openssl.X509_sign_
#undef X509_verify_cert_error_string
#define X509_verify_cert_error_string probe_openssl.X509_verify_cert_error_string_
