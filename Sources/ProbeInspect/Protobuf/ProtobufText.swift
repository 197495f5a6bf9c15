import Glibc
import ProbeBase

/// Formats a protobuf message, either with field numbers, as `protoc --decode_raw` does, or with the names in a schema.
///
/// Fields appear in the order in which the message contains them. A damaged message is shown up to the damage, followed
/// by a note in parentheses.
package struct ProtobufText: Sendable {
    private let schema: ProtobufSchema?
    private let name: String

    /// The maximum depth at which the parser tries to read bytes as a nested message, as in `protoc`.
    private static let maxGuessDepth = 10
    private static let maxMessageDepth = 100

    /// Creates a formatter.
    ///
    /// - Parameters:
    ///   - schema: the schema; `nil` to show field numbers.
    ///   - name: the name of the message type, which must be in the schema.
    package init(schema: ProtobufSchema? = nil, name: String = "") {
        self.schema = schema
        self.name = name
    }

    /// Returns the lines of a message, with each nested level indented by two more columns.
    package func lines(of message: [UInt8], in range: Range<Int>) -> [String] {
        var writer = Writer(message: message, schema: schema)
        writer.write(range, as: schema?.messages[name], indent: "", depth: 0, guesses: Self.maxGuessDepth)
        return writer.lines
    }

    private struct Writer {
        let message: [UInt8]
        let schema: ProtobufSchema?
        var lines: [String] = []

        mutating func write(
            _ range: Range<Int>, as type: ProtobufSchema.Message?, indent: String, depth: Int, guesses: Int
        ) {
            var reader = ProtobufReader(range)
            while true {
                do throws(ProtobufReader.Problem) {
                    guard let field = try reader.next(in: message.span) else { return }
                    write(field, as: type?.fields[field.number], indent: indent, depth: depth, guesses: guesses)
                } catch {
                    lines.append("\(indent)(at byte \(error.offset - range.lowerBound): \(error.text))")
                    return
                }
            }
        }

        // MARK: Fields

        private mutating func write(
            _ field: ProtobufReader.Field, as declared: ProtobufSchema.Field?, indent: String, depth: Int, guesses: Int
        ) {
            if let declared, let kind = declared.kind,
                write(field.value, kind, declared, indent: indent, depth: depth, guesses: guesses)
            {
                return
            }
            // A field that is not declared, or has a different wire type than declared, is an unknown field.
            let name = "\(field.number)"
            switch field.value {
            case .varint(let value): lines.append("\(indent)\(name): \(value)")
            case .fixed32(let value): lines.append("\(indent)\(name): \(Self.hexadecimal(UInt64(value), digits: 8))")
            case .fixed64(let value): lines.append("\(indent)\(name): \(Self.hexadecimal(value, digits: 16))")
            case .group(let range): nest(name, range, nil, indent: indent, depth: depth, guesses: guesses - 1)
            case .bytes(let range):
                if !range.isEmpty, guesses > 0, isMessage(range) {
                    nest(name, range, nil, indent: indent, depth: depth, guesses: guesses - 1)
                } else {
                    lines.append("\(indent)\(name): \(quoted(range))")
                }
            }
        }

        private mutating func nest(
            _ name: String, _ range: Range<Int>, _ type: ProtobufSchema.Message?, indent: String, depth: Int,
            guesses: Int
        ) {
            guard depth < ProtobufText.maxMessageDepth else {
                lines.append("\(indent)\(name): \(quoted(range))")
                return
            }
            lines.append("\(indent)\(name) {")
            write(range, as: type, indent: indent + "  ", depth: depth + 1, guesses: guesses)
            lines.append("\(indent)}")
        }

        private func isMessage(_ range: Range<Int>) -> Bool {
            var reader = ProtobufReader(range)
            do throws(ProtobufReader.Problem) {
                while try reader.next(in: message.span) != nil {}
                return true
            } catch {
                return false
            }
        }

        /// Writes a declared field.
        ///
        /// - Returns: `false` if the field has a different wire type than declared.
        private mutating func write(
            _ value: ProtobufReader.Value, _ kind: ProtobufSchema.Kind, _ declared: ProtobufSchema.Field,
            indent: String, depth: Int, guesses: Int
        ) -> Bool {
            switch (kind, value) {
            case (.message, .bytes(let range)), (.group, .group(let range)):
                nest(
                    declared.name, range, schema?.messages[declared.typeName], indent: indent, depth: depth,
                    guesses: guesses)
            case (.string, .bytes(let range)), (.bytes, .bytes(let range)):
                lines.append("\(indent)\(declared.name): \(quoted(range))")
            case (.message, _), (.group, _), (.string, _), (.bytes, _): return false
            case (_, .bytes(let range)):
                guard let words = packed(range, kind, declared) else { return false }
                for word in words { lines.append("\(indent)\(declared.name): \(word)") }
            default:
                guard let word = number(value, kind, declared) else { return false }
                lines.append("\(indent)\(declared.name): \(word)")
            }
            return true
        }

        // MARK: Numbers

        /// Returns the numbers in a packed field; `nil` if the field is not a valid packed field.
        private func packed(
            _ range: Range<Int>, _ kind: ProtobufSchema.Kind, _ declared: ProtobufSchema.Field
        ) -> [String]? {
            var reader = ProtobufReader(range)
            var words: [String] = []
            do throws(ProtobufReader.Problem) {
                while true {
                    let value: ProtobufReader.Value
                    switch kind {
                    case .double, .fixed64, .sfixed64:
                        guard let bits = try reader.packedFixed(8, in: message.span) else { return words }
                        value = .fixed64(bits)
                    case .float, .fixed32, .sfixed32:
                        guard let bits = try reader.packedFixed(4, in: message.span) else { return words }
                        value = .fixed32(UInt32(truncatingIfNeeded: bits))
                    default:
                        guard let bits = try reader.packedVarint(in: message.span) else { return words }
                        value = .varint(bits)
                    }
                    guard let word = number(value, kind, declared) else { return nil }
                    words.append(word)
                }
            } catch {
                return nil
            }
        }

        private func number(
            _ value: ProtobufReader.Value, _ kind: ProtobufSchema.Kind, _ declared: ProtobufSchema.Field
        ) -> String? {
            switch (kind, value) {
            case (.int64, .varint(let bits)): return "\(Int64(bitPattern: bits))"
            case (.uint64, .varint(let bits)): return "\(bits)"
            case (.int32, .varint(let bits)): return "\(Int32(truncatingIfNeeded: bits))"
            case (.uint32, .varint(let bits)): return "\(UInt32(truncatingIfNeeded: bits))"
            case (.sint32, .varint(let bits)):
                return "\(Int32(truncatingIfNeeded: Self.zigzag(bits & 0xFFFF_FFFF)))"
            case (.sint64, .varint(let bits)): return "\(Self.zigzag(bits))"
            case (.bool, .varint(let bits)): return bits != 0 ? "true" : "false"
            case (.enumeration, .varint(let bits)):
                let number = Int32(truncatingIfNeeded: bits)
                return schema?.enumerations[declared.typeName]?[number] ?? "\(number)"
            case (.fixed32, .fixed32(let bits)): return "\(bits)"
            case (.sfixed32, .fixed32(let bits)): return "\(Int32(bitPattern: bits))"
            case (.float, .fixed32(let bits)): return Self.shortest(Float(bitPattern: bits))
            case (.fixed64, .fixed64(let bits)): return "\(bits)"
            case (.sfixed64, .fixed64(let bits)): return "\(Int64(bitPattern: bits))"
            case (.double, .fixed64(let bits)): return Self.shortest(Double(bitPattern: bits))
            default: return nil
            }
        }

        private static func zigzag(_ bits: UInt64) -> Int64 { Int64(bitPattern: bits >> 1) ^ -Int64(bits & 1) }

        private static func hexadecimal(_ bits: UInt64, digits: Int) -> String {
            let text = String(bits, radix: 16)
            return "0x" + String(repeating: "0", count: digits - text.count) + text
        }

        /// Formats a number with the fewest digits that are parsed as the same number, as `protoc` does.
        private static func shortest(_ value: Double) -> String {
            if value.isNaN { return "nan" }
            let text = printed("%.15g", value)
            return Double(text) == value ? text : printed("%.17g", value)
        }

        private static func shortest(_ value: Float) -> String {
            if value.isNaN { return "nan" }
            let text = printed("%.6g", Double(value))
            return Float(text) == value ? text : printed("%.9g", Double(value))
        }

        private static func printed(_ format: String, _ value: Double) -> String {
            var buffer = [CChar](repeating: 0, count: 64)
            _ = withVaList([value]) { vsnprintf(&buffer, buffer.count, format, $0) }
            return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        // MARK: Texts

        /// Returns the bytes in quotes, with octal escapes as `protoc` prints them.
        private func quoted(_ range: Range<Int>) -> String {
            var text: [UInt8] = [UInt8(ascii: "\"")]
            for byte in message[range] {
                switch byte {
                case 0x0A: text += "\\n".utf8
                case 0x0D: text += "\\r".utf8
                case 0x09: text += "\\t".utf8
                case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
                case 0x20..<0x7F: text.append(byte)
                default:
                    text.append(UInt8(ascii: "\\"))
                    for shift in [6, 3, 0] { text.append(UInt8(ascii: "0") + byte >> UInt8(shift) & 7) }
                }
            }
            text.append(UInt8(ascii: "\""))
            return String(decoding: text, as: UTF8.self)
        }
    }
}
