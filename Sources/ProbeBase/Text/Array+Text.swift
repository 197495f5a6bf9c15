/// Appends ASCII text to large outputs without creating a string for each part.
extension [UInt8] {
    package mutating func append(text: String) {
        // The bytes are appended in a single operation, which is many times faster than appending them one by one.
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { append(contentsOf: $0) }
        if isDone == nil { append(contentsOf: text.utf8) }
    }

    package mutating func append(_ byte: UInt8, count: Int) {
        for _ in 0..<Swift.max(count, 0) { append(byte) }
    }

    package mutating func append(decimal number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(digitsOf: number.magnitude)
    }

    private mutating func append(digitsOf number: UInt) {
        if number >= 10 { append(digitsOf: number / 10) }
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }

    /// Appends the same text as `SocketEndpoint.description`.
    package mutating func append(_ endpoint: SocketEndpoint) {
        guard endpoint.address.family == .v4 else { return append(text: endpoint.description) }
        for shift: UInt64 in [24, 16, 8, 0] {
            append(digitsOf: UInt(endpoint.address.low >> shift & 255))
            append(shift > 0 ? UInt8(ascii: ".") : UInt8(ascii: ":"))
        }
        append(digitsOf: UInt(endpoint.port))
    }
}
