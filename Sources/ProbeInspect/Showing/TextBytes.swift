import ProbeWire

/// ASCII for large outputs, without a string for each piece.
extension [UInt8] {
    mutating func append(text: String) {
        append(contentsOf: text.utf8)
    }

    mutating func append(_ byte: UInt8, count: Int) {
        for _ in 0..<Swift.max(count, 0) { append(byte) }
    }

    mutating func append(decimal number: some BinaryInteger) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = UInt64(number.magnitude)
        let start = count
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }

    /// As `SocketEndpoint.description`.
    mutating func append(_ endpoint: SocketEndpoint) {
        guard endpoint.address.family == .v4 else { return append(text: endpoint.description) }
        for shift: UInt64 in [24, 16, 8, 0] {
            append(decimal: endpoint.address.low >> shift & 255)
            append(UInt8(ascii: shift > 0 ? "." : ":"))
        }
        append(decimal: endpoint.port)
    }
}
