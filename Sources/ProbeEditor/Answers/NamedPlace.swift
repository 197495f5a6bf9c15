import ProbeScenario

/// The element to which a position in a document refers: a name, a path, or words of the language.
struct NamedPlace: Sendable {
    /// An occurrence of a name.
    struct NameUse: Sendable {
        var name: String
        var span: Range<Int>
        /// Whether the name is that of a definition (`do NAME`, `define NAME`). Definitions have a separate namespace.
        var isDefinitionName = false
    }

    /// The location that defines a name.
    struct Found: Sendable {
        /// The index of the file within the analysis.
        var file: Int
        var binding: ScriptOutline.Binding
    }

    let analysis: ScriptAnalysis

    private var outline: ScriptOutline { analysis.document.outline }

    // MARK: Names

    /// Returns the name at an offset: a word, or a name in a `${…}` inside a string.
    func name(at offset: Int) -> NameUse? {
        guard !outline.isInComment(offset), let index = outline.token(at: offset) else { return nil }
        let token = outline.tokens[index]
        switch token.kind {
        case .word:
            let before = index > 0 ? outline.tokens[index - 1] : nil
            let keyword = before.map { $0.kind == .word ? outline.text(of: $0) : "" } ?? ""
            return NameUse(
                name: outline.text(of: token), span: Int(token.start)..<Int(token.end),
                isDefinitionName: keyword == "do" || keyword == "define")
        case .string, .rawString, .shellWord, .regex, .invalid:
            return interpolated(at: offset, in: Int(token.start)..<Int(token.end))
        default: return nil
        }
    }

    /// Returns the name at an offset inside a string: the first name of a `${S.port}` around the offset, or the name at
    /// the offset in `${n + m}`; otherwise a named group of a regex.
    private func interpolated(at offset: Int, in span: Range<Int>) -> NameUse? {
        let bytes = outline.bytes
        var start = min(offset, span.upperBound)
        while start > span.lowerBound, Self.isNameByte(bytes[start - 1]) { start -= 1 }
        var end = min(offset, span.upperBound)
        while end < span.upperBound, Self.isNameByte(bytes[end]) { end += 1 }
        // From a property, the search continues back to the name that the property belongs to.
        while start > span.lowerBound, bytes[start - 1] == UInt8(ascii: ".") {
            end = start - 1
            start = end
            while start > span.lowerBound, Self.isNameByte(bytes[start - 1]) { start -= 1 }
        }
        guard start < end else { return nil }
        let use = NameUse(name: String(decoding: bytes[start..<end], as: UTF8.self), span: start..<end)
        var index = start
        while index > span.lowerBound, bytes[index - 1] != UInt8(ascii: "}") {
            if bytes[index - 1] == UInt8(ascii: "{"), index - 1 > span.lowerBound, bytes[index - 2] == UInt8(ascii: "$")
            {
                return use
            }
            index -= 1
        }
        return outline.bindings.contains { $0.span == use.span } ? use : nil
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte | 0x20) || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "-")
    }

    /// Returns the location that defines a name: the last definition before the use or, if there is none, the first
    /// definition. The document is searched before the files that it includes.
    func binding(of use: NameUse) -> Found? {
        for (file, content) in analysis.files.enumerated() {
            let fitting = content.outline.bindings.filter {
                $0.name == use.name && ($0.role == .definition) == use.isDefinitionName
            }
            let before = file == 0 ? fitting.last { $0.span.lowerBound <= use.span.lowerBound } : nil
            if let binding = before ?? fitting.first { return Found(file: file, binding: binding) }
        }
        return nil
    }

    // MARK: Files

    /// Returns the path at an offset, if it is after `include` or inside `file(…)`.
    func file(at offset: Int) -> String? {
        guard
            let reference = outline.files.first(where: {
                $0.span.lowerBound - 1 <= offset && offset <= $0.span.upperBound + 1
            })
        else { return nil }
        return analysis.path(of: reference, in: 0)
    }

    // MARK: Words

    /// Returns the word at an offset, even if the word is in a comment or is not part of the language, so that
    /// diagnostic ids are found.
    func word(at offset: Int) -> String? {
        let bytes = outline.bytes
        guard offset <= bytes.count else { return nil }
        var start = offset
        while start > 0, Self.isNameByte(bytes[start - 1]) { start -= 1 }
        var end = offset
        while end < bytes.count, Self.isNameByte(bytes[end]) { end += 1 }
        return start < end ? String(decoding: bytes[start..<end], as: UTF8.self) : nil
    }
}
