import ProbeEvents
import ProbeScenario
import Testing

/// Every statement that sets up a condition that must take effect. If the statement has no effect, the case is
/// inconclusive, and the finding names the statement's line.
///
/// The rows are compared with the table of the language: each new state or statement needs a row here, as does each
/// packet fault whose example in that table can't be used.
@Suite struct ConditionTableTests {
    /// A statement in two scripts: one in which it takes effect, and one in which it doesn't.
    struct Row: Sendable, CustomTestStringConvertible {
        /// The statement's key, as returned by ``ConditionTableTests/key(of:)``.
        var key: String
        /// A script in which the statement takes effect.
        var met: String
        /// A script in which the statement, whose line ends in `#!`, has no effect.
        var unmet: String

        init(_ key: String, met: String, unmet: String) { (self.key, self.met, self.unmet) = (key, met, unmet) }

        var testDescription: String { key }
    }

    // MARK: Links

    private static let open = "C connect\nS accept\n"
    private static let talk = "S send \"a\"\nC expect \"a\"\n"
    /// Steps after which each side has received the other side's data. Afterwards, C sends at most one more ACK.
    private static let talkBack = talk + "C send \"b\"\nS expect \"b\"\n"
    /// Steps after which a packet sent by S has arrived at the link.
    private static let onTheLink = "S send \"a\"\nwire S -> C segments >= 1\n"

    private static func link(_ word: String, met: String, unmet: String) -> Row {
        let header = "timeout 10s\nserver S\nclient C -> S\nlink S <-> C\n"
        return Row("link \(word)", met: header + met, unmet: header + unmet)
    }

    /// A fault that applies to a single packet: the first data packet, or a second data packet that is never sent.
    private static func fault(_ word: String, _ rest: String = "", after steps: String = talk) -> Row {
        link(
            word, met: "\(open)link S -> C \(word) data 1\(rest)\n\(steps)",
            unmet: "\(open)link S -> C \(word) data 2\(rest) #!\n\(steps)")
    }

    /// The faults that apply to a single packet. They are derived from their examples in the table, such as `delay data
    /// 2 by 40ms`.
    private static let ofPackets = LanguageTable.all.compactMap { listed -> Row? in
        let words = listed.entry.example.split(separator: " ", maxSplits: 3)
        guard listed.category == .link, words.count > 2, words[1] == "data" else { return nil }
        // `alter` and `swap` need other scripts: an altered packet doesn't contain the bytes that were sent, and a
        // packet can be swapped only with a later one.
        if ["alter", "swap"].contains(words[0]) { return nil }
        return fault(String(words[0]), words.count > 3 ? " \(words[3])" : "")
    }

    private static let ofLinks = [
        fault("unreachable"), fault("alter", after: "S send \"ab\"\nC expect 2 bytes\n"),
        link(
            "drop", met: "\(open)link S -> C drop data 1..2\nS send \"a\" | \"b\" every 1ms\nC expect \"ab\"\n",
            unmet: "\(open)link S -> C drop data 1..3 #!\nS send \"a\" | \"b\" every 1ms\nC expect \"ab\"\n"),
        link(
            "drop", met: "\(open)link S -> C drop data 1\nlink S -> C drop data 1 again\n\(talk)",
            unmet: "\(open)link S -> C drop data 1 again #!\n\(talk)"),
        link(
            "drop", met: "\(open)link S -> C drop data all\n\(onTheLink)link S -> C heal\nC expect \"a\"\n",
            unmet: "\(open)link S -> C drop rst all #!\n\(talk)"),
        link(
            "swap", met: "\(open)link S -> C swap data 1\nS send \"a\" | \"b\"\nC expect \"ab\"\n",
            unmet: "\(open)link S -> C swap data 3 #!\nS send \"a\" | \"b\"\nC expect \"ab\"\n"),
        link(
            "delay", met: "link S -> C delay 5ms\n\(open)\(talk)", unmet: "\(open)\(talkBack)link C -> S delay 5ms #!\n"
        ),
        link(
            "release",
            met: "\(open)link S -> C hold data 1\n\(onTheLink)link S -> C release\nC expect \"a\"\n",
            unmet: "\(open)link S -> C release #!\n\(talk)"),
        link("reset", met: "\(open)\(talk)link S -> C reset\nC expect reset\n", unmet: "link S -> C reset #!\n\(open)"),
        link(
            "reset", met: "\(open)link S -> C reset behind data 1\nS send \"a\"\nC expect \"a\"\nC expect reset\n",
            unmet: "\(open)link S -> C reset behind data 2 #!\n\(talk)"),
        link(
            "inject", met: "\(open)link S -> C inject \"x\"\nC expect \"x\"\n",
            unmet: "link S -> C inject \"x\" #!\n\(open)\(talk)"),
        link(
            "zero-window", met: "\(open)\(talk)link C -> S zero-window\nC send \"b\"\nS expect \"b\"\n",
            unmet: "\(open)\(talkBack)link C -> S zero-window #!\n"),
        link(
            "window", met: "\(open)\(talk)link C -> S window 1000\nC send \"b\"\nS expect \"b\"\n",
            unmet: "\(open)\(talk)link C -> S window 1GiB #!\nC send \"b\"\nS expect \"b\"\n"),
        link("strip", met: "link C -> S strip sack\n\(open)", unmet: "\(open)link C -> S strip sack #!\n\(talkBack)"),
        // A link state that does not depend on the endpoints takes effect as soon as a packet crosses the link in that
        // state.
        link(
            "clamp mss", met: "link C -> S clamp mss 1460\n\(open)",
            unmet: "\(open)\(talkBack)link C -> S clamp mss 536 #!\n"),
        link(
            "clamp mss", met: "\(open)link S -> C clamp mss 536\n\(talk)",
            unmet: "\(open)link S -> C clamp mss 536 #!\n"),
        link(
            "mtu", met: "link S -> C mtu 1280 silent\n\(open)\(talk)", unmet: "link S -> C mtu 1280 silent #!\n\(open)"),
        link(
            "rate", met: "\(open)link S -> C rate 10kB/s\nS send \"a\" * 1000\nC expect \"a\" * 1000\n",
            unmet: "link S -> C rate 100MiB/s #!\n\(open)\(talk)"),
        link(
            "loss", met: "\(open)link S -> C loss 100%\n\(onTheLink)link S -> C heal\nC expect \"a\"\n",
            unmet: "link S -> C loss 0.001% seed 6 #!\n\(open)\(talk)"),
        link(
            "burst",
            met: "\(open)link S -> C loss 100%\nlink S -> C burst 1\n\(onTheLink)link S -> C heal\nC expect \"a\"\n",
            unmet: "link S -> C loss 0.001% seed 6 if needed\nlink S -> C burst 2 #!\n\(open)\(talk)"),
        link(
            "down", met: "\(open)link S -> C down\n\(onTheLink)link S -> C up\nC expect \"a\"\n",
            unmet: "\(open)\(talkBack)link C -> S down #!\n"),
        link(
            "up", met: "\(open)link S -> C down\n\(onTheLink)link S -> C up\nC expect \"a\"\n",
            unmet: "\(open)link S -> C up #!\n\(talk)"),
        link(
            "heal", met: "\(open)link S -> C down\n\(onTheLink)link S -> C heal\nC expect \"a\"\n",
            unmet: "\(open)link S -> C heal #!\n\(talk)"),
    ]

    // MARK: Proxies

    private static func proxy(_ word: String, met: String, unmet: String) -> Row {
        let script = "timeout 10s\nserver S\nproxy X -> S\nclient C -> X\nC connect\nX accept\nS accept\n"
        return Row("proxy \(word)", met: script + met, unmet: script + unmet)
    }

    /// A step that applies to future connections; in the second script, there are no future connections.
    private static func ending(_ step: String, then steps: String) -> Row {
        let header = "timeout 10s\nserver S\nproxy X -> S\n"
        return Row(
            "proxy \(step.split(separator: " ")[0])",
            met: "\(header)client C -> X\nC connect\nX accept\nS accept\nX \(step)\n\(steps)",
            unmet: "\(header)client C -> S\nX \(step) #!\n\(open)\(talk)")
    }

    private static let words = "S send \"abc\"\nC expect \"abc\"\n"

    private static let ofProxies = [
        proxy("forward", met: "X forward to client\n\(talk)", unmet: "\(talk)X forward to client #!\n"),
        proxy(
            "forward", met: "X forward to client cut at 1, 2\n\(words)",
            unmet: "X forward to client cut at 1, 3 #!\n\(words)"),
        proxy(
            "forward", met: "X forward to client in pieces of 1B\n\(words)",
            unmet: "X forward to client in pieces of 3B #!\n\(words)"),
        proxy(
            "forward", met: "X forward to client cut at random seed 7\nS send \"a\" * 200\nC expect \"a\" * 200\n",
            unmet: "X forward to client cut at random seed 7 #!\n\(talk)"),
        proxy(
            "forward", met: "X forward to client in pieces of 1B every 5ms\n\(words)",
            unmet: "X forward to client every 5ms #!\n\(talk)"),
        proxy(
            "forward", met: "X forward to client at 1kB/s\nS send \"a\" * 100\nC expect \"a\" * 100\n",
            unmet: "X forward to client at 100MiB/s #!\n\(talk)"),
        proxy(
            "forward", met: "X forward to client delayed by 10ms\n\(talk)",
            unmet: "\(talk)X forward to client delayed by 10ms #!\n"),
        proxy(
            "forward", met: "X forward to client joined\n\(talk)", unmet: "\(talk)X forward to client joined #!\n"),
        proxy(
            "forward", met: "X forward 1 byte to client\nS send \"ab\"\nC expect \"a\"\nX release\nC expect \"b\"\n",
            unmet: "X forward 4 bytes to client #!\n\(words)"),
        proxy(
            "hold", met: "X hold to client\nS send \"a\"\nX expect \"a\" from server\n",
            unmet: "\(talk)X hold to client #!\n"),
        proxy(
            "release", met: "X hold to client\nS send \"a\"\nX expect \"a\" from server\nX release\nC expect \"a\"\n",
            unmet: "X release #!\n\(talk)"),
        proxy(
            "discard", met: "X discard to client\nS send \"a\"\nX expect \"a\" from server\n",
            unmet: "\(talk)X discard to client #!\n"),
        proxy(
            "replace", met: "X replace \"a\" with \"z\" to client\nS send \"a\"\nC expect \"z\"\n",
            unmet: "X replace \"z\" with \"a\" to client #!\n\(talk)"),
        ending("insert \"x\" to client", then: "C expect \"x\"\n"), ending("close to client", then: "C expect eof\n"),
        ending("half-close to client", then: "C expect eof\n"), ending("reset client", then: "C expect reset\n"),
        ending("vanish client", then: ""),
    ]

    // MARK: Names, subjects, connections

    private static func asking(_ database: String, header: String, before: String = "", after: String = "") -> String {
        "timeout 20s\nrequire command getent\nserver S on link\nserver R on [link6]\n"
            + "process P = getent \(database) dual.test\nlink S, R <-> P\nname \"other.test\" = R if needed\n\(header)\(before)P start\nP expect exit\n\(after)"
    }

    private static let meaning = "name \"dual.test\" = S, R"

    private static let ofNames = [
        // `getent ahostsv4` queries only IPv4 addresses.
        Row(
            "header name", met: asking("ahosts", header: "\(meaning)\n"),
            unmet: asking("ahostsv4", header: "\(meaning) #!\n")),
        Row(
            "header name", met: asking("ahostsv4", header: "name \"dual.test\" = S\n"),
            unmet: asking("ahostsv4", header: "name \"dual.test\" = S with aaaa after 10ms #!\n")),
        Row(
            "step name",
            met: asking(
                "ahosts", header: "name \"dual.test\" fails if needed\n", before: "note \"first\"\n\(meaning)\n"),
            unmet: asking("ahosts", header: "name \"dual.test\" nxdomain\n", after: "\(meaning) #!\n")),
    ]

    private static let others = [
        Row(
            "step whenever",
            met:
                "server S\nclient C -> S\n\(open)whenever C gets line /x/ { C send line \"y\" }\nS send line \"x\"\nS expect line \"y\"\n",
            unmet: "server S\nclient C -> S\n\(open)whenever C gets line /x/ { note \"x\" } #!\n\(talk)"),
        Row(
            "connection vanish", met: "server S\nclient C -> S\n\(open)C vanish silently\n",
            unmet: "server S\nclient C -> S\n\(open)S reset\nC expect reset\nC vanish silently #!\n"),
        Row(
            "subject framing",
            met:
                "server S\nsubject T -> S\nT start\nS accept\nT expect started\nT framing lf behind 1 message\nS send \"a\\r\\nb\\n\"\nT expect line \"a\"\nT expect line \"b\"\n",
            unmet:
                "server S\nsubject T -> S\nT start\nS accept\nT expect started\nT framing lf behind 2 messages #!\nS send \"a\\r\\n\"\nT expect line \"a\"\n"
        ),
    ]

    static let rows = ofPackets + ofLinks + ofProxies + ofNames + others

    // MARK: The table

    private static func key(of listed: ListedEntry) -> String {
        switch listed.category {
        case .verb: "\(listed.kind?.rawValue ?? "") \(listed.name)"
        case .header, .step: "\(listed.category) \(listed.name)"
        default: listed.name
        }
    }

    @Test func everyStatementHasARow() {
        let wanted = LanguageTable.all.filter { listed in
            let changesProxy = listed.kind == .proxy && listed.category == .verb && listed.name != "accept"
            #expect(
                listed.entry.canBeUnneeded || !(listed.category == .link || changesProxy),
                "\(listed.name) sets something up: `if needed` must be allowed")
            return listed.entry.canBeUnneeded
        }
        // The individual statements of a `link` step have rows, so the step itself needs none.
        let keys = Set(wanted.map(Self.key)).subtracting(["step link"])
        #expect(keys.count > 35)
        #expect(keys.subtracting(Self.rows.map(\.key)) == [], "these statements need a row")
    }

    @Test(arguments: rows)
    func effectiveStatementPasses(_ row: Row) async throws {
        try await verify(row.met, .passed, row)
    }

    @Test(arguments: rows)
    func ineffectiveStatementIsInconclusive(_ row: Row) async throws {
        try await verify(row.unmet, .inconclusive, row)
    }

    @Test(arguments: rows)
    func ineffectiveStatementPassesIfNeeded(_ row: Row) async throws {
        try await verify(row.unmet.replacing(" #!", with: " if needed"), .passed, row)
    }

    private func verify(_ script: String, _ verdict: Verdict, _ row: Row) async throws {
        let text = "scenario \"\(row.key.replacing("\"", with: ""))\"\n\(script)"
        let result = try await Stage.firstResult(text)
        let texts = result.findings.map(Scene.texts).joined(separator: "\n")
        if result.verdict == .skipped { try Test.cancel("\(row.key) can't be tested here: \(texts)") }
        if Stage.capture == nil, texts.contains("no capture here") { try Test.cancel("\(row.key): no capture here") }
        #expect(result.verdict == verdict, "\(text)\n\(texts)")
        guard verdict == .inconclusive else { return }
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.hasSuffix("#!") }
        let blamed = result.findings.first?.span.map { result.sources.location(of: $0).line - 1 }
        #expect(blamed == line && result.findings.count == 1, "\(text)\n\(texts)")
    }
}
