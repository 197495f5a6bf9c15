import ProbeBase
import ProbeScenario

/// A document as it stands in the editor.
struct OpenDocument: Sendable {
    /// A larger text is not kept: it is no scenario.
    static let largestText = 64 << 20

    let uri: String
    /// Of a `file:` document: absolute.
    let path: String?
    private(set) var version: JSONValue
    private(set) var text: DocumentText
    /// The text is too large: nothing is known of it until it comes as a whole again.
    private(set) var isTooLarge = false
    /// Of the text as it stands; nil until it is asked for.
    var analysis: ScriptAnalysis?
    /// Its diagnostics have not been told since the last change.
    var isUntold = true
    /// The files that the last analysis read or missed.
    var includedPaths: Set<String> = []

    init(uri: String, version: JSONValue, text: String) {
        self.uri = uri
        path = DocumentPath.path(of: uri).map(ScriptPath.normalized)
        self.version = version
        self.text = DocumentText([])
        set(Array(text.utf8))
    }

    /// What messages and the compiler call it.
    var name: String { path ?? uri }

    private mutating func set(_ bytes: [UInt8]) {
        isTooLarge = bytes.count > Self.largestText
        text = DocumentText(isTooLarge ? [] : bytes)
        forget()
    }

    /// The text is not kept any more, for its size.
    mutating func drop() {
        isTooLarge = true
        text = DocumentText([])
        forget()
    }

    /// The analysis does not hold any more: the text, or a file that it names, is another one.
    mutating func forget() {
        analysis = nil
        isUntold = true
    }

    /// Applies the changes of a `didChange`, in their order.
    ///
    /// - Throws: if one is none; those before it have been applied.
    mutating func apply(
        _ changes: [JSONValue], version: JSONValue, _ encoding: PositionEncoding
    ) throws(ResponseError) {
        self.version = version
        forget()
        for change in changes {
            guard let new = change["text"]?.text else {
                throw ResponseError(.invalidParams, "a change has a text")
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
