import ProbeBase
package import ProbeEvents

/// Writes the run as one HTML page for people: counts, the cases that did not pass and, for each case, its script, a
/// sequence diagram and its findings.
///
/// The page is written when the run has ended. Until then, the results are kept as markup, in bounded memory
/// (``PageCases``).
package struct HTMLRecorder: Recorder {
    /// The maximum number of rounds with the same verdict that are listed for a case that did not pass.
    private static let maxRounds = 20

    private let options: ReportOptions
    private var cases: PageCases
    private var overview: RunOverview
    private var unlistedRounds = 0

    /// Creates a recorder.
    ///
    /// - Parameter path: the path of the page; `-` is standard output. Links to captures are relative to the page.
    package init(path: String, options: ReportOptions) {
        self.init(path: path, options: options, limits: PageCases.Limits())
    }

    init(path: String, options: ReportOptions, limits: PageCases.Limits) {
        self.options = options
        cases = PageCases(
            options: options, folder: RelativePath.folder(of: path == "-" ? "page" : path), limits: limits)
        overview = RunOverview(options: options)
    }

    package mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8] {
        switch event {
        case .started, .caseStarted, .exploring: break
        case .message(let text): overview.note(text)
        case .caseEnded(let result): add(result)
        case .ended(let summary): return document(summary)
        }
        return []
    }

    private mutating func add(_ result: CaseResult) {
        // Only the first passed round of each case is listed.
        if result.round != nil {
            let most = result.verdict < .unsupported ? Self.maxRounds : 1
            if overview.hasSeen(result.verdict, of: result.key) >= most {
                unlistedRounds += 1
                overview.add(result, isListed: false)
                return
            }
        }
        let isListed = cases.add(result)
        overview.add(result, isListed: isListed)
    }

    private mutating func document(_ summary: RunSummary) -> [UInt8] {
        if unlistedRounds > 0 {
            overview.note(
                "\(ByteText.count(unlistedRounds, "further round")) with the same verdict counted, but not listed")
        }
        let top = PageOverview(overview: overview, cases: cases, summary: summary, options: options)
        return PageFrame.document(title: "tcpprobe: \(top.verdicts)", styles: [.run, .diagram]) { body in
            body += top.html
            body.append("main") { main in
                main += .newline
                cases.append(to: &main)
            }
        }
    }
}
