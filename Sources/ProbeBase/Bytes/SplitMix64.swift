/// The random number generator of `random(…, seed n)` and `cut at random seed n`. SplitMix64 (Steele, Lea and Flood,
/// 2014) produces the same bytes from a seed on every machine and in every version of tcpprobe.
///
/// The initial state is the seed. Each step adds 0x9E3779B97F4A7C15 to the state and mixes it into a number, whose
/// bytes are used from the lowest to the highest.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns the next `count` bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: max(0, count))
        result.withUnsafeMutableBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                var number = next().littleEndian
                let width = min(8, bytes.count - offset)
                withUnsafeBytes(of: &number) { bytes[offset..<offset + width].copyBytes(from: $0.prefix(width)) }
                offset += width
            }
        }
        return result
    }

    /// Returns a number from 0 to `bound - 1`, computed as a remainder; 0 if `bound` is less than 1.
    package mutating func below(_ bound: Int) -> Int {
        guard bound > 1 else { return 0 }
        return Int(truncatingIfNeeded: next() % UInt64(bound))
    }
}
