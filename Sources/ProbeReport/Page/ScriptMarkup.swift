import ProbeBase
import ProbeEvents
import ProbeScenario

/// A script on a page: numbered lines, with the failed lines marked.
struct ScriptMarkup {
    /// The maximum number of lines that are shown. In a longer script, only the lines around the failures are shown.
    private static let maxLines = 400
    /// The maximum number of bytes of a line that are shown.
    private static let widestLine = 2000

    let file: SourceFile
    /// The spans of the script that are marked.
    var spans: [SourceSpan] = []

    var html: HTMLText {
        let marked = Dictionary(spans.map { (file.lineAndColumn(at: $0.start).line, $0) }) { first, _ in first }
        let shown = window(around: marked.keys.min())
        let lines = shown.map { number in
            guard let span = marked[number] else { return .text(text(file.range(ofLine: number))) + .newline }
            return .element("mark", [:], line(number, span))
        }
        var html: HTMLText = .element(
            "div", ["class": "script", "tabindex": "0", "role": "group", "aria-label": "script \(file.path)"],
            .element("pre", ["class": "no", "aria-hidden": "true"], .lines(shown.map { "\($0)\n" }.joined())),
            .element("pre", [:], lines.joined))
        if shown.count < file.lineCount {
            let text = "Lines \(shown.lowerBound) to \(shown.upperBound - 1) of \(file.lineCount)."
            html += .element("p", ["class": "soft"], text)
        }
        return html
    }

    private func window(around line: Int?) -> Range<Int> {
        let all = 1..<(file.lineCount + 1)
        if all.count <= Self.maxLines { return all }
        let start = max(1, min((line ?? 1) - Self.maxLines / 2, all.upperBound - Self.maxLines))
        return start..<(start + Self.maxLines)
    }

    /// Returns a line, with the part that a finding refers to marked.
    private func line(_ number: Int, _ span: SourceSpan) -> HTMLText {
        let range = file.range(ofLine: number)
        let start = min(max(span.start, range.lowerBound), range.upperBound)
        let end = min(max(span.end, start), range.upperBound)
        return .text(text(range.lowerBound..<start)) + .element("u", [:], text(start..<end))
            + .text(text(end..<range.upperBound))
    }

    private func text(_ range: Range<Int>) -> String {
        let shown = range.prefix(Self.widestLine)
        let bytes = file.bytes[shown.startIndex..<shown.endIndex]
        // A tab is shown as spaces, not as an escape.
        let parts = bytes.split(separator: 9, omittingEmptySubsequences: false).map { Escaped.text($0) }
        return parts.joined(separator: "    ") + (shown.count < range.count ? "…" : "")
    }
}
