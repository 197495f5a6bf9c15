package import ProbeBase

/// An action of a proxy on the connections that pass through it. A step before the first `accept` applies to all
/// connections.
package enum ProxyAction: LanguageElement {
    case accept(as: Name?)
    /// Forwards bytes to a side. If `count` is given, only this number of bytes is forwarded, and later bytes are held.
    case forward(ForwardStyle<Parsed>, count: Expression?, to: ConversationSide)
    case hold(to: ConversationSide)
    /// Releases held bytes to a side; `nil` means both sides.
    case release(to: ConversationSide?)
    case discard(to: ConversationSide)
    case replace(Expression, with: Expression, to: ConversationSide)
    case insert(Expression, to: ConversationSide)
    case close(to: ConversationSide)
    case halfClose(to: ConversationSide)
    case reset(ConversationSide)
    case vanish(ConversationSide)
    /// Observes the forwarded bytes without consuming them.
    case expect(ConnectionExpectation<Parsed>, from: ConversationSide)
}

// MARK: The table

extension ProxyAction {
    static let phrases: [Phrase<ActionParser, ProxyAction>] = [acceptance] + changes.map { $0.ifNeeded() }

    private static let acceptance = Phrase<ActionParser, ProxyAction>(
        LanguageEntry(
            "accept",
            "waits for the next incoming connection and the proxy's onward connection. From this step on, `X` refers to that proxied connection",
            more: [
                (
                    ["accept as A"],
                    "accepts the next proxied connection as the new actor `A`; this form is required for a second connection"
                )
            ],
            example: "accept", timing: .both)
    ) { parser throws(Abandoned) in .accept(as: try parser.parseAcceptedName()) }

    private static let changes: [Phrase<ActionParser, ProxyAction>] = [
        Phrase(
            LanguageEntry(
                "forward", ["forward to client"], "from this step on, forwards bytes to the given side as they arrive",
                more: [
                    (
                        ["forward to client in pieces of 1B every 5ms"],
                        "forwards pieces of at most the given size, without waiting for a piece to be full"
                    ),
                    (
                        ["forward to server cut at 3, 7"],
                        "cuts the forwarded bytes at the given offsets, counted from the position in the stream at which the step takes effect"
                    ),
                    (
                        ["forward to server cut at random seed 7"],
                        "cuts the forwarded bytes at random intervals of 1 to 64 bytes, as determined by the seed"
                    ),
                    (
                        ["forward to client at 10kB/s"],
                        "limits the average rate of forwarding; the clause `at` can also follow a cut"
                    ),
                    (
                        ["forward to client delayed by 50ms"],
                        "forwards each byte, and the end of the stream, 50 ms after it arrived"
                    ),
                    (
                        ["forward to client joined"],
                        "collects received bytes and forwards them in one write when no byte has arrived for 5 ms, or after 100 ms at the latest"
                    ),
                    (
                        ["forward 100 bytes to client"],
                        "forwards the given number of bytes, then holds all later bytes; the other clauses of `forward` can follow"
                    ),
                ], example: "forward to client in pieces of 1B every 5ms")
        ) { parser throws(Abandoned) in try parser.proxies.parseForward() },
        Phrase(
            LanguageEntry(
                "hold", ["hold to server"],
                "forwards nothing more to the given side, not even the end of the stream. Bytes that arrived earlier may already be in transit",
                example: "hold to server"),
            when: { $0.isWord("to", ahead: 1) }
        ) { parser throws(Abandoned) in .hold(to: try parser.proxies.parseDestination("hold to server")) },
        Phrase(
            LanguageEntry(
                "release", ["release", "release to server"],
                "forwards the held bytes, in both directions or only to the given side",
                example: "release")
        ) { parser throws(Abandoned) in
            .release(to: parser.cursor.isWord("to") ? try parser.proxies.parseDestination("release to server") : nil)
        },
        Phrase(
            LanguageEntry(
                "discard", ["discard to client"],
                "discards the bytes that are waiting to be forwarded and all later bytes; the end of the stream is still forwarded",
                example: "discard to client")
        ) { parser throws(Abandoned) in .discard(to: try parser.proxies.parseDestination("discard to client")) },
        Phrase(
            LanguageEntry(
                "replace", ["replace \"a\" with \"b\" to client"],
                "replaces the given bytes in everything that is forwarded from this step on, even if they arrive in pieces: a partial match at the end of the data is held back until the bytes after it arrive",
                example: "replace \"a\" with \"b\" to client")
        ) { parser throws(Abandoned) in try parser.proxies.parseReplace() },
        Phrase(
            LanguageEntry(
                "insert", ["insert \"x\" to server"],
                "forwards the given bytes, which the other side never sent, ahead of all waiting bytes, even during a `hold`",
                example: "insert \"x\" to server")
        ) { parser throws(Abandoned) in
            let example = "insert \"x\" to server"
            let value = try parser.values.parseExpression("a value", example)
            return .insert(value, to: try parser.proxies.parseDestination(example))
        },
        Phrase(
            LanguageEntry(
                "close", ["close to client"],
                "sends a FIN to the given side after the bytes in flight; held bytes are discarded. Bytes that arrive from that side later are answered with an RST",
                example: "close to client")
        ) { parser throws(Abandoned) in .close(to: try parser.proxies.parseDestination("close to client")) },
        Phrase(
            LanguageEntry(
                "half-close", ["half-close to server"],
                "sends a FIN to the given side after the bytes in flight; held bytes are discarded. Bytes from that side are still forwarded",
                example: "half-close to server")
        ) { parser throws(Abandoned) in .halfClose(to: try parser.proxies.parseDestination("half-close to server")) },
        Phrase(
            LanguageEntry(
                "reset", ["reset client"],
                "sends an RST to the given side; waiting bytes are discarded. The other side is not notified",
                example: "reset client")
        ) { parser throws(Abandoned) in .reset(try parser.proxies.parseSide("reset client")) },
        Phrase(
            LanguageEntry(
                "vanish", ["vanish server"],
                "the connection to the given side disappears without a FIN or an RST, and this side is not notified. Anything that this side sends later is answered with an RST. Requires CAP_NET_ADMIN; without it, the case is skipped",
                example: "vanish server")
        ) { parser throws(Abandoned) in .vanish(try parser.proxies.parseSide("vanish server")) },
    ]
    static let entries = index(phrases, [watching])

    /// The entry for the `from` clause that follows a ``ConnectionExpectation``.
    static let watching = LanguageEntry(
        "… from", ["expect line /^DATA/ from client", "expect 10 bytes from server", "expect eof from client"],
        "watches the bytes from the given side without consuming them: they are forwarded as before. For each side, the position up to which steps have examined the bytes is tracked separately",
        example: "expect line /^DATA/ from client", after: "X accept", choice: nil, timing: .both)

    /// Whether the action changes how bytes are forwarded, and therefore has no effect unless bytes arrive.
    var canBeUnneeded: Bool {
        switch self {
        case .accept, .expect: false
        case .forward, .hold, .release, .discard, .replace, .insert, .close, .halfClose, .reset, .vanish: true
        }
    }

    var spelling: String {
        switch self {
        case .accept: "accept"
        case .forward: "forward"
        case .hold: "hold"
        case .release: "release"
        case .discard: "discard"
        case .replace: "replace"
        case .insert: "insert"
        case .close: "close"
        case .halfClose: "half-close"
        case .reset: "reset"
        case .vanish: "vanish"
        case .expect: "… from"
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .forward(let statement, let count, _):
            (count.map { [.integer($0, "the number of bytes", 1...Int.max)] } ?? []) + statement.values
        case .replace(let wanted, let replacement, _): [.nonEmptyBytes(wanted), .bytes(replacement)]
        case .insert(let value, _): [.nonEmptyBytes(value)]
        case .expect(let expectation, _): expectation.values
        case .accept, .hold, .release, .discard, .close, .halfClose, .reset, .vanish: []
        }
    }

    var effect: ActionEffect {
        switch self {
        case .accept(let name): .acceptsProxied(as: name)
        case .expect: .watchesProxied
        case .forward, .hold, .release, .discard, .replace, .insert, .close, .halfClose, .reset, .vanish:
            .changesProxied
        }
    }
}

extension ForwardStyle<Parsed> {
    fileprivate var values: [ValueCheck] {
        switch cut {
        case .at(let offsets)?: [.offsets(offsets)]
        case .random(let seed)?: [.integer(seed, "the seed", Int.min...Int.max)]
        case .inPieces(let size)?: [.integer(size, "the size of a piece", 1...Int.max)]
        case nil: []
        }
    }
}
