package import ProbeBase

/// The meaning of a host name: how the resolver answers questions about the name, until the name is given another
/// meaning.
package enum NameMeaning: Sendable, Equatable {
    /// The name has addresses, which are returned in the given order.
    case addresses([IPAddress], NameDelays)
    case noSuchName
    case failure
    case silence
}

extension NameMeaning {
    /// The record types to which the meaning assigns addresses or a delay; empty if the meaning applies to every
    /// question.
    fileprivate var types: [NameType] {
        guard case .addresses(let addresses, let delays) = self else { return [] }
        let delayed: [NameType] = (delays.ipv4 > .zero ? [.a] : []) + (delays.ipv6 > .zero ? [.aaaa] : [])
        return [NameType.a, .aaaa].filter { type in
            delayed.contains(type) || addresses.contains { $0.family == type.family }
        }
    }
}

/// The delays of answers with addresses, and the time for which clients may cache the answers.
package struct NameDelays: Sendable, Equatable {
    package var ipv4: Duration
    package var ipv6: Duration
    /// The time to live in seconds.
    package var timeToLive: UInt32

    package init(ipv4: Duration = .zero, ipv6: Duration = .zero, timeToLive: UInt32 = 0) {
        (self.ipv4, self.ipv6, self.timeToLive) = (ipv4, ipv6, timeToLive)
    }
}

/// The transport of a question and its answer.
package enum NameCarrier: Sendable {
    case udp, tcp
}

/// A resolver's reply to a question.
package struct NameReply: Sendable, Equatable {
    /// The question as text, such as `dual.test AAAA`.
    package var question: String
    /// The answer as text, such as `fd77::1`, or the reason why there is no address; `nil` if the question is never
    /// answered.
    package var text: String?
    package var bytes: [UInt8]
    /// The time at which the reply must be sent.
    package var due: MonotonicTime
}

/// The names for which a resolver has answers, and the questions that it has received. The zone has no clock: times are
/// passed as arguments.
package struct NameZone: Sendable {
    private struct Entry {
        var id: Int
        var meaning: NameMeaning
    }

    /// The questions received for a meaning, and the record types that clients must request.
    private struct Questions {
        var counts: [UInt16: Int] = [:]
        /// The record types that must be requested; if empty, any question suffices.
        var wanted: [NameType]

        var isMet: Bool {
            wanted.isEmpty ? !counts.isEmpty : wanted.allSatisfy { counts[$0.rawValue] != nil }
        }
    }

    private var entries: [String: Entry] = [:]
    /// The questions received for each meaning, keyed by the meaning's number.
    private var questions: [Int: Questions] = [:]

    package init() {}

    /// Sets the meaning of a name, replacing any earlier meaning.
    ///
    /// - Parameter id: a number that is unique among the meanings of the zone.
    package mutating func set(_ name: String, to meaning: NameMeaning, id: Int) {
        entries[name.lowercased()] = Entry(id: id, meaning: meaning)
        questions[id] = Questions(wanted: meaning.types)
    }

    /// The numbers of the meanings for which some record type was never requested. Each type in the meaning's
    /// ``NameMeaning/types`` must be requested.
    package var unmet: [Int] { questions.filter { !$0.value.isMet }.keys.sorted() }

    /// Returns text that states which of a meaning's record types were requested and which were not; `nil` if all of
    /// them were requested.
    package func shortfall(of id: Int) -> String? {
        guard let found = questions[id], !found.isMet else { return nil }
        if found.counts.isEmpty { return "no program asked for the name" }
        func list(_ types: some Sequence<UInt16>) -> String {
            types.map { NameType.text(of: $0) }.joined(separator: " and ")
        }
        let missing = found.wanted.map(\.rawValue).filter { found.counts[$0] == nil }
        return
            "programs asked for \(list(found.counts.keys.sorted())) records of the name, but never for \(list(missing))"
    }

    /// Handles a message from a client.
    ///
    /// - Returns: the reply; `nil` if the message is not a question and must be dropped.
    package mutating func receive(
        _ message: Span<UInt8>, by carrier: NameCarrier, at now: MonotonicTime
    ) -> NameReply? {
        switch NameQuestion.read(message) {
        case .nothing: return nil
        case .refused(let code, let header):
            return NameReply(
                question: "something that is not an address query", text: "an error (\(Self.text(of: code)))",
                bytes: NameAnswer.bytes(refusing: header, with: code), due: now)
        case .question(let question): return reply(to: question, by: carrier, at: now)
        }
    }

    private mutating func reply(to question: NameQuestion, by carrier: NameCarrier, at now: MonotonicTime) -> NameReply
    {
        var reply = NameReply(
            question: "\(question.name) \(NameType.text(of: question.type))", text: nil, bytes: [], due: now)
        var answer = NameAnswer(code: .noSuchName)
        if let entry = entries[question.key] {
            questions[entry.id]?.counts[question.type, default: 0] += 1
            switch entry.meaning {
            case .noSuchName: break
            case .failure: answer.code = .serverFailure
            case .silence: return reply
            case .addresses(let addresses, let delays):
                answer.code = .noError
                answer.timeToLive = delays.timeToLive
                guard let type = NameType(rawValue: question.type) else { break }
                answer.addresses = addresses.filter { $0.family == type.family }
                reply.due = now + (type == .a ? delays.ipv4 : delays.ipv6)
            }
        }
        reply.text =
            answer.addresses.isEmpty
            ? Self.text(of: answer.code) : answer.addresses.map { "\($0)" }.joined(separator: ", ")
        reply.bytes = answer.bytes(to: question, isDatagram: carrier == .udp)
        return reply
    }

    private static func text(of code: NameResponseCode) -> String {
        switch code {
        case .noError: "no address"
        case .noSuchName: "no such name (NXDOMAIN)"
        case .serverFailure: "a failure (SERVFAIL)"
        case .formatError: "FORMERR"
        case .notImplemented: "NOTIMP"
        case .refused: "REFUSED"
        case .badVersion: "BADVERS"
        }
    }
}
