import ProbeBase
import ProbeEvents
import ProbeScenario

/// Collects the results of a page as markup, within limits on the size.
///
/// A page with many results loads slowly, and the results of a large run would use too much memory. Therefore the least
/// important parts are omitted first, and the page reports the omissions. They are omitted in this order: the diagrams
/// of cases that passed, the scripts of these cases, and then the diagrams and scripts of the last cases that did not
/// pass.
struct PageCases: Sendable {
    enum Section: Int, CaseIterable, Sendable {
        case bad, passed, other

        /// The heading of the section.
        var title: String {
            switch self {
            case .bad: "Not passed"
            case .passed: "Passed"
            case .other: "Skipped and unsupported"
            }
        }
    }

    /// The maximum sizes, in bytes.
    struct Limits: Sendable {
        /// The maximum total size, including the parts that can be omitted.
        var all = 24 << 20
        var passedDiagrams = 4 << 20
        var passedScripts = 6 << 20
        /// The maximum total size of the parts of a page that can't be omitted. Results beyond this limit are only
        /// counted.
        var least = 96 << 20
    }

    private struct Entry: Sendable {
        var section: Section
        var attributes: HTMLAttributes
        var summary: HTMLText
        var beginning: HTMLText
        /// The index of the script, if the result shares it with other cases that passed.
        var sharedScript: Int?
        var script: HTMLText?
        var diagram: HTMLText?
        var end: HTMLText
        var lacksScript = false
        var lacksDiagram = false
    }

    private struct SharedScript: Sendable {
        var path: String
        var markup: HTMLText?
        var users = 0
    }

    private let options: ReportOptions
    private let folder: [String]
    private let limits: Limits
    private var entries: [Entry] = []
    private var scripts: [SharedScript] = []
    private var scriptIndices: [String: Int] = [:]
    /// The results whose diagrams or scripts can be omitted, as indices into `entries`; the parts of the last result
    /// are omitted first.
    private var badDiagrams: [Int] = []
    private var badScripts: [Int] = []
    private var passedDiagrams: [Int] = []
    /// The scripts of cases that passed, as indices into `scripts`.
    private var passedScripts: [Int] = []
    /// The total size of all parts, in bytes.
    private var size = 0
    private var least = 0
    private var passedDiagramSize = 0
    private var passedScriptSize = 0
    /// The number of results that are only counted and not listed.
    private(set) var unlisted = 0
    private(set) var leftOutDiagrams = 0
    private(set) var leftOutScripts = 0

    init(options: ReportOptions, folder: [String], limits: Limits = Limits()) {
        (self.options, self.folder, self.limits) = (options, folder, limits)
    }

    func count(_ section: Section) -> Int { entries.count { $0.section == section } }

    // MARK: Adding

    /// Adds a result.
    ///
    /// - Returns: whether the result is listed, so that links to it have a target.
    @discardableResult
    mutating func add(_ result: CaseResult) -> Bool {
        guard least < limits.least else {
            unlisted += 1
            return false
        }
        let markup = CaseMarkup(result, options: options, folder: folder)
        let section: Section =
            result.verdict == .passed ? .passed : result.verdict < .unsupported ? .bad : .other
        var entry = Entry(
            section: section, attributes: markup.attributes, summary: markup.summary, beginning: markup.beginning,
            end: markup.end)
        let index = entries.count
        var unchanging = HTMLText.empty
        append(entry, to: &unchanging)
        least += unchanging.bytes.count
        size += unchanging.bytes.count
        switch section {
        case .passed:
            share(result, markup, &entry)
            addPassedDiagram(result, markup, index, &entry)
        case .bad: addBad(markup, index, &entry)
        case .other: break
        }
        entries.append(entry)
        shrink()
        return true
    }

    private mutating func addBad(_ markup: CaseMarkup, _ index: Int, _ entry: inout Entry) {
        // All less important parts have already been omitted.
        if size >= limits.all, passedDiagrams.isEmpty, passedScripts.isEmpty {
            (entry.lacksScript, entry.lacksDiagram) = (true, true)
            (leftOutScripts, leftOutDiagrams) = (leftOutScripts + 1, leftOutDiagrams + 1)
            return
        }
        if let script = markup.script {
            entry.script = script
            badScripts.append(index)
        }
        if let diagram = markup.diagram {
            entry.diagram = diagram
            badDiagrams.append(index)
        }
        size += (entry.script?.bytes.count ?? 0) + (entry.diagram?.bytes.count ?? 0)
    }

    /// Adds the script of a case that passed. All such cases of a script share one copy.
    private mutating func share(_ result: CaseResult, _ markup: CaseMarkup, _ entry: inout Entry) {
        guard let file = result.sources.files.first else { return }
        if let known = scriptIndices[result.path] {
            entry.sharedScript = known
            scripts[known].users += 1
            return
        }
        var shared = SharedScript(path: result.path, users: 1)
        if passedScriptSize < limits.passedScripts, size < limits.all {
            let markup = ScriptMarkup(file: file).html
            passedScriptSize += markup.bytes.count
            size += markup.bytes.count
            shared.markup = markup
            passedScripts.append(scripts.count)
        }
        entry.sharedScript = scripts.count
        scriptIndices[result.path] = scripts.count
        scripts.append(shared)
    }

    private mutating func addPassedDiagram(
        _ result: CaseResult, _ markup: CaseMarkup, _ index: Int, _ entry: inout Entry
    ) {
        if result.timeline.isEmpty {
            // In a large run, only the first cases that passed have timelines.
            if !passedDiagrams.isEmpty {
                entry.lacksDiagram = true
                leftOutDiagrams += 1
            }
            return
        }
        guard passedDiagramSize < limits.passedDiagrams, size < limits.all, let diagram = markup.diagram else {
            entry.lacksDiagram = true
            leftOutDiagrams += 1
            return
        }
        entry.diagram = diagram
        passedDiagramSize += diagram.bytes.count
        size += diagram.bytes.count
        passedDiagrams.append(index)
    }

    /// Omits the least important parts until the page is within the size limit.
    private mutating func shrink() {
        while size > limits.all {
            if let index = passedDiagrams.popLast() {
                dropDiagram(index)
            } else if let index = passedScripts.popLast() {
                size -= scripts[index].markup?.bytes.count ?? 0
                scripts[index].markup = nil
            } else if let index = badDiagrams.popLast() {
                dropDiagram(index)
            } else if let index = badScripts.popLast() {
                size -= entries[index].script?.bytes.count ?? 0
                entries[index].script = nil
                entries[index].lacksScript = true
                leftOutScripts += 1
            } else {
                return
            }
        }
    }

    private mutating func dropDiagram(_ index: Int) {
        size -= entries[index].diagram?.bytes.count ?? 0
        entries[index].diagram = nil
        entries[index].lacksDiagram = true
        leftOutDiagrams += 1
    }

    // MARK: Writing

    /// Appends the sections to the main part of the page.
    func append(to main: inout HTMLText) {
        for section in Section.allCases {
            let count = count(section)
            if count == 0 { continue }
            main.append("section", ["class": "cases", "id": "-\(section)"]) { html in
                html += .element("h2", [:], .text("\(section.title) "), .element("small", [:], "\(count)")) + .newline
                for entry in entries where entry.section == section { append(entry, to: &html) }
            }
            main += .newline
        }
        appendScripts(to: &main)
    }

    private func append(_ entry: Entry, to html: inout HTMLText) {
        html.append("details", entry.attributes) { details in
            details += entry.summary
            details.append("div") { parts in
                parts += entry.beginning
                if let script = entry.script { parts += script }
                if let index = entry.sharedScript { parts += sharedScript(index) }
                if entry.lacksScript { parts += Self.noScript }
                if let diagram = entry.diagram { parts += diagram }
                if entry.lacksDiagram {
                    parts += .element(
                        "p", ["class": "soft"], "Diagram omitted, because the page would be too large.")
                }
                parts += entry.end
            }
        }
        html += .newline
    }

    private static let noScript: HTMLText = .element(
        "p", ["class": "soft"], "Script omitted, because the page would be too large.")

    private func sharedScript(_ index: Int) -> HTMLText {
        guard let markup = scripts[index].markup else { return Self.noScript }
        guard scripts[index].users > 1 else { return .element("h4", [:], "Script") + markup }
        return .element("p", ["class": "soft"], .element("a", ["href": "#-script-\(index)"], "The script"))
    }

    private func appendScripts(to main: inout HTMLText) {
        let shared = scripts.indices.filter { scripts[$0].users > 1 && scripts[$0].markup != nil }
        if shared.isEmpty { return }
        main.append("section", ["class": "cases", "id": "-scripts"]) { html in
            html += .element("h2", [:], "Scripts of several cases") + .newline
            for index in shared {
                html += .element(
                    "details", ["class": "case", "id": "-script-\(index)"],
                    .element("summary", [:], .element("h3", [:], scripts[index].path)),
                    .element("div", [:], scripts[index].markup ?? .empty))
                html += .newline
            }
        }
        main += .newline
    }
}
