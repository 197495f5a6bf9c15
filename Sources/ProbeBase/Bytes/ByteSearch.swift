extension Span where Element == UInt8 {
    /// The index of the first such byte at or after `start`; nil if there is none.
    ///
    /// Reads eight bytes at a time; the span checks the bounds.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start >= 0 else { return nil }
        let pattern = UInt64(byte) &* 0x0101_0101_0101_0101
        var index = start
        while index <= count &- 8 {
            let matches = zeroBytes(word(at: index) ^ pattern)
            if matches != 0 { return index &+ matches.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count {
            if self[index] == byte { return index }
            index &+= 1
        }
        return nil
    }

    /// The index of the first byte at or after `start` that is one of the two; nil if there is none.
    package func firstIndex(of first: UInt8, or second: UInt8, from start: Int = 0) -> Int? {
        guard start >= 0 else { return nil }
        let firstPattern = UInt64(first) &* 0x0101_0101_0101_0101
        let secondPattern = UInt64(second) &* 0x0101_0101_0101_0101
        var index = start
        while index <= count &- 8 {
            let word = word(at: index)
            let matches = zeroBytes(word ^ firstPattern) | zeroBytes(word ^ secondPattern)
            if matches != 0 { return index &+ matches.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count {
            if self[index] == first || self[index] == second { return index }
            index &+= 1
        }
        return nil
    }

    /// Eight bytes as one word, the first byte lowest. The compiler makes it one load, because the bounds are checked
    /// once.
    @inline(__always)
    private func word(at index: Int) -> UInt64 {
        extracting(index..<(index &+ 8)).wordInside(at: 0)
    }

    /// As `word(at:)`, but for a constant place in a span of constant length, so that no bounds check remains.
    @inline(__always)
    private func wordInside(at index: Int) -> UInt64 {
        let low =
            UInt64(self[index]) | UInt64(self[index &+ 1]) << 8 | UInt64(self[index &+ 2]) << 16
            | UInt64(self[index &+ 3]) << 24
        let high =
            UInt64(self[index &+ 4]) << 32 | UInt64(self[index &+ 5]) << 40 | UInt64(self[index &+ 6]) << 48
            | UInt64(self[index &+ 7]) << 56
        return low | high
    }

    /// The highest bit of each zero byte. Above the first zero byte a bit may be wrong, at it never.
    @inline(__always)
    private func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }
}
