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
        /// A number of a WebSocket frame: the value, what it is, and its range.
        case outOfRange(Int, String, ClosedRange<Int>)
        /// A value outside of the range that its place in the script allows.
        case notAllowed(IntegerRange, Int)
        case badLengthForm(Int)
        case lengthAboveForm(UInt64)
        case badMaskingKey(Int)
        /// A negative number for a varint or a fixed number of protobuf.
        case negativeField(Int)
        /// An integer of 2^63 or more where such a number is not allowed.
        case tooLargeInteger(UInt64)
        /// A field that the message does not have, with the message.
        case protobuf(ProtobufPath.Failure, [UInt8])
    }
}

extension EvaluationError.Reason {
    /// The ID of the diagnostic if the error is found before the run.
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
        case .noProperty(let actor, let property): "`\(actor)` has no `\(property)` at this moment"
        case .overflow: "the result is too large for a number"
        case .divisionByZero: "this divides by zero"
        case .notAnInteger(let what): "\(what) is no number"
        case .notDecimal(let bytes): "\"\(Escaped.text(bytes.prefix(40)))\" is no decimal number"
        case .notBytes: "this is no sequence of bytes"
        case .negativeCount(let count): "a value can't be repeated \(count) times"
        case .doesNotFit(let value, let format): "\(value) does not fit into \(format.rawValue)"
        case .tooLongForPrefix(let length, let word): "a length of \(length) does not fit into a \(word) prefix"
        case .tooLarge(let limit): "the value is larger than \(limit / 1_048_576) MiB"
        case .badBase64(let offset): "this is no base64: the character at offset \(offset) does not belong there"
        case .outsideFolder(let path): "\(Escaped.quoted(path)) is outside the script's folder"
        case .file(let path, let error): "\(Escaped.quoted(path)) can't be read: \(error.reason)"
        case .noTerminator(let framing): "a line has no terminator with framing \(framing.rawValue)"
        case .regexSyntax(let message): "the regex is wrong: \(message)"
        case .notARegex: "this is no regex"
        case .emptyDelimiter: "an empty delimiter is found everywhere"
        case .badCall(let name): "\(name)(…) is called wrongly"
        case .cutOutOfOrder(let offset): "offset \(offset) is not behind the one before it"
        case .cutPastEnd(let offset, let length):
            "offset \(offset) cuts nothing off a value of \(counted(length, "byte"))"
        case .outOfRange(let value, let what, let range):
            "\(value) is no \(what): it is \(range.lowerBound) to \(range.upperBound)"
        case .notAllowed(let range, let value):
            Diagnostic.Message.outOfRange(range.what, value, range.values.lowerBound, range.values.upperBound).text
        case .badLengthForm(let width): "a length of WebSocket has no \(counted(width, "byte"))"
        case .lengthAboveForm(let length): "the length \(length) does not fit into this form"
        case .badMaskingKey(let count): "a masking key has 4 bytes, not \(count)"
        case .negativeField(let value): "\(value) is negative"
        case .tooLargeInteger(let value): "\(value) is too large here: the largest number is \(Int.max)"
        case .protobuf(let failure, _): failure.text
        case .tooManyPieces(let limit): "this cuts the value into more than \(limit) pieces"
        }
    }

    /// How to fix the error.
    package var hint: String? {
        switch self {
        case .notDecimal: "int(…) takes digits alone"
        case .doesNotFit(_, let format): "\(format.rawValue) holds 0 to \(format.largest)"
        case .tooLongForPrefix: "take a wider prefix, such as u32 or varint"
        case .tooLarge: "send it in several steps, or in a for loop"
        case .badBase64: "base64 is letters, digits, + and /, with = at the end (RFC 4648, 4)"
        case .outsideFolder: "copy the file next to the script, or below it"
        case .file: "the path counts from the folder of the script"
        case .noTerminator: "write the bytes out, or choose framing \(Framing.lineWords): framing \"END\""
        case .badLengthForm: "1 is in the second byte (up to 125), 2 and 8 are the bytes behind it (RFC 6455, 5.2)"
        case .lengthAboveForm: "write length-form: 8, or leave it out"
        case .badMaskingKey: "for example mask: hex(01 02 03 04)"
        case .negativeField: "write `int` or `sint` before it"
        case .protobuf(let failure, _): failure.hint
        case .tooLargeInteger:
            "such a number is compared, bound, interpolated and encoded as u64, varint or fixed64 only"
        case .negativeCount: "the number of repeats is 0 or more"
        default: nil
        }
    }
}
