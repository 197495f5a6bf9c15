import ProbeBase
import ProbeScenario

/// A document that is open in the editor.
struct OpenDocument: Sendable {
    /// The maximum size of a document's text, in bytes. Larger text is not kept, because it can't be a scenario.
    static let largestText = 64 << 20

    let uri: String
    /// The absolute path of a `file:` document.
    let path: String?
    private(set) var version: JSONValue
    private(set) var text: DocumentText
    /// Whether the text is too large. The document then has no text until the client sends the complete text again.
    private(set) var isTooLarge = false
    /// The analysis of the current text; `nil` until it is needed.
    var analysis: ScriptAnalysis?
    /// Whether the document has changed since diagnostics were last published.
    var isUnpublished = true
    /// The files that the last analysis read or could not find.
    var includedPaths: Set<String> = []

    init(uri: String, version: JSONValue, text: String) {
        self.uri = uri
        path = DocumentPath.path(of: uri).map(ScriptPath.normalized)
        self.version = version
        self.text = DocumentText([])
        set(Array(text.utf8))
    }

    /// The name of the document in messages and in calls to the compiler.
    var name: String { path ?? uri }

    private mutating func set(_ bytes: [UInt8]) {
        isTooLarge = bytes.count > Self.largestText
        text = DocumentText(isTooLarge ? [] : bytes)
        forget()
    }

    /// Discards the text because it is too large.
    mutating func drop() {
        isTooLarge = true
        text = DocumentText([])
        forget()
    }

    /// Invalidates the analysis because the text, or a file to which it refers, has changed.
    mutating func forget() {
        analysis = nil
        isUnpublished = true
    }

    /// Applies the changes of a `didChange` notification in order.
    ///
    /// - Throws: an error if a change is invalid; the changes before it have been applied.
    mutating func apply(
        _ changes: [JSONValue], version: JSONValue, _ encoding: PositionEncoding
    ) throws(ResponseError) {
        self.version = version
        forget()
        for change in changes {
            guard let new = change["text"]?.text else {
                throw ResponseError(.invalidParams, "a change must have a `text`")
            }
            guard let range = change["range"], !range.isNull else {
                set(Array(new.utf8))
                continue
            }
            let (start, end) = try ProtocolValue.range(range)
            if isTooLarge { continue }
            text.replace(start, end, with: Array(new.utf8), encoding)
            if text.bytes.count > Self.largestText { drop() }
        }
    }
}
