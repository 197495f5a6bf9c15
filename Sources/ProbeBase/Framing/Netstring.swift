/// The length of a netstring: `5:hello,` has five bytes.
package enum Netstring {
    package enum Failure: Error, Sendable, Equatable {
        /// A character other than a digit, or no digit before the colon.
        case noNumber
        case leadingZero
        /// A number with more than 19 digits, or larger than possible in a stream.
        case tooLong
        /// The payload is not followed by a comma.
        case noComma
    }

    package enum Reading: Sendable, Equatable {
        case value(UInt64, width: Int)
        /// The colon has not arrived.
        case incomplete
        case wrong(Failure)
    }

    package static let end: UInt8 = 0x2C
    private static let colon: UInt8 = 0x3A
    /// The maximum number of digits; any number with this many fits in 64 bits.
    private static let mostDigits = 19

    /// Returns the length and its colon.
    package static func prefix(of count: Int) -> [UInt8] { Array("\(count):".utf8) }

    /// Reads the length at the start of the received bytes, with its colon. An error is detected at the first wrong
    /// byte.
    package static func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        var value: UInt64 = 0
        for (index, byte) in bytes.prefix(mostDigits + 1).enumerated() {
            if byte == colon { return index == 0 ? .wrong(.noNumber) : .value(value, width: index + 1) }
            guard (0x30...0x39).contains(byte) else { return .wrong(.noNumber) }
            if index == 1, value == 0 { return .wrong(.leadingZero) }
            if index == mostDigits { return .wrong(.tooLong) }
            value = value * 10 + UInt64(byte - 0x30)
        }
        return .incomplete
    }
}

extension Netstring.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noNumber: "a netstring without its length in digits and a colon"
        case .leadingZero: "a netstring whose length begins with a needless 0"
        case .tooLong: "a netstring whose length has more than 19 digits"
        case .noComma: "a netstring without its comma"
        }
    }
}
