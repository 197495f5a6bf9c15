import ProbeBase

/// A word of the language that has no entry in ``LanguageTable``, because it does not begin a statement, a verb, an
/// expectation or a function. Examples are the words of clauses, options, properties and verdicts. `tcpprobe explain`
/// explains these words in addition to the entries of the table.
package struct LanguageWord: Sendable {
    /// The category of the word, as given in the first line of the explanation.
    package enum Category: String, Sendable {
        case timeClause = "a time clause of a step"
        case sendClause = "a clause of a send"
        case clause = "a clause"
        case socketOption = "a socket option"
        case subjectOption = "an option of a subject"
        case tlsOption = "an option of TLS"
        case selection = "a selection of packets"
        case property = "a property"
        case framing = "a framing"
        case capability = "a capability of a subject"
        case requirement = "a requirement"
        case reason = "a reason"
        case level = "a level"
        case verdict = "a verdict"
        case unit = "a unit"
        case sign = "a sign"
    }

    /// The spellings under which a user may look up the word.
    package var names: [String]
    package var category: Category
    package var meaning: String
    /// An example of one or more lines; `nil` if the forms in which the word appears are clear enough.
    package var example: String?

    private init(_ names: String..., category: Category, _ meaning: String, example: String? = nil) {
        (self.names, self.category, self.meaning, self.example) = (names, category, meaning, example)
    }
}

extension LanguageWord {
    /// All explained words. Words with the same spelling are explained in the order of this list.
    package static let all: [LanguageWord] =
        timeClauses + sendClauses + clauses + options + selections + properties + framings + capabilities
        + requirements + reasons + verdicts + notation

    /// The first words of all clauses.
    static let clauseWords = (timeClauses + sendClauses + clauses).flatMap(\.names)
        .map { String($0.prefix(while: { $0 != " " })) }

    private static let timeClauses = [
        LanguageWord(
            "within", category: .timeClause,
            "The step must complete within the given time, counted from the end of the previous step. Without the "
                + "clause, the deadline is the `timeout` of the header, 5 s by default. The limit in `wire … first "
                + "byte within` is counted from the end of the handshake.",
            example: "C expect line \"220 ready\" within 2s"),
        LanguageWord(
            "after", category: .timeClause,
            "The event that the step waits for must not happen before the given time has passed, counted from the end "
                + "of the previous step. `after` and `within` can be combined.",
            example: "C expect line \"421 timeout\" after 900ms within 2s"),
        LanguageWord(
            "for", category: .timeClause,
            "The time during which nothing must happen. If nothing happens, the step passes at the end of this time.",
            example: "C expect nothing for 200ms"),
        LanguageWord(
            "every", category: .timeClause,
            "The time between two pieces of a send, two reads, two attempts of a `retry`, or two sends by a member "
                + "of a crowd.",
            example: "S send \"220 rea\" | \"dy\\r\\n\" every 30ms"),
    ]

    private static let sendClauses = [
        LanguageWord(
            "cut", "cut at", category: .sendClause,
            "Divides the bytes at the given offsets. Each piece is sent as a separate segment, which the capture "
                + "must confirm.",
            example: "S send \"220 ready\\r\\n\" cut at 3, 10"),
        LanguageWord(
            "at random", "cut at random", category: .sendClause,
            "Divides the bytes at 1 to 64 offsets, which the seed determines.",
            example: "S send \"220 ready\\r\\n\" cut at random seed 7"),
        LanguageWord(
            "at", category: .sendClause,
            "After `cut`, the offsets at which the bytes are divided; after the `start` of a crowd, the number of "
                + "members that begin per second; in other sends, the maximum average rate in bytes per second.",
            example: "S send \"a\" * 100 at 1kB/s"),
        LanguageWord(
            "in pieces of", "pieces", category: .sendClause,
            "Divides the bytes into pieces of the given size; the last piece may be shorter.",
            example: "S send \"220 ready\\r\\n\" in pieces of 2B"),
        LanguageWord(
            "in records of", category: .sendClause,
            "Divides the plaintext into TLS records of the given size. Without this clause, a record holds up to 16 "
                + "KiB.",
            example: "S send \"abc\" in records of 1B"),
        LanguageWord(
            "|", category: .sendClause,
            "Separates the pieces of a send. Each piece is sent as a separate segment.",
            example: "S send \"220 rea\" | \"dy\\r\\n\""),
        LanguageWord(
            "with fin", category: .sendClause,
            "Sends the FIN in the segment that carries the last bytes, instead of in a separate segment.",
            example: "C send line \"QUIT\" with fin"),
    ]

    private static let clauses = [
        LanguageWord(
            "as", category: .clause,
            "Names what the step produces: the bytes or the number that was received, or the connection that was "
                + "accepted.",
            example: "C expect line as greeting"),
        LanguageWord(
            "with", category: .clause,
            "Precedes the options of a declaration, separated by commas.",
            example: "server S with receive-buffer 4KiB, nodelay off"),
        LanguageWord(
            "seed", category: .clause,
            "The number from which random choices are computed: the same seed gives the same choices in every run and on "
                + "every machine. `--seed N` adds N to each seed.",
            example: "S send \"220 ready\\r\\n\" cut at random seed 7"),
        LanguageWord(
            "if needed", "if", "needed", category: .clause,
            "The case may pass even if the statement had no effect. Without this clause, such a case is inconclusive.",
            example: "link S -> C drop fin 1 if needed"),
        LanguageWord(
            "from", "to", category: .clause,
            "The side of a proxy, the range of a crowd's addresses, or the address of a connection, depending on the "
                + "verb."),
        LanguageWord(
            "in", category: .clause,
            "The values or the table over which a loop iterates, or the size of the pieces of a send.",
            example: "for i in 1..3 { C send line \"${i}\" }"),
        LanguageWord(
            "or", category: .clause, "Separates the branches of an `either`.",
            example: "either { S expect line \"no\" } or { S expect line \"yes\" }"),
        LanguageWord(
            "arrived", category: .clause,
            "Judges the packets as they arrived at their receiver, after the faults of a link, instead of as they were "
                + "sent.",
            example: "wire S -> C bytes \"text\" arrived"),
        LanguageWord(
            "jitter", category: .clause,
            "Varies each delay at random by up to the given time: `delay 20ms jitter 5ms` delays packets by 15 to 25 "
                + "ms. The packets keep their order, unless `reorder` follows.",
            example: "link S -> C delay 20ms jitter 5ms seed 7"),
        LanguageWord(
            "queue", category: .clause,
            "The size of the queue in front of a `rate`, 64 KiB by default. Packets that do not fit in the queue are "
                + "lost.",
            example: "link S -> C rate 1MiB/s queue 64KiB"),
        LanguageWord(
            "reorder", category: .clause,
            "Lets packets overtake each other if a `jitter` delays them by different amounts.",
            example: "link S -> C delay 20ms jitter 5ms seed 7 reorder"),
        LanguageWord(
            "optional", category: .clause,
            "In `expect lines in any order`, marks a line that may be missing."),
        LanguageWord(
            "backlog", category: .clause, "The length of the queue of a listening socket; 128 by default.",
            example: "server S backlog 0"),
        LanguageWord(
            "listens", category: .clause, "The subject accepts connections instead of opening one.",
            example: "subject T listens"),
        LanguageWord(
            "on", category: .clause,
            "The address on which an actor listens; after an option, the value that turns the option on.",
            example: "server S on [::1]:8080"),
        LanguageWord(
            "off", category: .clause, "Turns an option off.", example: "server S with nodelay off"),
        LanguageWord(
            "unix", "on unix", category: .clause,
            "A Unix stream socket instead of a TCP address. Without a path, the socket is created in a folder of the "
                + "case.",
            example: "server S on unix"),
        LanguageWord(
            "clients", "servers", category: .clause,
            "The kind of a crowd: many clients that run the same script, or many connections that other actors open.",
            example: "crowd W = 100 clients -> S"),
    ]

    private static let options = [
        LanguageWord(
            "receive-buffer", category: .socketOption,
            "The size of the socket's receive buffer (`SO_RCVBUF`), which limits the window that the peer sees. Set "
                + "the size in the declaration, before the connection exists.",
            example: "server S with receive-buffer 4KiB"),
        LanguageWord(
            "send-buffer", category: .socketOption, "The size of the socket's send buffer (`SO_SNDBUF`).",
            example: "client C -> S with send-buffer 64KiB"),
        LanguageWord(
            "nodelay", category: .socketOption,
            "Whether small segments are sent immediately (`TCP_NODELAY`); `on` by default. `off` enables Nagle's "
                + "algorithm.",
            example: "C set nodelay off"),
        LanguageWord(
            "keepalive", category: .socketOption,
            "Whether the kernel probes an idle connection: `on`, `off`, or the idle time and the interval between "
                + "probes in whole seconds.",
            example: "client C -> S with keepalive 5s"),
        LanguageWord("tls", category: .clause, "The connection begins with a TLS handshake.", example: "server S tls"),
        LanguageWord(
            "cert", category: .tlsOption,
            "The certificate to present: a PEM file; `run`, for a client certificate issued by the run's authority; or, "
                + "for a server, the name of a flaw (`expired`, `not-yet-valid`, `self-signed`, `unknown-ca`, "
                + "`for \"other.test\"`).",
            example: "server S tls cert expired"),
        LanguageWord(
            "key", category: .tlsOption, "The PEM file with the private key of `cert`.",
            example: "server S tls cert \"a.pem\" key \"a.key\""),
        LanguageWord(
            "ca", category: .tlsOption,
            "The authority against which the peer's certificate is verified: `run`, or a PEM file.",
            example: "client C -> S tls ca run"),
        LanguageWord(
            "client-cert", "asked", "required", category: .tlsOption,
            "Whether a server asks for a client certificate, and whether it refuses clients without one.",
            example: "server S tls client-cert required"),
        LanguageWord(
            "version", category: .tlsOption, "The only TLS version that is allowed: 1.2 or 1.3.",
            example: "server S tls version 1.3"),
        LanguageWord(
            "alpn", category: .tlsOption,
            "The application protocols that a client offers, or that a server chooses from.",
            example: "server S tls alpn \"imap\" \"smtp\""),
        LanguageWord(
            "tickets", category: .tlsOption,
            "The number of tickets that a server sends for resumption; 0 prevents resumption.",
            example: "server S tls tickets 0"),
        LanguageWord(
            "connect-timeout", "idle-timeout", category: .subjectOption,
            "The time after which the subject must give up connecting, or close an idle connection.",
            example: "subject T -> S with connect-timeout 500ms, idle-timeout 1s"),
        LanguageWord(
            "heartbeat", "heartbeat-timeout", "heartbeat-answer", category: .subjectOption,
            "The message that the subject sends when it has sent nothing else for the given time; the time without input "
                + "after which it stops; and the only message that counts as input.",
            example: "subject T -> S with heartbeat 200ms \"PING\", heartbeat-timeout 600ms"),
        LanguageWord(
            "reconnect", category: .subjectOption,
            "The subject reconnects after it has lost its connection, and waits between its attempts.",
            example: "subject T -> S with reconnect 100ms..1s"),
        LanguageWord(
            "high-water", category: .subjectOption,
            "The number of unsent bytes at which the subject reports `full`.",
            example: "subject T -> S with high-water 64KiB"),
        LanguageWord(
            "allow-half-close", category: .subjectOption, "The peer's FIN does not stop the subject.",
            example: "subject T -> S with allow-half-close"),
        LanguageWord(
            "discard-too-long", category: .subjectOption,
            "The subject discards a message that is longer than `max-line`, and continues.",
            example: "subject T -> S with discard-too-long"),
    ]

    private static let selections = [
        LanguageWord(
            "data", "syn", "synack", "ack", "any", category: .selection,
            "The kind of packet to which a fault of a link applies. Packets are counted from the step on, by their "
                + "first transmission. `ack` is a segment without data, SYN, FIN or RST.",
            example: "link S -> C drop data 3"),
        LanguageWord(
            "again", category: .selection, "The next retransmission of the selected packet.",
            example: "link S -> C drop data 3 again"),
        LanguageWord(
            "all", category: .selection, "Every packet of the given kind, including retransmissions.",
            example: "link S -> C drop syn all"),
    ]

    private static let properties = ActorProperty.all.map { property in
        var word = LanguageWord(category: .property, property.meaning)
        word.names = property.forms.flatMap { form in
            // `${C.peer.port}` is also found as `C.peer.port`, as `peer.port` and as `port`.
            let path = form.drop { "${".contains($0) }.prefix { $0 != "}" }
            let parts = path.split(separator: ".")
            let words = parts.indices.map { parts[$0...].joined(separator: ".") }
            return [form] + words.filter { $0.first?.isLowercase == true || $0 == path }
        }
        return word
    }

    private static let framings = Framing.allCases.map { framing in
        let example = "framing \(framing.rawValue)"
        var word = LanguageWord(category: .framing, meaning(of: framing), example: example)
        word.names = [framing.rawValue]
        return word
    }

    private static func meaning(of framing: Framing) -> String {
        switch framing.kind {
        case .lines: "Messages are lines that end with this terminator."
        case .counted(.netstring):
            "Each message is preceded by its length in decimal digits and a colon, and followed by a comma."
        case .counted(.integer(let format)): "Each message is preceded by its length, \(description(of: format))."
        case .webSocket: "The WebSocket messages (RFC 6455) after the opening handshake."
        case .undivided: "The stream has no messages: `message` is whatever has been received, at least one byte."
        }
    }

    private static func description(of format: IntegerFormat) -> String {
        guard let width = format.width else { return "a varint of 7 bits per byte" }
        let order = width == 1 ? "" : format.isLittleEndian ? " little-endian" : " big-endian"
        return "\(width == 1 ? "an" : "a") \(8 * width)-bit\(order) integer"
    }

    private static let capabilities = TransportCapability.allCases.map { capability in
        var word = LanguageWord(
            category: .capability,
            "`require subject \(capability.rawValue)` makes the case unsupported by a transport without this capability.",
            example: "require subject \(capability.rawValue)")
        word.names = [capability.rawValue]
        return word
    }

    private static let requirements = [
        LanguageWord(
            "capture", "require capture", category: .requirement, "Skips the case if packets can't be captured.",
            example: "require capture"),
        LanguageWord(
            "ipv6", "require ipv6", category: .requirement, "Skips the case if `[::1]` can't be used.",
            example: "require ipv6"),
        LanguageWord(
            "localhost", "require localhost", category: .requirement,
            "Skips the case unless the name `localhost` has the addresses 127.0.0.1 and ::1.",
            example: "require localhost ipv6"),
        LanguageWord(
            "root", "require root", category: .requirement, "Skips the case unless it is run by root.",
            example: "require root"),
        LanguageWord(
            "command", "require command", category: .requirement,
            "Skips the case if the given program is not installed.",
            example: "require command redis-server"),
    ]

    private static let reasons = SubjectExpectation.stopReasons.map { reason in
        let example = "T expect stopped \(reason)"
        var word = LanguageWord(
            category: .reason,
            "The reason that a subject reports when it stops. Most reasons also apply to a connection that is lost or "
                + "can't be established.",
            example: example)
        word.names = [reason]
        return word
    }

    private static let verdicts = [
        LanguageWord(
            "must", "should", "may", category: .level,
            "What a failure of the case means: `must` fails the run, `should` fails it only with `--strict`, `may` never "
                + "does.",
            example: "level should"),
        LanguageWord(
            "passed", category: .verdict,
            "Every expectation was met, and every fault was observed to take effect. Exit code 0."),
        LanguageWord("failed", category: .verdict, "An expectation was not met. Exit code 1."),
        LanguageWord(
            "error", category: .verdict,
            "The script or its environment is at fault, for example because a port is in use. Exit code 3, unless "
                + "another case failed."),
        LanguageWord(
            "inconclusive", category: .verdict,
            "The case neither passed nor failed, because something that it asserts could not be observed: there was no "
                + "capture, a fault had no effect, or the harness was stopped. Exit code 3, unless another case failed."
        ),
        LanguageWord(
            "skipped", category: .verdict, "A `require` of the scenario is not met, so the case was not run."),
        LanguageWord(
            "unsupported", category: .verdict,
            "The subject reports that it lacks a capability that the case needs, so the case was not run."),
    ]

    private static let notation = [
        LanguageWord(
            "us", "ms", "s", "min", category: .unit, "A duration, such as `50us`, `20ms`, `1.5s` or `2min`.",
            example: "wait 20ms"),
        LanguageWord(
            "B", "kB", "KiB", "MB", "MiB", "GB", "GiB", category: .unit,
            "A number of bytes: 1 kB is 1000 bytes, 1 KiB is 1024.", example: "server S with receive-buffer 4KiB"),
        LanguageWord(
            "B/s", "kB/s", "KiB/s", "MB/s", "MiB/s", "GB/s", "GiB/s", category: .unit,
            "A rate in bytes per second.", example: "S send \"a\" * 100 at 1kB/s"),
        LanguageWord(
            "->", category: .sign,
            "From the first actor to the second: the server to which a client connects, or the direction of a wire "
                + "statement.",
            example: "client C -> S"),
        LanguageWord("<->", category: .sign, "Both directions of a link.", example: "link S <-> C"),
        LanguageWord(
            "..", category: .sign, "A range of integers that includes both ends.",
            example: "for i in 1..3 { C send line \"${i}\" }"),
        LanguageWord(
            "${", "${}", "${…}", category: .sign,
            "Interpolates a variable or a property of an actor into a string.",
            example: "C send \"port=${S.port}\""),
        LanguageWord(
            "#", category: .sign, "Begins a comment, at the start of a line or after white space.",
            example: "S send \"a\"  # one byte"),
    ]
}

extension LanguageWord {
    /// Returns the explanation of a word or a phrase that is not the beginning of an entry, as `tcpprobe explain`
    /// prints it; `nil` if the text is not part of the language.
    ///
    /// - Parameter hasEntry: whether ``LanguageTable`` has an entry for the text. The forms of such an entry show how
    ///   the text is used.
    package static func explanation(of text: String, hasEntry: Bool) -> String? {
        let wanted = text.trimmingNumber
        guard wanted.contains(where: { $0 != " " }) else { return nil }
        let names = [wanted, wanted.withoutActor].map { $0.lowercased() }
        let found = all.filter { word in word.names.contains { names.contains($0.lowercased()) } }
        let uses = hasEntry ? [] : uses(of: wanted)
        guard !found.isEmpty || !uses.isEmpty else { return nil }
        var pages = found.map { word in
            let example = word.example.map { "\nExample:\n\n    \($0)\n" } ?? ""
            return "\(wanted): \(word.category.rawValue)\n\n  \(EntryExplanation.plain(word.meaning))\n\(example)"
        }
        if found.isEmpty { pages = ["\(wanted): a word in the following statements\n"] }
        if !uses.isEmpty { pages.append("Used in:\n\n" + uses.map { "    \($0)\n" }.joined()) }
        return pages.joined(separator: "\n")
    }

    /// Returns up to twelve forms from the reference that contain the given words.
    private static func uses(of text: String) -> [String] {
        let wanted = text.split(separator: " ")
        let forms = LanguageTable.all.flatMap { listed in
            listed.entry.rows.flatMap(\.forms).filter { form in
                let words = form.split { " ,(){}".contains($0) }
                return words.indices.contains { words[$0...].starts(with: wanted) }
            }.map { EntryExplanation.plain(listed.form($0)) }
        }
        return Array(forms.prefix(12))
    }
}

extension String {
    /// The property without the actor's name: `port` for `${E.port}` and for `E.port`.
    fileprivate var withoutActor: String {
        let path = drop { "${".contains($0) }.prefix { $0 != "}" }
        guard let dot = path.firstIndex(of: ".") else { return self }
        return String(path[path.index(after: dot)...])
    }

    /// The text without the number that precedes a unit: `ms` for `30ms`.
    fileprivate var trimmingNumber: String {
        let rest = drop { $0.isNumber || $0 == "." || $0 == "_" }
        return rest.isEmpty || rest.first == " " ? self : String(rest)
    }
}
