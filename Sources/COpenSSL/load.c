#include "COpenSSL.h"

#include <dlfcn.h>
#include <stdio.h>

#include "openssl.h"

struct probe_openssl probe_openssl;

static void *find(void *library, const char *name, const char **missing) {
    void *found = dlsym(library, name);
    if (!found && !*missing) *missing = name;
    return found;
}

const char *probe_tls_load(void) {
    static char reason[160];
    // libssl depends on libcrypto and loads it. A separate handle for libcrypto is opened by its name.
    void *ssl = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
    void *crypto = ssl ? dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!crypto) {
        const char *why = dlerror();
        snprintf(reason, sizeof reason, "%s", why ? why : "libssl.so.3 can't be loaded");
        return reason;
    }
    const char *missing = NULL;
#define X(name) *(void **)&probe_openssl.name##_ = find(ssl, #name, &missing);
    PROBE_OF_LIBSSL(X)
#undef X
#define X(name) *(void **)&probe_openssl.name##_ = find(crypto, #name, &missing);
    PROBE_OF_LIBCRYPTO(X)
#undef X
    if (missing) {
        snprintf(reason, sizeof reason, "the installed OpenSSL lacks %s: version 3.0 or later is required", missing);
        return reason;
    }
    return NULL;
}

const char *probe_tls_library(void) { return OpenSSL_version(OPENSSL_VERSION); }

int probe_tls_alert_of_error(void) {
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_REASON(code);
    if (ERR_GET_LIB(code) != ERR_LIB_SSL || reason < SSL_AD_REASON_OFFSET || reason > SSL_AD_REASON_OFFSET + 255) return -1;
    return reason - SSL_AD_REASON_OFFSET;
}

const char *probe_tls_take_error(void) {
    // The first error is the cause. Later errors only show which functions propagated the first one.
    unsigned long code = ERR_get_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    if (code && !text) text = ERR_lib_error_string(code);
    ERR_clear_error();
    return text;
}
