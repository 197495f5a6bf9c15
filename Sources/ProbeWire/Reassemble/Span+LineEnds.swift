import CBytes

extension Span where Element == UInt8 {
    /// Where bytes are LF and where CR, 64 at a time: `body` gets the index of the first of them and a bit for each, the first one
    /// lowest.
    @inline(__always)
    func forEachLineEnds(_ body: (Int, _ isLF: UInt64, _ isCR: UInt64) -> Void) {
        // A piece and its bits stay in the processor's nearest cache.
        let pieceLength = 4096
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2 * pieceLength / 64) { words in
            var first = 0
            while first < count {
                let piece = extracting(first..<Swift.min(first &+ pieceLength, count))
                piece.withUnsafeBufferPointer { bytes in
                    probe_line_ends(bytes.baseAddress, bytes.count, words.baseAddress)
                }
                var block = 0
                while block &* 64 < piece.count {
                    body(first &+ block &* 64, words[2 &* block], words[2 &* block &+ 1])
                    block &+= 1
                }
                first &+= pieceLength
            }
        }
    }
}
