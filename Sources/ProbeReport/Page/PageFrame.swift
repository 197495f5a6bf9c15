/// The frame of every page of this package: one file without scripts, with a policy that forbids them and everything
/// from elsewhere. Bytes from the wire therefore remain text even if one of them were not escaped.
package enum PageFrame {
    /// Returns a whole document.
    ///
    /// - Parameters:
    ///   - title: the text of the window's title.
    ///   - styles: the rules that follow ``PageStyle``.
    package static func document(title: String, styles: [HTMLText], body: HTMLText) -> String {
        "\(beginning(title: title, styles: styles).markup)\(body.markup)\(end.markup)"
    }

    /// Returns the markup before the body's content.
    package static func beginning(title: String, styles: [HTMLText]) -> HTMLText {
        var page = HTMLText(
            markup: """
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">

                """)
        page += .element("title", [:], .text(title))
        page.append("\n<style>")
        page += PageStyle.rules
        for rules in styles { page += rules }
        page.append("</style>\n</head>\n<body>\n")
        return page
    }

    /// The markup after the body's content.
    package static let end = HTMLText(markup: "\n</body>\n</html>\n")

    /// Returns a date such as `2026-11-21 22:10 UTC`.
    package static func date(_ seconds: Int64) -> String {
        let text = DateText.iso8601(seconds)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
    }
}
