import ProbeBase

/// Converts values to and from the protocol's JSON.
enum ProtocolValue {
    // MARK: From the client

    static func position(_ value: JSONValue?) throws(ResponseError) -> TextPosition {
        guard let line = value?["line"]?.integer, let character = value?["character"]?.integer, line >= 0,
            character >= 0
        else {
            throw ResponseError(
                .invalidParams, "a position must have a `line` and a `character`, both non-negative integers")
        }
        return TextPosition(line: line, character: character)
    }

    static func range(_ value: JSONValue) throws(ResponseError) -> (TextPosition, TextPosition) {
        (try position(value["start"]), try position(value["end"]))
    }

    /// Returns the URI of `textDocument`.
    static func uri(_ params: JSONValue) throws(ResponseError) -> String {
        guard let uri = params["textDocument"]?["uri"]?.text else {
            throw ResponseError(.invalidParams, "`textDocument.uri` is missing")
        }
        return uri
    }

    // MARK: To the client

    static func range(_ span: Range<Int>, in text: DocumentText, _ encoding: PositionEncoding) -> JSONValue {
        .object([
            ("start", value(text.position(of: span.lowerBound, encoding))),
            ("end", value(text.position(of: span.upperBound, encoding))),
        ])
    }

    private static func value(_ position: TextPosition) -> JSONValue {
        .object([("line", .integer(position.line)), ("character", .integer(position.character))])
    }

    static func location(
        _ uri: String, _ span: Range<Int>, in text: DocumentText, _ encoding: PositionEncoding
    ) -> JSONValue {
        .object([("uri", .string(uri)), ("range", range(span, in: text, encoding))])
    }

    static func markup(_ text: String, isMarkdown: Bool) -> JSONValue {
        .object([("kind", .string(isMarkdown ? "markdown" : "plaintext")), ("value", .string(text))])
    }
}

/// The capabilities that the client has announced.
struct ClientCapabilities: Sendable {
    var encoding = PositionEncoding.utf16
    var hoversMarkdown = false
    var documentsMarkdown = false
    var hasRelatedInformation = false
    var hasSymbolTree = false

    init() {}

    init(_ params: JSONValue) {
        let all = params["capabilities"] ?? .null
        let document = all["textDocument"] ?? .null
        if Self.texts(all["general"]?["positionEncodings"]).contains(PositionEncoding.utf8.rawValue) {
            encoding = .utf8
        }
        hoversMarkdown = Self.texts(document["hover"]?["contentFormat"]).contains("markdown")
        let item = document["completion"]?["completionItem"]
        documentsMarkdown = Self.texts(item?["documentationFormat"]).contains("markdown")
        hasRelatedInformation = Self.isTrue(document["publishDiagnostics"]?["relatedInformation"])
        hasSymbolTree = Self.isTrue(document["documentSymbol"]?["hierarchicalDocumentSymbolSupport"])
    }

    private static func texts(_ value: JSONValue?) -> [String] {
        guard case .array(let values) = value else { return [] }
        return values.compactMap(\.text)
    }

    private static func isTrue(_ value: JSONValue?) -> Bool {
        if case .boolean(true) = value { true } else { false }
    }
}
