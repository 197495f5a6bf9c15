import CBytes

/// Parses a JSON text (RFC 8259) strictly: it accepts no comments, trailing commas or lone surrogates, and no duplicate
/// names within an object.
///
/// The parser never traps. Values may be nested up to ``depthLimit``. The time is linear in the size of the input, and
/// the memory is at most a small multiple of that size.
package struct JSONParser {
    package static let depthLimit = 32

    /// The number of members up to which each new name is compared with all other names in the object.
    private static let fewMembers = 16

    /// The UTF-8 encoding of U+FFFD.
    private static let replacement: [UInt8] = [0xef, 0xbf, 0xbd]

    private var position = 0
    private let replacesInvalid: Bool

    private init(replacesInvalid: Bool) { self.replacesInvalid = replacesInvalid }

    /// Parses a JSON text.
    ///
    /// - Parameter replacesInvalid: whether invalid UTF-8, and lone surrogates in a string, are replaced with U+FFFD
    ///   instead of causing an error.
    /// - Throws: an error if the bytes are not exactly one value with optional white space around it.
    package static func parse(_ bytes: Span<UInt8>, replacesInvalid: Bool = false) throws(JSONError) -> JSONValue {
        var parser = JSONParser(replacesInvalid: replacesInvalid)
        let value = try parser.value(bytes, depth: 0)
        parser.skipSpace(bytes)
        if parser.position < bytes.count { throw JSONError(reason: .trailing, offset: parser.position) }
        return value
    }

    // MARK: Values

    private mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSONValue {
        skipSpace(bytes)
        switch try peek(bytes) {
        case UInt8(ascii: "{"): return try object(bytes, depth: depth + 1)
        case UInt8(ascii: "["): return try array(bytes, depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string(bytes))
        case UInt8(ascii: "t"): return try word("true", .boolean(true), bytes)
        case UInt8(ascii: "f"): return try word("false", .boolean(false), bytes)
        case UInt8(ascii: "n"): return try word("null", .null, bytes)
        case UInt8(ascii: "-"), 48...57: return try number(bytes)
        case let other: throw JSONError(reason: .unexpected(other), offset: position)
        }
    }

    private mutating func object(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSONValue {
        if depth > JSONParser.depthLimit { throw JSONError(reason: .tooDeep, offset: position) }
        position += 1
        var members: [JSONValue.Member] = []
        var names: Set<[UInt8]> = []
        skipSpace(bytes)
        if try peek(bytes) == UInt8(ascii: "}") {
            position += 1
            return .object(members)
        }
        while true {
            skipSpace(bytes)
            let start = position
            guard try peek(bytes) == UInt8(ascii: "\"") else {
                throw JSONError(reason: .unexpected(bytes[position]), offset: position)
            }
            let name = try string(bytes)
            skipSpace(bytes)
            try take(UInt8(ascii: ":"), bytes)
            let value = try value(bytes, depth: depth)
            let isNew =
                names.isEmpty
                ? members.allSatisfy { !$0.key.utf8.elementsEqual(name.utf8) } : names.insert(Array(name.utf8)).inserted
            if !isNew { throw JSONError(reason: .duplicateName, offset: start) }
            members.append((name, value))
            // The names of an object with many members are kept in a set, so that the parsing time remains linear.
            if members.count == JSONParser.fewMembers { names = Set(members.map { Array($0.key.utf8) }) }
            skipSpace(bytes)
            if try peek(bytes) == UInt8(ascii: "}") { break }
            try take(UInt8(ascii: ","), bytes)
        }
        position += 1
        return .object(members)
    }

    private mutating func array(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSONValue {
        if depth > JSONParser.depthLimit { throw JSONError(reason: .tooDeep, offset: position) }
        position += 1
        var elements: [JSONValue] = []
        skipSpace(bytes)
        if try peek(bytes) == UInt8(ascii: "]") {
            position += 1
            return .array(elements)
        }
        while true {
            elements.append(try value(bytes, depth: depth))
            skipSpace(bytes)
            if try peek(bytes) == UInt8(ascii: "]") { break }
            try take(UInt8(ascii: ","), bytes)
        }
        position += 1
        return .array(elements)
    }

    private mutating func word(
        _ word: StaticString, _ value: JSONValue, _ bytes: Span<UInt8>
    ) throws(JSONError) -> JSONValue {
        for offset in 0..<word.utf8CodeUnitCount {
            try take(word.withUTF8Buffer { $0[offset] }, bytes)
        }
        return value
    }

    /// Parses a number (RFC 8259, section 6).
    private mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        let start = position
        var isWhole = true
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let first = position
        try digits(bytes, from: start)
        if bytes[first] == UInt8(ascii: "0"), position > first + 1 {
            throw JSONError(reason: .invalidNumber, offset: start)
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isWhole = false
            position += 1
            try digits(bytes, from: start)
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            position += 1
            if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            try digits(bytes, from: start)
        }
        var text = ""
        for index in start..<position { text.unicodeScalars.append(UnicodeScalar(bytes[index])) }
        if isWhole, let integer = Int(text) { return .integer(integer) }
        guard let number = Double(text) else { throw JSONError(reason: .invalidNumber, offset: start) }
        return .number(number)
    }

    private mutating func digits(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) {
        let first = position
        while position < bytes.count, (48...57).contains(bytes[position]) { position += 1 }
        if position == first { throw JSONError(reason: .invalidNumber, offset: start) }
    }

    // MARK: Bytes

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return
            }
        }
    }

    private func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(reason: .unexpectedEnd, offset: position) }
        return bytes[position]
    }

    private mutating func take(_ expected: UInt8, _ bytes: Span<UInt8>) throws(JSONError) {
        let byte = try peek(bytes)
        guard byte == expected else { throw JSONError(reason: .unexpected(byte), offset: position) }
        position += 1
    }
}

// MARK: - Strings, RFC 8259 section 7

extension JSONParser {
    /// Parses a string from its opening quotation mark to just after the closing one, and returns its value.
    private mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        position += 1
        var content: [UInt8] = []
        while true {
            let byte = try peek(bytes)
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(bytes, into: &content)
            case 0..<0x20: throw JSONError(reason: .controlInString, offset: position)
            case 0x20..<0x7f: plain(bytes, into: &content)
            case 0x7f:
                content.append(byte)
                position += 1
            default: try multibyte(bytes, into: &content)
            }
        }
    }

    /// Appends, in a single operation, a run of characters that need no decoding. Most strings consist mainly of such
    /// runs.
    private mutating func plain(_ bytes: Span<UInt8>, into content: inout [UInt8]) {
        position += bytes.extracting(droppingFirst: position).withUnsafeBytes { rest in
            guard let base = rest.baseAddress else { return 0 }
            let count = probe_plain_json(base, rest.count)
            content.append(contentsOf: rest[..<count])
            return count
        }
    }

    private mutating func escape(_ bytes: Span<UInt8>, into content: inout [UInt8]) throws(JSONError) {
        let start = position
        position += 1
        let byte = try peek(bytes)
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(8)
        case UInt8(ascii: "f"): content.append(12)
        case UInt8(ascii: "n"): content.append(10)
        case UInt8(ascii: "r"): content.append(13)
        case UInt8(ascii: "t"): content.append(9)
        case UInt8(ascii: "u"):
            var unit = try hexadecimal(bytes)
            if (0xd800..<0xdc00).contains(unit), let low = try lowSurrogate(bytes) {
                unit = 0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00)
            }
            if let scalar = UnicodeScalar(unit) {
                content.append(contentsOf: String(scalar).utf8)
            } else if replacesInvalid {
                content.append(contentsOf: JSONParser.replacement)
            } else {
                throw JSONError(reason: .loneSurrogate, offset: start)
            }
        default: throw JSONError(reason: .invalidEscape, offset: start)
        }
    }

    /// Parses the second half of a surrogate pair. Returns `nil`, and consumes nothing, if no second half follows.
    private mutating func lowSurrogate(_ bytes: Span<UInt8>) throws(JSONError) -> UInt32? {
        guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { return nil }
        let start = position
        position += 2
        let unit = try hexadecimal(bytes)
        if (0xdc00..<0xe000).contains(unit) { return unit }
        position = start
        return nil
    }

    private mutating func hexadecimal(_ bytes: Span<UInt8>) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = try peek(bytes)
            guard let digit = byte.hexDigit else { throw JSONError(reason: .invalidEscape, offset: position) }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    /// Parses one character of two to four bytes. Overlong forms, surrogates and code points above U+10FFFF are invalid
    /// (RFC 3629, section 4).
    private mutating func multibyte(_ bytes: Span<UInt8>, into content: inout [UInt8]) throws(JSONError) {
        let lead = bytes[position]
        let (length, second): (Int, ClosedRange<UInt8>)
        switch lead {
        case 0xc2...0xdf: (length, second) = (2, 0x80...0xbf)
        case 0xe0: (length, second) = (3, 0xa0...0xbf)
        case 0xed: (length, second) = (3, 0x80...0x9f)
        case 0xe1...0xef: (length, second) = (3, 0x80...0xbf)
        case 0xf0: (length, second) = (4, 0x90...0xbf)
        case 0xf1...0xf3: (length, second) = (4, 0x80...0xbf)
        case 0xf4: (length, second) = (4, 0x80...0x8f)
        default: return try replace(1, into: &content)
        }
        for offset in 1..<length {
            guard position + offset < bytes.count,
                (offset == 1 ? second : 0x80...0xbf).contains(bytes[position + offset])
            else { return try replace(isSurrogate(bytes) ? 3 : offset, into: &content) }
        }
        for offset in 0..<length { content.append(bytes[position + offset]) }
        position += length
    }

    /// Returns whether the next three bytes are a surrogate that was encoded like a UTF-8 character. Some programs
    /// encode each half of a surrogate pair in this way.
    private func isSurrogate(_ bytes: Span<UInt8>) -> Bool {
        position + 2 < bytes.count && bytes[position] == 0xed && (0xa0...0xbf).contains(bytes[position + 1])
            && (0x80...0xbf).contains(bytes[position + 2])
    }

    /// Replaces invalid bytes with U+FFFD, or throws an error if the parser does not replace them.
    ///
    /// - Parameter count: the number of invalid bytes.
    private mutating func replace(_ count: Int, into content: inout [UInt8]) throws(JSONError) {
        guard replacesInvalid else { throw JSONError(reason: .invalidUTF8, offset: position) }
        content.append(contentsOf: JSONParser.replacement)
        position += count
    }
}
