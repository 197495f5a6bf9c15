import ProbeBase
import ProbeEvents

/// The frame of every page. A page is a single file without scripts, and its content security policy forbids scripts
/// and all external resources. Bytes from the wire are therefore harmless even if some of them are not escaped.
package enum PageFrame {
    /// Returns a complete document in UTF-8.
    ///
    /// - Parameters:
    ///   - title: the title of the browser's window.
    ///   - styles: the parts of the style sheet that are added to the shared part.
    ///   - content: a closure that appends the content of the body.
    package static func document(
        title: String, styles: [PageStyle], content: (inout HTMLText) -> Void
    ) -> [UInt8] {
        var page = HTMLText(markup: "<!DOCTYPE html>\n")
        page.append("html", ["lang": "en"]) { page in
            page += .newline
            page.append("head") { head in
                head += HTMLText(
                    markup: """

                        <meta charset="utf-8">
                        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
                        <meta name="viewport" content="width=device-width, initial-scale=1">
                        <meta name="color-scheme" content="light dark">

                        """)
                head += .element("title", [:], title) + .newline
                head += .element("style", [:], ([.shared] + styles).map(\.rules).joined) + .newline
            }
            page += .newline
            page.append("body") { body in
                body += .newline
                content(&body)
                body += .newline
            }
            page += .newline
        }
        page += .newline
        return page.bytes
    }

    /// Returns the header of a page.
    ///
    /// - Parameters:
    ///   - facts: short texts that describe the subject of the page, shown on one line.
    ///   - content: the markup below the facts, such as ``alarm(_:)``.
    package static func header(_ title: String, facts: [String], _ content: HTMLText) -> HTMLText {
        .element("header", [:], .element("h1", [:], title), Self.facts(facts), content)
    }

    /// Returns a paragraph that shows the given short texts on one line.
    package static func facts(_ facts: [String]) -> HTMLText {
        .element("p", ["class": "facts"], facts.map { HTMLText.element("span", [:], $0) }.joined)
    }

    /// Returns a prominently displayed note.
    package static func alarm(_ text: String) -> HTMLText { .element("p", ["class": "alarm"], text) }

    /// Returns the facts of a run: the counts, the date, the duration and the version of the tool.
    static func facts(of summary: RunSummary, counts: [String], _ options: ReportOptions) -> [String] {
        var facts = counts
        if let startedAt = options.startedAt {
            let date = DateText.iso8601(startedAt)
            facts.append("\(date.prefix(10)) \(date.dropFirst(11).prefix(5)) UTC")
        }
        facts.append(DurationText.rounded(nanoseconds: summary.duration))
        if !options.version.isEmpty { facts.append("tcpprobe \(options.version)") }
        return facts
    }
}
