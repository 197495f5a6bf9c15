extension Span where Element == UInt8 {
    /// The index of the first such byte at `start` or behind it; nil when there is none.
    ///
    /// It takes eight bytes at a time (and stays in bounds by the span's own checks).
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

    /// The index of the first byte that is one of the two, at `start` or behind it; nil when there is none.
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

    /// The index of the first CR or LF at `start` or behind it; nil when there is none.
    ///
    /// Text has few bytes below 16: one test for all of these, and a second look at what it finds.
    @inline(__always)
    func firstLineEnd(from start: Int) -> Int? {
        var index = start
        while index <= count &- 64 {
            let block = extracting(index..<(index &+ 64))
            // The compiler makes a few vector instructions of it.
            var lowest = UInt8.max
            for place in 0..<64 { lowest = Swift.min(lowest, block[place]) }
            if lowest < 16 { break }
            index &+= 64
        }
        while index <= count &- 16 {
            let block = extracting(index..<(index &+ 16))
            let first = block.wordInside(at: 0)
            let second = block.wordInside(at: 8)
            if let hit = Self.lineEnd(in: first, Self.below16(first)) { return index &+ hit }
            if let hit = Self.lineEnd(in: second, Self.below16(second)) { return index &+ 8 &+ hit }
            index &+= 16
        }
        while index <= count &- 8 {
            let word = word(at: index)
            if let hit = Self.lineEnd(in: word, Self.below16(word)) { return index &+ hit }
            index &+= 8
        }
        guard index < count else { return nil }
        if count >= 8 {
            // The last eight bytes once more, without those that were seen.
            let seen = UInt64(truncatingIfNeeded: (8 &- (count &- index)) &* 8)
            let word = word(at: count &- 8) &>> seen | ~(UInt64.max &>> seen)
            return Self.lineEnd(in: word, Self.below16(word)).map { index &+ $0 }
        }
        while index < count {
            if self[index] == 0x0a || self[index] == 0x0d { return index }
            index &+= 1
        }
        return nil
    }

    /// The highest bit of each of eight bytes that is below 16.
    @inline(__always)
    private static func below16(_ word: UInt64) -> UInt64 {
        // No byte carries into the next one: the result is exact in each of them.
        ~(((word & 0x7070_7070_7070_7070) &+ 0x7070_7070_7070_7070) | word) & 0x8080_8080_8080_8080
    }

    /// Which of eight bytes is the first CR or LF; `below16` marks those that may be.
    @inline(__always)
    private static func lineEnd(in word: UInt64, _ below16: UInt64) -> Int? {
        var matches = below16
        while matches != 0 {
            let hit = matches.trailingZeroBitCount / 8
            let byte = UInt8(truncatingIfNeeded: word &>> UInt64(truncatingIfNeeded: hit &* 8))
            if byte == 0x0a || byte == 0x0d { return hit }
            matches &= matches &- 1
        }
        return nil
    }

    /// Eight bytes, the first one lowest. The compiler makes one load of it, as the bounds are checked once.
    @inline(__always)
    private func word(at index: Int) -> UInt64 {
        extracting(index..<(index &+ 8)).wordInside(at: 0)
    }

    /// As `word(at:)`, for a place that is a constant in a span whose length is one: no bound is left to be checked.
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

    /// The highest bit of each byte that is 0. A byte above the first such one may be wrong, the first one never.
    @inline(__always)
    private func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }
}
