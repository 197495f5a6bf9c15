package import ProbeBase

/// The reason why an expression has no value.
package struct EvaluationError: Error, Sendable {
    package var reason: Reason
    /// The part of the expression that caused the error.
    package var span: SourceSpan

    package init(_ reason: Reason, span: SourceSpan) {
        self.reason = reason
        self.span = span
    }

    package enum Reason: Sendable, Equatable {
        case unbound(String)
        case noProperty(actor: String, property: String)
        case overflow
        case divisionByZero
        case notAnInteger(String)
        case notDecimal([UInt8])
        case notBytes
        case negativeCount(Int)
        case doesNotFit(Int, IntegerFormat)
        case tooLongForPrefix(length: Int, String)
        case tooLarge(limit: Int)
        case badBase64(offset: Int)
        case outsideFolder(String)
        case file(String, LoadError)
        case noTerminator(Framing)
        case regexSyntax(String)
        case notARegex
        case emptyDelimiter
        case badCall(String)
        case cutOutOfOrder(Int)
        case cutPastEnd(offset: Int, length: Int)
        case tooManyPieces(limit: Int)
        /// A number is outside a fixed range, such as the range of a field in a WebSocket frame. The values are the
        /// number, its description and the range.
        case outOfRange(Int, String, ClosedRange<Int>)
        /// An integer is outside the range that is allowed at its place in the script.
        case notAllowed(IntegerRange, Int)
        case badLengthForm(Int)
        case lengthAboveForm(UInt64)
        case badMaskingKey(Int)
        /// A negative number was given for an unsigned protobuf field.
        case negativeField(Int)
        /// An integer of 2^63 or more was used in a place that does not allow integers of this size.
        case tooLargeInteger(UInt64)
        /// A field could not be read from a protobuf message. The second value is the message's bytes.
        case protobuf(ProtobufPath.Failure, [UInt8])
    }
}

extension EvaluationError.Reason {
    /// The ID of the diagnostic that reports the error if it is found before the run.
    package var id: DiagnosticID {
        switch self {
        case .unbound: .unboundVariable
        case .noProperty: .unknownProperty
        case .notAnInteger, .notBytes, .notARegex, .notDecimal: .wrongType
        case .doesNotFit, .tooLongForPrefix, .negativeCount, .outOfRange, .notAllowed, .badLengthForm, .lengthAboveForm,
            .badMaskingKey, .negativeField, .tooLargeInteger:
            .outOfRange
        case .badBase64: .badBase64
        case .outsideFolder: .outsideFolder
        case .regexSyntax: .regexSyntax
        case .badCall: .argumentCount
        case .cutOutOfOrder, .cutPastEnd: .cutPastEnd
        default: .cantCompute
        }
    }

    /// A one-line description of the error.
    package var text: String {
        switch self {
        case .unbound(let name): "`\(name)` is not bound"
        case .noProperty(let actor, let property): "`\(actor)` has no `\(property)` at this point"
        case .overflow: "the result is too large for an integer"
        case .divisionByZero: "division by zero"
        case .notAnInteger(let what): "\(what) is not a number"
        case .notDecimal(let bytes): "\"\(Escaped.text(bytes.prefix(40)))\" is not a decimal number"
        case .notBytes: "this value is not a sequence of bytes"
        case .negativeCount(let count): "a value can't be repeated \(count) times"
        case .doesNotFit(let value, let format): "\(value) does not fit in \(format.rawValue)"
        case .tooLongForPrefix(let length, let word): "a length of \(length) does not fit in a \(word) prefix"
        case .tooLarge(let limit): "the value is larger than \(limit / 1_048_576) MiB"
        case .badBase64(let offset): "invalid base64: unexpected character at offset \(offset)"
        case .outsideFolder(let path): "\(Escaped.quoted(path)) is outside the script's folder"
        case .file(let path, let error): "\(Escaped.quoted(path)) can't be read: \(error.reason)"
        case .noTerminator(let framing): "lines have no terminator with `framing \(framing.rawValue)`"
        case .regexSyntax(let message): "invalid regex: \(message)"
        case .notARegex: "this value is not a regex"
        case .emptyDelimiter: "the delimiter is empty, so it would match everywhere"
        case .badCall(let name): "`\(name)(…)` was called with invalid arguments"
        case .cutOutOfOrder(let offset): "offset \(offset) is not greater than the previous offset"
        case .cutPastEnd(let offset, let length):
            "offset \(offset) cuts nothing off a value of \(counted(length, "byte"))"
        case .outOfRange(let value, let what, let range):
            "\(value) is out of range for \(what): expected \(range.lowerBound) to \(range.upperBound)"
        case .notAllowed(let range, let value):
            Diagnostic.Message.outOfRange(range.what, value, range.values.lowerBound, range.values.upperBound).text
        case .badLengthForm(let width): "a WebSocket length can't be written in \(counted(width, "byte"))"
        case .lengthAboveForm(let length): "the length \(length) does not fit in the given length form"
        case .badMaskingKey(let count): "a masking key must be 4 bytes long, not \(count)"
        case .negativeField(let value): "\(value) is negative"
        case .tooLargeInteger(let value): "\(value) is too large: the largest number is \(Int.max)"
        case .protobuf(let failure, _): failure.text
        case .tooManyPieces(let limit): "the value would be cut into more than \(limit) pieces"
        }
    }

    /// A hint that states how to fix the error.
    package var hint: String? {
        switch self {
        case .notDecimal: "pass only digits to `int(…)`"
        case .doesNotFit(_, let format): "use a number from 0 to \(format.largest) for \(format.rawValue)"
        case .tooLongForPrefix: "use a wider prefix, such as u32 or varint"
        case .tooLarge: "send the value in several steps, or in a `for` loop"
        case .badBase64: "use letters, digits, `+` and `/`, with `=` at the end (RFC 4648, section 4)"
        case .outsideFolder: "copy the file into the script's folder or one of its subfolders"
        case .file: "give the path relative to the folder of the script"
        case .noTerminator: "write the bytes literally, or use framing \(Framing.lineWords), such as `framing \"END\"`"
        case .badLengthForm:
            "use 1 (for lengths up to 125), 2 or 8 bytes (RFC 6455, section 5.2)"
        case .lengthAboveForm: "write `length-form: 8`, or remove `length-form`"
        case .badMaskingKey: "for example: mask: hex(01 02 03 04)"
        case .negativeField: "write `int` or `sint` before the number"
        case .protobuf(let failure, _): failure.hint
        case .tooLargeInteger:
            "only compare, bind or interpolate this large number, or encode it as u64, varint or fixed64"
        case .negativeCount: "use a count of 0 or more"
        default: nil
        }
    }
}
