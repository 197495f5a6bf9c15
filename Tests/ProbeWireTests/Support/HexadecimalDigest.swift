import ProbeBase

/// Returns the SHA-256 digest of a message in hexadecimal digits, for comparison with the hashes of the corpus.
func sha256(_ message: some Sequence<UInt8>) -> String {
    SHA256.digest(Array(message)).map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
}
