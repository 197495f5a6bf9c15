import ProbeBase
import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

@Suite struct MatrixPageTests {
    @Test func pageMatchesGoldenText() throws {
        try GoldenText.check(MatrixRecorderTests.document(.html, MatrixSamples.rules()), "matrix.html")
    }

    /// A program that reads pages, separated by form feeds, in the same way as a browser. It checks that each page is
    /// well-formed and has no script and no external resource, and that every link has a target. It prints the text
    /// that is visible.
    static let reader = """
        import sys
        from html.parser import HTMLParser
        VOID = {"meta", "input"}
        TAGS = set("html head meta title style body header section article main table caption thead tbody tr th td h1 h2 h3 p a "
            "b i span small code pre ul li details summary svg rect fieldset legend label".split()) | VOID
        ATTRIBUTES = set("lang charset http-equiv content name class id href title scope type for checked aria-label aria-hidden "
            "open download rel viewbox preserveaspectratio width height".split())
        class Page(HTMLParser):
            def __init__(self):
                super().__init__(convert_charrefs=True)
                self.open, self.ids, self.links, self.text = [], [], [], []
            def handle_starttag(self, tag, attributes):
                assert tag in TAGS, tag
                names = [name for name, _ in attributes]
                assert len(set(names)) == len(names), names
                for name, value in attributes:
                    assert name in ATTRIBUTES, (tag, name)
                    assert not any(ord(c) < 32 or ord(c) == 127 for c in value or ""), (name, value)
                    if name == "id":
                        assert value and " " not in value
                        self.ids.append(value)
                    if name == "href":
                        self.links.append(value)
                if tag not in VOID:
                    self.open.append(tag)
            def handle_startendtag(self, tag, attributes):
                assert False, tag
            def handle_endtag(self, tag):
                assert self.open and self.open[-1] == tag, (tag, self.open)
                self.open.pop()
            def handle_data(self, data):
                if self.open and self.open[-1] == "style":
                    assert "@import" not in data and "url(" not in data and "<" not in data
                else:
                    self.text.append(data)
            def handle_comment(self, data): assert False, data
            def handle_pi(self, data): assert False, data
            def unknown_decl(self, data): assert False, data
        for document in sys.stdin.buffer.read().decode("utf-8").split("\\x0c"):
            assert document.startswith("<!DOCTYPE html>\\n"), document[:40]
            page = Page()
            page.feed(document)
            page.close()
            assert page.open == [], page.open
            assert len(set(page.ids)) == len(page.ids), page.ids
            for link in page.links:
                inside = link.startswith("#") and (link == "#-" or link[1:] in page.ids)
                issue = link.startswith("https://github.com/example/project/issues/")
                file = link.split("/")[0] in ("..", "tcpprobe-out") or link.replace("%", "").replace(".", "").replace(
                    "_", "").replace("-", "").replace("/", "").isalnum()
                assert inside or issue or (file and ":" not in link and not link.startswith("/")), link
            assert "default-src 'none'" in document
            sys.stdout.buffer.write(("".join(page.text) + "\\x0c").encode("utf-8"))
        """

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func pageIsWellFormed() throws {
        let text = try Python.run(Self.reader, input: MatrixRecorderTests.document(.html, MatrixSamples.rules()))
        for shown in [
            "How 3 transports behave", "close/eof-mid-line", "the title of framing/crlf", MatrixSamples.about,
            "example/project#12", "T expected the line \"220 ready\"; another one came", "first difference at byte 9",
            "FAILED  crlf.scn:10", "Expected: failed, according to expectations.txt:3: delivers the rest as a line",
        ] { #expect(text.contains(shown), "\(shown)") }
    }

    /// Text from the wire, from a program, from a script or from an adapter's name must be escaped in every format.
    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func hostileTextIsEscaped() throws {
        let pages = Self.hostile.map { MatrixRecorderTests.document(.html, events: $0, planned: []) }
        #expect(pages.allSatisfy { !$0.contains("\u{c}") })
        let texts = try Python.run(Self.reader, input: pages.joined(separator: "\u{c}")).split(
            separator: "\u{c}", omittingEmptySubsequences: false)
        for (bytes, text) in zip(Self.bytes, texts) {
            let shown = Escaped.text(String(decoding: bytes, as: UTF8.self))
            #expect(text.contains(shown))
        }
    }

    private static let bytes: [[UInt8]] =
        EscapingTests.hostile + [
            Array("<script>alert(1)</script><img src=x onerror=alert(1)>".utf8),
            Array("\" onmouseover=\"alert(1)".utf8),
            Array("' style='x' </title></style></pre><!-- --> <![CDATA[ <?php".utf8),
            Array("javascript:alert(1)".utf8), Array("a|b`c*d_e[f](javascript:g)\n\n# h\n| --- |\n".utf8),
            Array("&lt;script&gt;&#x3c;".utf8),
        ]

    private static let hostile: [[RunEvent]] = bytes.map { EscapingTests.events($0) }

    @Test(arguments: hostile.indices) func hostileTextCreatesNoMarkdown(index: Int) {
        let text = MatrixRecorderTests.document(.markdown, events: Self.hostile[index], planned: [])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // Every line must begin as a heading, a table row of two or three columns, or a list item.
        for line in lines {
            #expect(line.isEmpty || ["# ", "## ", "| ", "- ", "**"].contains { line.hasPrefix($0) }, "\(line)")
            if line.hasPrefix("| ") { #expect(line.split(separator: "|", omittingEmptySubsequences: false).count == 4) }
        }
        #expect(!text.contains("<script") && !text.contains("<img"))
    }

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func hostileTextIsValidJSON() throws {
        let texts = Self.hostile.map { MatrixRecorderTests.document(.json, events: $0, planned: []) }
        let input = texts.joined(separator: "\u{c}")
        let lines = try Python.run(MatrixRecorderTests.validator, [MatrixRecorderTests.schema], input: input)
        #expect(lines.split(separator: "\n").count == texts.count)
    }

    @Test(arguments: [
        ("example/project#12", "https://github.com/example/project/issues/12"),
        ("a.b/c-d_e#1", "https://github.com/a.b/c-d_e/issues/1"),
        ("RFC 9293", nil), ("a/b", nil), ("a/b#", nil), ("a/b#1x", nil), ("../..#1", nil), ("a/b/c#1", nil),
        ("a\"/b#1", nil), ("a/b#1#2", nil), ("/b#1", nil),
    ])
    func issuesAreLinked(text: String, address: String?) {
        #expect(IssueLink.address(text) == address)
    }

    @Test(arguments: [
        ("/w/site/index.html", "/w/out/a.pcapng", "../out/a.pcapng"), ("/w/r.html", "/w/out/a.pcapng", "out/a.pcapng"),
        ("/w/./x/../r.html", "/w/out/a b%[\"x\"].pcapng", "out/a%20b%25%5B%22x%22%5D.pcapng"),
        ("/r.html", "/javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("r.html", "tcpprobe-out/é.pcapng", "tcpprobe-out/%C3%A9.pcapng"),
        ("a/b/r.html", "c.pcapng", "../../c.pcapng"),
    ])
    func captureLinksAreRelativeToThePage(page: String, capture: String, link: String) {
        #expect(RelativePath.link(from: RelativePath.folder(of: page), to: capture) == link)
    }

    /// Different ids must have different anchors, even if they differ only in a byte that an anchor can't contain.
    @Test func anchorsAreUnique() {
        let texts = ["a", "a b", "a~20b", "a:b", "a%b", "a[x=\"1\"]", "a[x='1']", "é", ""]
        let anchors = texts.map { PageAnchor.of($0) } + texts.flatMap { id in texts.map { PageAnchor.of(id, $0) } }
        #expect(Set(anchors).count == anchors.count)
    }
}
