import ProbeBase

/// The meaning of a number in a script.
enum NumberLiteral: Equatable {
    case integer(Int)
    /// An integer from 2^63 to 2^64 - 1.
    case unsigned(UInt64)
    /// A number of bytes.
    case size(Int)
    case duration(Duration)
    /// A number of bytes per second.
    case rate(Int)
    /// A number of connections per second.
    case frequency(Int)
    /// A number with an unknown unit.
    case unknownUnit(number: String, unit: String)
    case malformed
    case tooLarge

    /// Parses a number such as `12`, `1_000`, `0x1f`, `4KiB`, `1.5s`, `10B/s` or `2000/s`.
    init(_ text: [UInt8]) {
        if text.count > 2, text[0] == UInt8(ascii: "0"), text[1] | 0x20 == UInt8(ascii: "x") {
            self = Self.hexadecimal(text[2...])
            return
        }
        var index = 0
        var mantissa: UInt64 = 0
        var scale: UInt64 = 1
        var isFraction = false
        var overflow = false
        while index < text.count {
            let byte = text[index]
            if byte.isDigit {
                let (product, first) = mantissa.multipliedReportingOverflow(by: 10)
                let (sum, second) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
                overflow = overflow || first || second
                mantissa = sum
                if isFraction {
                    let (next, third) = scale.multipliedReportingOverflow(by: 10)
                    overflow = overflow || third
                    scale = next
                }
            } else if byte == UInt8(ascii: ".") {
                guard !isFraction else {
                    self = .malformed
                    return
                }
                isFraction = true
            } else if byte != UInt8(ascii: "_") {
                break
            }
            index += 1
        }
        guard !overflow, scale > 0 else {
            self = .tooLarge
            return
        }
        let unit = String(decoding: text[index...], as: UTF8.self)
        self = Self.value(mantissa, scale: scale, isFraction: isFraction, unit: unit, digits: text[..<index])
    }

    static let durationUnits: [(name: String, nanoseconds: UInt64)] = [
        ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000),
    ]
    static let sizeUnits: [(name: String, bytes: UInt64)] = [
        ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("kB", 1_000), ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ]

    private static func value(
        _ mantissa: UInt64, scale: UInt64, isFraction: Bool, unit: String, digits: ArraySlice<UInt8>
    ) -> NumberLiteral {
        if unit.isEmpty {
            guard !isFraction else { return .malformed }
            return Int(exactly: mantissa).map(NumberLiteral.integer) ?? .unsigned(mantissa)
        }
        if let known = durationUnits.first(where: { $0.name == unit }) {
            guard let nanoseconds = scaled(mantissa, by: known.nanoseconds, over: scale) else { return .tooLarge }
            return .duration(.nanoseconds(Int64(nanoseconds)))
        }
        if let known = sizeUnits.first(where: { $0.name == unit }) {
            return scaled(mantissa, by: known.bytes, over: scale).map(NumberLiteral.size) ?? .tooLarge
        }
        if let known = sizeUnits.first(where: { $0.name + "/s" == unit }) {
            return scaled(mantissa, by: known.bytes, over: scale).map(NumberLiteral.rate) ?? .tooLarge
        }
        if unit == "/s" { return scaled(mantissa, by: 1, over: scale).map(NumberLiteral.frequency) ?? .tooLarge }
        return .unknownUnit(number: String(decoding: digits, as: UTF8.self), unit: unit)
    }

    private static func scaled(_ mantissa: UInt64, by factor: UInt64, over scale: UInt64) -> Int? {
        let (product, overflow) = mantissa.multipliedReportingOverflow(by: factor)
        guard !overflow else { return nil }
        return Int(exactly: product / scale)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> NumberLiteral {
        var value: UInt64 = 0
        for byte in digits where byte != UInt8(ascii: "_") {
            guard let digit = byte.hexDigit else { return .malformed }
            guard value < 1 << 60 else { return .tooLarge }
            value = value << 4 | UInt64(digit)
        }
        return Int(exactly: value).map(NumberLiteral.integer) ?? .unsigned(value)
    }
}
