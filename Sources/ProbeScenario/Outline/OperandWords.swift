import ProbeBase

/// The words that can follow certain words of the language, for places where only a fixed list of words is valid.
package enum OperandWords {
    /// Returns the words that can follow the beginning of a statement.
    ///
    /// - Parameters:
    ///   - words: the words of the statement so far, in order.
    ///   - kind: the kind of the actor that acts or is declared; `nil` if there is no such actor.
    package static func after(_ words: [String], of kind: ActorKind?) -> [String] {
        guard let last = words.last else { return [] }
        switch last {
        case "framing": return Framing.allCases.map(\.rawValue)
        case "level" where words.count == 1: return Scenario.Level.allCases.map(\.rawValue)
        case "require" where words.count == 1: return HeaderParser.requirements
        case "subject" where words == ["require", "subject"]: return TransportCapability.allCases.map(\.rawValue)
        case "localhost" where words.first == "require": return ["ipv6"]
        case "nodelay", "keepalive": return ["on", "off"]
        case "set", "with":
            return kind == .subject || words.contains("subject")
                ? [] : ["receive-buffer", "send-buffer", "nodelay", "keepalive"]
        case "from", "to", "close", "half-close", "reset",
            "vanish" where kind == .proxy:
            return ["client", "server"]
        case "on" where words.first == "server": return ["link", "unix"]
        case "stopped" where kind == .subject: return SubjectExpectation.stopReasons
        case "lost" where kind == .subject: return SubjectExpectation.lossReasons
        case "attempt-failed" where kind == .subject: return SubjectExpectation.attemptReasons
        case "failed" where words.suffix(2) == ["send", "failed"]: return ConnectionExpectation<Parsed>.sendFailures
        case "prefer": return ["ipv4", "ipv6"]
        case "strip": return StrippedOption.allCases.map(\.rawValue)
        case _ where beforePackets.contains(last) && words.first == "link":
            return PacketKind.allCases.map(\.rawValue)
        default: return words.contains("tls") && words.first != "require" ? tlsWords(after: last, kind) : []
        }
    }

    /// The words in `link` steps after which a kind of packet, such as `data`, can follow.
    private static let beforePackets: Set<String> = {
        let kinds = PacketKind.allCases.map(\.rawValue)
        let forms = LinkPhrases.all.flatMap(\.entry.rows).flatMap(\.forms).map {
            $0.split(separator: " ").map(String.init)
        }
        return Set(forms.flatMap { form in zip(form, form.dropFirst()).filter { kinds.contains($1) }.map(\.0) })
    }()

    private static func tlsWords(after word: String, _ kind: ActorKind?) -> [String] {
        switch word {
        case "cert": kind == .client ? ["run"] : TLSOptions.Flaw.allCases.map(\.rawValue) + ["for"]
        case "ca": ["run"]
        case "version": TLSVersion.allCases.map(\.rawValue)
        case "client-cert": TLSOptions.ClientCertificate.allCases.map(\.rawValue)
        default: TLSParser.options(of: kind ?? .connection)
        }
    }

    /// Returns whether only a word from ``after(_:of:)`` can follow these words. An empty string in `words` is not
    /// considered a word.
    package static func isClosed(_ words: [String]) -> Bool {
        switch words.last {
        case "framing", "strip", "cert", "prefer", "nodelay": true
        case "level", "require": words.count == 1
        case "subject": words == ["require", "subject"]
        default: false
        }
    }

    /// Returns whether a duration follows these words. An empty string in `words` is not considered a word.
    package static func takesDuration(_ words: [String]) -> Bool {
        switch words.last {
        case "within", "after", "every", "wait": true
        case "timeout", "case-timeout": words.count == 1
        // A `for` at the start of a statement, as in `for i in 1..3`, is followed by a name rather than a duration.
        case "for": words.count > 1
        default: false
        }
    }

    /// Common durations that completion offers.
    package static let durations = ["50ms", "200ms", "1s", "5s"]

    /// The units of numbers, as they are written after the digits.
    package static let units = [
        "us", "ms", "s", "min", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "B/s", "kB/s", "KiB/s", "MiB/s",
    ]
}
