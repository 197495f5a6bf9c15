import ProbeScenario

/// The change that `tcpprobe fmt` would make, as a single edit of the lines that differ.
enum FormattingEdit {
    struct Edit: Equatable, Sendable {
        /// The range of bytes that the edit replaces.
        var range: Range<Int>
        var text: [UInt8]
    }

    /// Returns the edit; `nil` if the text is already formatted or can't be parsed.
    static func edit(path: String, bytes: [UInt8]) -> Edit? {
        guard case .formatted(let new) = ScenarioFormatter.format(path: path, bytes: bytes), new != bytes else {
            return nil
        }
        var prefix = 0
        while prefix < bytes.count, prefix < new.count, bytes[prefix] == new[prefix] { prefix += 1 }
        var suffix = 0
        while suffix < bytes.count - prefix, suffix < new.count - prefix,
            bytes[bytes.count - 1 - suffix] == new[new.count - 1 - suffix]
        {
            suffix += 1
        }
        // The edit consists of whole lines, so that it does not begin inside a character or between CR and LF.
        while prefix > 0, bytes[prefix - 1] != 0x0A { prefix -= 1 }
        while suffix > 0, bytes.count - suffix > prefix, bytes[bytes.count - suffix - 1] != 0x0A { suffix -= 1 }
        return Edit(range: prefix..<bytes.count - suffix, text: Array(new[prefix..<new.count - suffix]))
    }
}

/// The command of a code lens that is shown above the title of a script.
struct RunLens: Equatable, Sendable {
    /// The maximum number of lenses for individual cases.
    static let maxCases = 5

    var title: String
    /// The label of the case that the lens runs; `nil` for all cases.
    var label: String?

    /// Returns the lenses of a script. A script with errors has no lenses, because none of its cases can run.
    static func lenses(of analysis: ScriptAnalysis) -> [RunLens] {
        guard analysis.caseCount > 0 else { return [] }
        let all = RunLens(title: analysis.caseCount == 1 ? "▶ run" : "▶ run \(analysis.caseCount) cases", label: nil)
        let labels = analysis.labels.prefix(maxCases).filter { !$0.isEmpty }
        return [all] + labels.map { RunLens(title: "▶ \($0)", label: $0) }
    }

    /// Returns the range of the `scenario` line, at which lenses are shown.
    static func place(in outline: ScriptOutline) -> Range<Int>? {
        let title = outline.statements.indices.first { index in
            outline.statements[index].tokens.first.map { outline.text(of: outline.tokens[$0]) } == "scenario"
        }
        return title.map { outline.span(of: $0) }
    }
}
