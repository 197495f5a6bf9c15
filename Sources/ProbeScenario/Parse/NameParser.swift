import ProbeBase

/// Parses `name "dual.test" = S6, S4 with aaaa after 300ms`: the addresses of a host name.
struct NameParser: GrammarPart {
    let cursor: TokenCursor

    private static let example = "name \"dual.test\" = S6, S4"

    private var values: ValueParser { ValueParser(cursor: cursor) }
    private var literals: LiteralParser { LiteralParser(cursor: cursor) }

    /// Returns whether the word `name` begins a statement; the word may also be the name of an actor. Called with the
    /// cursor at the word `name`.
    static func isStatement(_ cursor: TokenCursor) -> Bool {
        [.string, .rawString].contains(cursor.token(ahead: 1).kind)
    }

    /// Parses what follows `name`.
    func parseStatement() throws(Abandoned) -> NameStatement {
        let first = cursor.lastWord
        let name = try parseName(Self.example)
        let answer = try parseAnswer()
        let isOptional = cursor.takeIfNeeded()
        return NameStatement(name: name, answer: answer, isOptional: isOptional, span: cursor.span(from: first))
    }

    /// Parses a host name: `"dual.test"`.
    func parseName(_ example: String) throws(Abandoned) -> Spanned<String> {
        let name = try literals.parsePlainString("a name", example)
        if let fault = HostSyntax.fault(inName: name.value) {
            throw cursor.fail(
                .hostName,
                name.value.isEmpty
                    ? "a host name can't be empty"
                    : "\(Escaped.quoted(name.value)) is not "
                        + "a valid host name: \(fault)",
                hint: HostSyntax.isLocal(name.value)
                    ? "use a name that does not end in `localhost`, such as `\"dual.test\"`"
                    : "use letters, digits and hyphens, separated by dots: `\"dual.test\"`", at: name.span)
        }
        return name
    }

    private func parseAnswer() throws(Abandoned) -> NameStatement.Answer {
        if cursor.take(.assign) {
            var addresses: [NamedAddress] = []
            repeat { addresses.append(try parseAddress()) } while cursor.take(.comma)
            return .addresses(addresses, try parseTimes())
        }
        let place = cursor.place
        guard cursor.kind == .word else { throw cursor.expected("`=` and actors, or an answer", Self.example) }
        switch cursor.word {
        case "nxdomain":
            cursor.advance()
            return .nxdomain
        case "fails":
            cursor.advance()
            return .fails
        case "times":
            cursor.advance()
            try cursor.expect(word: "out", "name \"slow.test\" times out")
            return .timesOut
        default:
            throw cursor.fail(
                .unknownWord(
                    cursor.word, what: "an answer for a name", choices: ["nxdomain", "fails", "times out"]),
                at: place)
        }
    }

    // MARK: Addresses

    /// Parses an address that a name resolves to: `S6`, `10.77.0.9`, `[fd77::9]`.
    private func parseAddress() throws(Abandoned) -> NamedAddress {
        let first = cursor.token
        switch cursor.kind {
        case .bracketedHost:
            let text = cursor.bytes.text(Int(first.start) + 1..<Int(first.end) - 1)
            cursor.advance()
            return try nobody(at: text, cursor.span(first))
        case .number:
            cursor.advance()
            while !cursor.token.isSpaced, [.word, .number, .dot].contains(cursor.kind) { cursor.advance() }
            let place = cursor.span(from: first)
            return try nobody(at: cursor.bytes.text(place.start..<place.end), place)
        // The address is missing at the end of the previous line, and this word begins the next statement.
        case .word where cursor.word == "name" && Self.isStatement(cursor):
            throw cursor.expected("an actor's name or an address", Self.example)
        default: return .actor(try cursor.parseName("an actor's name or an address", Self.example))
        }
    }

    private func nobody(at text: String, _ place: SourceSpan) throws(Abandoned) -> NamedAddress {
        guard let address = IPAddress(text) else { throw cursor.fail(.badHost(text), at: place) }
        switch LinkNetwork.place(of: address) {
        case .elsewhere:
            throw cursor.fail(
                .hostAddress, "\(Escaped.text(text.utf8)) is not a host address in a link's network",
                hint: "write a server's name, or an unused address of a link, such as `10.77.0.9` or `[fd77::9]`",
                at: place)
        case .actor:
            throw cursor.fail(
                .hostAddress, "\(Escaped.text(text.utf8)) is in the range from which actors get their addresses",
                hint: "write the actor's name, or an unused address, such as `10.77.0.9` or `[fd77::9]`", at: place)
        case .nobody: return .nobody(address, place)
        }
    }

    // MARK: Times

    /// Parses the times of an answer: `with aaaa after 300ms, a after 300ms, ttl 1s`.
    private func parseTimes() throws(Abandoned) -> NameTimes {
        var times = NameTimes()
        guard cursor.take(word: "with") else { return times }
        let choices = ["a", "aaaa", "ttl"]
        var seen: Set<String> = []
        repeat {
            let clause = try cursor.parseName("a clause of `name` (a after, aaaa after, ttl)", "with aaaa after 300ms")
            guard choices.contains(clause.value) else {
                throw cursor.fail(
                    .unknownWord(clause.value, what: "a clause of `name`", choices: choices), at: clause.span)
            }
            if !seen.insert(clause.value).inserted {
                throw cursor.fail(.clauseTwice(clause.value), at: clause.span)
            }
            if clause.value == "ttl" {
                times.timeToLive = try parseTimeToLive()
            } else {
                let example = "\(clause.value) after 300ms"
                try cursor.expect(word: "after", example)
                let delay = try values.parseDuration(example, allowsZero: true)
                if clause.value == "a" { times.ipv4Delay = delay } else { times.ipv6Delay = delay }
            }
        } while cursor.take(.comma)
        return times
    }

    /// Parses a TTL, which is a 31-bit number of whole seconds in a record (RFC 2181, section 8).
    private func parseTimeToLive() throws(Abandoned) -> Duration {
        let place = cursor.place
        let time = try values.parseDuration("ttl 1s", allowsZero: true)
        let (seconds, rest) = time.components
        if rest != 0 || seconds > Int64(Int32.max) {
            throw cursor.fail(
                .outOfRange, "the time to live of a name must be a whole number of seconds, at most 2147483647",
                hint: "for example: ttl 1s", at: place)
        }
        return time
    }

}

/// The networks of links: 10.77.N.0/24 and fd77:N::/64. The two ends of a link have the host numbers 1 and 2.
enum LinkNetwork {
    enum Place {
        /// The address is not in any link's network.
        case elsewhere
        /// The address may belong to an end of a link.
        case actor
        case nobody
    }

    static func place(of address: IPAddress) -> Place {
        let bytes = address.bytes
        let host: ArraySlice<UInt8>
        switch address.family {
        case .v4:
            guard bytes.starts(with: [10, 77]) else { return .elsewhere }
            // The host numbers 0 and 255 are the network's own address and its broadcast address.
            if bytes[3] == 0 || bytes[3] == 255 { return .elsewhere }
            host = bytes[3...]
        case .v6:
            guard bytes.starts(with: [0xFD, 0x77]) else { return .elsewhere }
            host = bytes[8...]
        }
        let isEnd = host.dropLast().allSatisfy { $0 == 0 } && host.last.map { $0 <= 2 } == true
        return isEnd ? .actor : .nobody
    }
}
