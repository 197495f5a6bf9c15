// What Swift can't say about bytes.
#ifndef CBYTES_H
#define CBYTES_H

#include <stddef.h>
#include <stdint.h>

// Swift's vectors have no way to tell which of their lanes are set; Clang's have one, on every processor.
//
// For every 64 of the `count` bytes, and for what is left of them at the end, two words: which of them are LF, then which are CR, a bit
// each, the first byte lowest. Writes 2 * ((count + 63) / 64) words; reads nothing beyond the bytes.
void probe_line_ends(const uint8_t *bytes, size_t count, uint64_t *words);

// How many bytes from the start on stand for themselves inside a JSON string: printable ASCII but `"` and `\\`.
size_t probe_plain_json(const void *bytes, size_t count);

// Asks for memory in pages as large as the system has, which makes it faster to reach; nothing depends on it. It should begin and end where
// such pages do.
void probe_prefer_large_pages(void *memory, size_t count);

#endif
