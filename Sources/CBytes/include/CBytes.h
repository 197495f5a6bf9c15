// Byte operations that can't be expressed in Swift.
#ifndef CBYTES_H
#define CBYTES_H

#include <stddef.h>
#include <stdint.h>

// Finds line ends. Swift's vectors can't report which of their lanes are set; Clang's can, on every processor.
//
// Writes two words for every 64 of the `count` bytes, and for the remaining bytes at the end: which of them are LF,
// then which are CR, one bit each, the first byte lowest. Writes 2 * ((count + 63) / 64) words; reads nothing beyond
// the bytes.
void probe_line_ends(const uint8_t *bytes, size_t count, uint64_t *words);

// Returns the number of bytes from the start that need no escape in a JSON string: printable ASCII except `"` and `\\`.
size_t probe_plain_json(const void *bytes, size_t count);

// Requests memory in the largest pages that the system has, which makes it faster to access; nothing depends on it. The
// memory should begin and end at the boundaries of such pages.
void probe_prefer_large_pages(void *memory, size_t count);

#endif
