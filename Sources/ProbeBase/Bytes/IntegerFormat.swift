/// The encoding of an unsigned integer on the wire. The formats are big-endian unless their name ends in `le`.
package enum IntegerFormat: String, Sendable, CaseIterable {
    case u8, u16, u24, u32, u64, u16le, u32le, u64le, varint

    /// The number of bytes on the wire (`nil` for a varint, which has 1 to 10 bytes), and the byte order.
    private var layout: (width: Int?, isLittleEndian: Bool) {
        switch self {
        case .u8: (1, false)
        case .u16: (2, false)
        case .u24: (3, false)
        case .u32: (4, false)
        case .u64: (8, false)
        case .u16le: (2, true)
        case .u32le: (4, true)
        case .u64le: (8, true)
        case .varint: (nil, false)
        }
    }

    /// The number of bytes on the wire; `nil` for a varint, which has 1 to 10 bytes.
    package var width: Int? { layout.width }

    package var isLittleEndian: Bool { layout.isLittleEndian }

    /// The largest value that a script can compute and encode. The value is at most `Int.max`, although a 64-bit format
    /// can represent numbers up to 2^64 - 1.
    package var largest: Int {
        if let width, width < 8 { 1 << (8 * width) - 1 } else { Int.max }
    }

    /// The keywords of the fixed-width formats, for the language reference.
    package static var fixedWidthWords: String {
        let formats = allCases.filter { $0.width != nil }
        func words(isLittleEndian: Bool) -> String {
            formats.filter { $0.isLittleEndian == isLittleEndian }.map(\.rawValue).joined(separator: " ")
        }
        return "`\(words(isLittleEndian: false))`, `\(words(isLittleEndian: true))`"
    }
}

// MARK: Writing

extension IntegerFormat {
    /// Returns the encoding of a value; `nil` if the value is negative or too large for the format.
    package func encode(_ value: Int) -> [UInt8]? {
        guard value >= 0, value <= largest else { return nil }
        return bytes(of: UInt64(value))
    }

    /// Returns the encoding of a value that may be as large as 2^64 - 1; `nil` if it is too large for the format.
    package func encode(unsigned value: UInt64) -> [UInt8]? {
        guard largest == Int.max || value <= UInt64(largest) else { return nil }
        return bytes(of: value)
    }

    private func bytes(of bits: UInt64) -> [UInt8] {
        guard let width else { return Self.varint(bits) }
        let bytes = (0..<width).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        return isLittleEndian ? bytes : bytes.reversed()
    }

    /// Returns the varint encoding of Protocol Buffers: groups of seven bits, the lowest group first. The highest bit
    /// is set in every byte except the last one.
    package static func varint(_ value: UInt64) -> [UInt8] {
        var rest = value
        var bytes: [UInt8] = []
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
        return bytes
    }
}

// MARK: Reading

extension IntegerFormat {
    /// The result of reading an integer.
    package enum Reading: Sendable, Equatable {
        case value(UInt64, width: Int)
        /// The last byte of the integer has not arrived yet.
        case incomplete
        /// A varint has more than 10 bytes, or represents more than 64 bits.
        case tooLong
    }

    /// Reads the integer at the start of the received bytes. A varint may have more bytes than its value requires.
    package func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        guard let width else { return Self.readVarint(bytes) }
        guard bytes.count >= width else { return .incomplete }
        let used = bytes.prefix(width)
        let value = isLittleEndian ? used.reversed().reduce(0, Self.append) : used.reduce(0, Self.append)
        return .value(value, width: width)
    }

    private static func append(_ value: UInt64, _ byte: UInt8) -> UInt64 { value << 8 | UInt64(byte) }

    private static func readVarint(_ bytes: ArraySlice<UInt8>) -> Reading {
        var value: UInt64 = 0
        for (index, byte) in bytes.prefix(10).enumerated() {
            // Only the lowest of the tenth byte's seven bits fits in 64 bits.
            guard index < 9 || byte <= 1 else { return .tooLong }
            value |= UInt64(byte & 0x7F) << UInt64(7 * index)
            if byte & 0x80 == 0 { return .value(value, width: index + 1) }
        }
        return .incomplete
    }
}
