/// A value in which the parts that vary between runs are masked.
///
/// Samples of the value are divided into words (letters, digits and all non-ASCII bytes) and single other bytes. If all
/// samples have the same number of parts, the parts that vary are masked. Otherwise, everything between the common
/// beginning and the common end of the samples is masked.
package enum MaskedValue: Sendable, Equatable {
    /// Matches every value, because there was no sample, or because only some of the samples had a value.
    case anything
    case missing
    /// Matches a sequence of parts; a part that is `nil` matches any word or byte.
    case parts([[UInt8]?])
    case between(start: [UInt8], end: [UInt8])

    package init(_ samples: [[UInt8]?]) {
        let values = samples.compactMap(\.self)
        guard let first = values.first else {
            self = samples.isEmpty ? .anything : .missing
            return
        }
        if values.count < samples.count {
            self = .anything
            return
        }
        let all = Set(values).map(Self.parts)
        let own = Self.parts(of: first)
        if all.allSatisfy({ $0.count == own.count }) {
            self = .parts(own.indices.map { index in all.allSatisfy { $0[index] == own[index] } ? own[index] : nil })
        } else {
            let start = values.reduce(first) { Array(zip($0, $1).prefix { $0 == $1 }.map(\.0)) }
            let rest = values.map { $0.dropFirst(start.count) }
            let end = rest.reduce(Array(first.dropFirst(start.count))) { known, value in
                Array(zip(known.reversed(), value.reversed()).prefix { $0 == $1 }.map(\.0).reversed())
            }
            self = .between(start: start, end: end)
        }
    }

    package func matches(_ value: [UInt8]?) -> Bool {
        switch self {
        case .anything: return true
        case .missing: return value == nil
        case .parts(let expected):
            guard let value else { return false }
            let parts = Self.parts(of: value)
            return parts.count == expected.count && zip(expected, parts).allSatisfy { $0 == nil || $0 == $1 }
        case .between(let start, let end):
            guard let value, value.count >= start.count + end.count else { return false }
            return value.starts(with: start) && value.suffix(end.count).elementsEqual(end)
        }
    }

    private static func parts(of value: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var wasWord = false
        for byte in value {
            let isWord =
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte >= 0x80
            if isWord, wasWord { parts[parts.count - 1].append(byte) } else { parts.append([byte]) }
            wasWord = isWord
        }
        return parts
    }
}
