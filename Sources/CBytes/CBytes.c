#ifdef __linux__
#define _DEFAULT_SOURCE
#endif
#include "CBytes.h"

#include <string.h>
#include <sys/mman.h>

typedef uint8_t bytes16 __attribute__((ext_vector_type(16)));
typedef _Bool bits16 __attribute__((ext_vector_type(16)));
typedef uint8_t bytes64 __attribute__((ext_vector_type(64)));
typedef _Bool bits64 __attribute__((ext_vector_type(64)));

// The widest vectors that the processor at hand has; glibc's loader chooses.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) \
    && !__has_feature(thread_sanitizer)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512bw", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

static inline __attribute__((always_inline)) uint64_t equal16(const uint8_t *bytes, uint8_t byte) {
    bytes16 block;
    memcpy(&block, bytes, sizeof block);
    bits16 equal = __builtin_convertvector(block == byte, bits16);
    uint16_t mask;
    memcpy(&mask, &equal, sizeof mask);
    return mask;
}

static inline __attribute__((always_inline)) uint64_t equal64(const uint8_t *bytes, uint8_t byte) {
    bytes64 block;
    memcpy(&block, bytes, sizeof block);
    bits64 equal = __builtin_convertvector(block == byte, bits64);
    uint64_t mask;
    memcpy(&mask, &equal, sizeof mask);
    return mask;
}

// As `equal64`, of fewer than 64 bytes.
static inline __attribute__((always_inline)) uint64_t equal_few(const uint8_t *bytes, size_t count, uint8_t byte) {
    if (count >= 32) {
        // The two halves of it meet or overlap.
        return equal16(bytes, byte) | equal16(bytes + 16, byte) << 16 | equal16(bytes + count - 32, byte) << (count - 32)
            | equal16(bytes + count - 16, byte) << (count - 16);
    }
    if (count >= 16) {
        return equal16(bytes, byte) | equal16(bytes + count - 16, byte) << (count - 16);
    }
    uint64_t mask = 0;
    for (size_t i = 0; i < count; i++) {
        mask |= (uint64_t)(bytes[i] == byte) << i;
    }
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
        // The last 64 once more, without those that were looked at.
        words[0] = equal64(bytes + count - 64, '\n') >> (64 - left);
        words[1] = equal64(bytes + count - 64, '\r') >> (64 - left);
    } else {
        words[0] = equal_few(bytes, count, '\n');
        words[1] = equal_few(bytes, count, '\r');
    }
}

void probe_prefer_large_pages(void *memory, size_t count) {
#ifdef MADV_HUGEPAGE
    madvise(memory, count, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)count;
#endif
}
