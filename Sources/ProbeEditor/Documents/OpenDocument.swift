import ProbeBase
import ProbeScenario

/// A document as it is open in the editor.
struct OpenDocument: Sendable {
    /// The maximum size of a text, in bytes. A larger one is not kept, because it can't be a scenario.
    static let largestText = 64 << 20

    let uri: String
    /// The absolute path of a `file:` document.
    let path: String?
    private(set) var version: JSONValue
    private(set) var text: DocumentText
    /// Whether the text is too large. Nothing is known about it until the client sends the whole text again.
    private(set) var isTooLarge = false
    /// The analysis of the current text; `nil` until it is needed.
    var analysis: ScriptAnalysis?
    /// Whether diagnostics have not been published since the last change.
    var isUnpublished = true
    /// The files that the last analysis read or did not find.
    var includedPaths: Set<String> = []

    init(uri: String, version: JSONValue, text: String) {
        self.uri = uri
        path = DocumentPath.path(of: uri).map(ScriptPath.normalized)
        self.version = version
        self.text = DocumentText([])
        set(Array(text.utf8))
    }

    /// The document's name in messages and for the compiler.
    var name: String { path ?? uri }

    private mutating func set(_ bytes: [UInt8]) {
        isTooLarge = bytes.count > Self.largestText
        text = DocumentText(isTooLarge ? [] : bytes)
        forget()
    }

    /// Discards the text because of its size.
    mutating func drop() {
        isTooLarge = true
        text = DocumentText([])
        forget()
    }

    /// Invalidates the analysis because the text, or a file that it names, has changed.
    mutating func forget() {
        analysis = nil
        isUnpublished = true
    }

    /// Applies the changes of a `didChange`, in order.
    ///
    /// - Throws: an error if a change is invalid; earlier changes have been applied.
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
