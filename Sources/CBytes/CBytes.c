#ifdef __linux__
#define _DEFAULT_SOURCE
#endif
#include "CBytes.h"

#include <string.h>
#include <sys/mman.h>

typedef uint8_t bytes64 __attribute__((ext_vector_type(64)));
typedef _Bool bits64 __attribute__((ext_vector_type(64)));

// On x86-64, glibc's loader selects the version for the widest vectors that the processor supports.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) \
    && !__has_feature(thread_sanitizer)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512bw", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

// Returns a word in which bit i is set if byte i of the 64 bytes equals `byte`.
static inline __attribute__((always_inline)) uint64_t equal64(const uint8_t *bytes, uint8_t byte) {
    bytes64 block;
    memcpy(&block, bytes, sizeof block);
    bits64 equal = __builtin_convertvector(block == byte, bits64);
    uint64_t mask;
    memcpy(&mask, &equal, sizeof mask);
    return mask;
}

FOR_EACH_PROCESSOR
void probe_line_ends(const uint8_t *bytes, size_t count, uint64_t *words) {
    size_t start = 0;
    for (; start + 64 <= count; start += 64, words += 2) {
        words[0] = equal64(bytes + start, '\n');
        words[1] = equal64(bytes + start, '\r');
    }
    size_t left = count - start;
    if (left == 0) {
        return;
    }
    if (count >= 64) {
        // The last block overlaps the previous one. The bits of the bytes that have already been examined are shifted
        // out.
        words[0] = equal64(bytes + count - 64, '\n') >> (64 - left);
        words[1] = equal64(bytes + count - 64, '\r') >> (64 - left);
    } else {
        uint8_t padded[64] = {0};
        memcpy(padded, bytes, count);
        words[0] = equal64(padded, '\n');
        words[1] = equal64(padded, '\r');
    }
}

size_t probe_plain_json(const void *bytes, size_t count) {
    const unsigned char *byte = bytes;
    size_t index = 0;
    while (index < count && byte[index] >= 0x20 && byte[index] < 0x7f && byte[index] != '"' && byte[index] != '\\')
        index++;
    return index;
}

void probe_prefer_large_pages(void *memory, size_t count) {
#ifdef MADV_HUGEPAGE
    madvise(memory, count, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)count;
#endif
}
