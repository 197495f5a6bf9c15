extension Span where Element == UInt8 {
    /// Returns the index of the first `byte` at or after `start`; `nil` if there is none.
    ///
    /// The search reads eight bytes at a time, and the bounds of each read are checked.
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

    /// Returns the index of the first byte at or after `start` that equals `first` or `second`; `nil` if there is none.
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

    /// Returns eight bytes as one word, with the first byte in the lowest bits. Even in debug builds, the function
    /// performs a single load with checked bounds.
    @inline(__always)
    private func word(at index: Int) -> UInt64 {
        UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Returns a word in which the highest bit of each zero byte is set. The result is exact up to the first zero byte;
    /// bits above that byte may be set incorrectly.
    @inline(__always)
    private func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }
}
