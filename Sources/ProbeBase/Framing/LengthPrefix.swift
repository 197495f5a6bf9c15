/// The format of the length that precedes a unit.
package enum LengthPrefix: Sendable, Hashable {
    /// An integer, as in `u16`.
    case integer(IntegerFormat)
    /// Decimal digits without leading zeros, followed by `:`. A comma follows the payload, as in `5:hello,`.
    case netstring

    /// The byte that follows the payload; `nil` if there is none.
    package var end: UInt8? { self == .netstring ? UInt8(ascii: ",") : nil }

    /// The largest length that a script can compute and encode.
    package var largest: Int {
        switch self {
        case .integer(let format): format.largest
        case .netstring: Int.max
        }
    }

    /// Returns the encoding of a length; `nil` if the length is too large for the format.
    package func encode(_ count: Int) -> [UInt8]? {
        switch self {
        case .integer(let format): format.encode(count)
        case .netstring: Array("\(count):".utf8)
        }
    }

    /// Reads the length at the start of the received bytes; `nil` if more bytes are needed.
    ///
    /// - Parameter offset: the stream offset of the first byte, for the error.
    /// - Returns: the length, and the number of bytes that encode it.
    /// - Throws: the reason why these bytes are not a valid length, as soon as the first invalid byte has arrived.
    package func read(
        _ bytes: ArraySlice<UInt8>, at offset: Int = 0
    ) throws(FrameError) -> (length: UInt64, width: Int)? {
        guard case .integer(let format) = self else { return try Self.readDecimal(bytes, at: offset) }
        switch format.read(bytes) {
        case .value(let length, let width): return (length, width)
        case .incomplete: return nil
        case .tooLong: throw FrameError(.varintTooLong, offset: offset)
        }
    }

    /// Finds the unit at the start of the received bytes; `nil` if more bytes are needed.
    ///
    /// - Parameters:
    ///   - offset: the stream offset of the first byte.
    ///   - limit: the maximum length; `nil` for no limit.
    /// - Returns: the number of bytes of the encoded length, and the number of bytes of the payload. If the format has
    ///   an ``end`` byte, this byte follows the payload.
    /// - Throws: the reason why these bytes are not a valid unit, as soon as it is certain.
    package func unit(
        in bytes: ArraySlice<UInt8>, at offset: Int = 0, limit: Int?
    ) throws(FrameError) -> (width: Int, count: Int)? {
        guard let (length, width) = try read(bytes, at: offset) else { return nil }
        if let limit, length > UInt64(limit) {
            throw FrameError(.tooLong(limit: limit, length: length), offset: offset)
        }
        // The sum that is checked for overflow includes one byte for `end`.
        guard let count = Int(exactly: length), !count.addingReportingOverflow(offset + width + 1).overflow else {
            throw FrameError(.lengthOutOfRange(length), offset: offset)
        }
        let rest = bytes.dropFirst(width)
        guard rest.count >= count else { return nil }
        if let end {
            guard let last = rest.dropFirst(count).first else { return nil }
            guard last == end else { throw FrameError(.netstring(.noComma), offset: offset) }
        }
        return (width, count)
    }
}

extension LengthPrefix {
    /// The reason why bytes are not a valid netstring.
    package enum NetstringFailure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The netstring does not begin with a decimal length and a colon.
        case noNumber
        case leadingZero
        /// The decimal length has more than 19 digits, or is larger than any stream can be.
        case tooLong
        /// The payload is not followed by a comma.
        case noComma

        package var description: String {
            switch self {
            case .noNumber: "a netstring that does not begin with a decimal length and a colon"
            case .leadingZero: "a netstring whose length has a leading zero"
            case .tooLong: "a netstring whose length has more than 19 digits"
            case .noComma: "a netstring without a comma at its end"
            }
        }
    }

    /// The maximum number of digits in a decimal length; every number with 19 digits fits in 64 bits.
    private static let maxDigits = 19

    private static func readDecimal(
        _ bytes: ArraySlice<UInt8>, at offset: Int
    ) throws(FrameError) -> (length: UInt64, width: Int)? {
        func failure(_ failure: NetstringFailure) -> FrameError { FrameError(.netstring(failure), offset: offset) }
        var value: UInt64 = 0
        for (index, byte) in bytes.prefix(maxDigits + 1).enumerated() {
            if byte == UInt8(ascii: ":"), index > 0 { return (value, index + 1) }
            guard (0x30...0x39).contains(byte) else { throw failure(.noNumber) }
            if index == 1, value == 0 { throw failure(.leadingZero) }
            if index == maxDigits { throw failure(.tooLong) }
            value = value * 10 + UInt64(byte - 0x30)
        }
        return nil
    }
}
