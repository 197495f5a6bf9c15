// Byte operations that can't be expressed in Swift.
#ifndef CBYTES_H
#define CBYTES_H

#include <stddef.h>
#include <stdint.h>

// Finds line ends. Swift's vectors can't report which of their lanes are set; Clang's vectors can, on every processor.
//
// Writes two words for each block of 64 bytes, and for the remaining bytes at the end. The first word marks LF bytes,
// and the second word marks CR bytes. Each word has one bit per byte, and the lowest bit represents the first byte.
// Writes 2 * ((count + 63) / 64) words. Does not read beyond the `count` bytes.
void probe_line_ends(const uint8_t *bytes, size_t count, uint64_t *words);

// Returns the number of leading bytes that need no escape in a JSON string: printable ASCII except `"` and `\\`.
size_t probe_plain_json(const void *bytes, size_t count);

// Asks the system to back the memory with the largest pages that it has. Large pages make access faster, but are not
// required. The memory should begin and end at large-page boundaries.
void probe_prefer_large_pages(void *memory, size_t count);

#endif
