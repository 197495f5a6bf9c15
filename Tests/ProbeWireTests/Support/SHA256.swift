/// FIPS 180-4, for comparing with the hashes of the corpus.
func sha256(_ message: some Sequence<UInt8>) -> String {
    let primes = (2..<312).filter { number in !(2..<number).contains { number % $0 == 0 } }
    // The first 32 bits of the fractions of square and cube roots, by integer search.
    func root(_ prime: Int, _ power: Int) -> UInt32 {
        var low: UInt128 = 0
        var high: UInt128 = 1 << 37
        while low + 1 < high {
            let middle = (low + high) / 2
            let value = power == 2 ? middle * middle : middle * middle * middle
            if value <= UInt128(prime) << UInt128(32 * power) { low = middle } else { high = middle }
        }
        return UInt32(truncatingIfNeeded: low)
    }
    let constants = primes.prefix(64).map { root($0, 3) }
    var state = primes.prefix(8).map { root($0, 2) }
    var bytes = Array(message)
    let length = UInt64(bytes.count) * 8
    bytes.append(0x80)
    while bytes.count % 64 != 56 { bytes.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(shift)))
    }
    func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 { value >> count | value << (32 - count) }
    var words = [UInt32](repeating: 0, count: 64)
    for start in stride(from: 0, to: bytes.count, by: 64) {
        for index in 0..<16 {
            let at = start + index * 4
            words[index] =
                UInt32(bytes[at]) << 24 | UInt32(bytes[at + 1]) << 16 | UInt32(bytes[at + 2]) << 8
                | UInt32(bytes[at + 3])
        }
        for index in 16..<64 {
            let a = words[index - 15]
            let b = words[index - 2]
            words[index] =
                words[index - 16] &+ (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) &+ words[index - 7]
                &+ (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10)
        }
        var v = state
        for index in 0..<64 {
            let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
            let first =
                v[7] &+ (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) &+ choice &+ constants[index]
                &+ words[index]
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
            let second = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) &+ majority
            v = [first &+ second, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
        }
        for index in 0..<8 { state[index] &+= v[index] }
    }
    return state.map { word in
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }.joined()
}
