package import ProbeBase

/// What a proxy does with the connections that pass through it. A step before the first `accept` applies to all
/// connections.
package enum ProxyAction: LanguageElement {
    case accept(as: Name?)
    /// `count`: forwards this number of bytes, then holds.
    case forward(ForwardStyle<Parsed>, count: Expression?, to: ConversationSide)
    case hold(to: ConversationSide)
    /// `nil`: both directions.
    case release(to: ConversationSide?)
    case discard(to: ConversationSide)
    case replace(Expression, with: Expression, to: ConversationSide)
    case insert(Expression, to: ConversationSide)
    case close(to: ConversationSide)
    case halfClose(to: ConversationSide)
    case reset(ConversationSide)
    case vanish(ConversationSide)
    /// Watches the bytes that pass.
    case expect(ConnectionExpectation<Parsed>, from: ConversationSide)
}

// MARK: The table

extension ProxyAction {
    static let phrases: [Phrase<ActionParser, ProxyAction>] = [acceptance] + changes.map { $0.ifNeeded() }

    private static let acceptance = Phrase<ActionParser, ProxyAction>(
        LanguageEntry(
            "accept",
            "the next connection that came to it, once the one onwards is made. From here on `X` is that connection",
            more: [(["accept as A"], "`A` is a new actor. A second connection needs it")],
            example: "accept", timing: .both)
    ) { parser throws(Abandoned) in .accept(as: try parser.parseAcceptedName()) }

    private static let changes: [Phrase<ActionParser, ProxyAction>] = [
        Phrase(
            LanguageEntry(
                "forward", ["forward to client"], "from here on bytes go on to this side as they come",
                more: [
                    (["forward to client in pieces of 1B every 5ms"], "no piece is longer; none is waited for"),
                    (["forward to server cut at 3, 7"], "offsets count from here"),
                    (["forward to server cut at random seed 7"], "1 to 64 bytes apart, by the seed"),
                    (["forward to client at 10kB/s"], "on average; can follow a cut, too"),
                    (["forward to client delayed by 50ms"], "each byte and the end so much later than it came"),
                    (
                        ["forward to client joined"],
                        "received bytes are forwarded in one write, when none has arrived for 5 ms, or after 100 ms"
                    ),
                    (
                        ["forward 100 bytes to client"],
                        "this number, and then it holds; the other words can follow"
                    ),
                ], example: "forward to client in pieces of 1B every 5ms")
        ) { parser throws(Abandoned) in try parser.proxies.parseForward() },
        Phrase(
            LanguageEntry(
                "hold", ["hold to server"],
                "nothing goes on to this side, the end neither. What came before may be on its way",
                example: "hold to server"),
            when: { $0.isWord("to", ahead: 1) }
        ) { parser throws(Abandoned) in .hold(to: try parser.proxies.parseDestination("hold to server")) },
        Phrase(
            LanguageEntry(
                "release", ["release", "release to server"], "what was held goes on, on both ways or to this side",
                example: "release")
        ) { parser throws(Abandoned) in
            .release(to: parser.cursor.isWord("to") ? try parser.proxies.parseDestination("release to server") : nil)
        },
        Phrase(
            LanguageEntry(
                "discard", ["discard to client"], "waiting bytes and later ones are dropped; the end is forwarded",
                example: "discard to client")
        ) { parser throws(Abandoned) in .discard(to: try parser.proxies.parseDestination("discard to client")) },
        Phrase(
            LanguageEntry(
                "replace", ["replace \"a\" with \"b\" to client"],
                "in what goes on from here, also where it comes in pieces: the beginning of an `a` waits for what follows it",
                example: "replace \"a\" with \"b\" to client")
        ) { parser throws(Abandoned) in try parser.proxies.parseReplace() },
        Phrase(
            LanguageEntry(
                "insert", ["insert \"x\" to server"],
                "bytes that nobody sent, before all that waits, also while it holds",
                example: "insert \"x\" to server")
        ) { parser throws(Abandoned) in
            let example = "insert \"x\" to server"
            let value = try parser.values.parseExpression("a value", example)
            return .insert(value, to: try parser.proxies.parseDestination(example))
        },
        Phrase(
            LanguageEntry(
                "close", ["close to client"],
                "a FIN after the bytes in flight; held bytes are dropped. Bytes that arrive from that side later are answered by an RST",
                example: "close to client")
        ) { parser throws(Abandoned) in .close(to: try parser.proxies.parseDestination("close to client")) },
        Phrase(
            LanguageEntry(
                "half-close", ["half-close to server"],
                "a FIN after the bytes in flight; held bytes are dropped. Bytes from that side are still forwarded",
                example: "half-close to server")
        ) { parser throws(Abandoned) in .halfClose(to: try parser.proxies.parseDestination("half-close to server")) },
        Phrase(
            LanguageEntry(
                "reset", ["reset client"],
                "an RST to this side; waiting bytes are dropped. The other side notices nothing",
                example: "reset client")
        ) { parser throws(Abandoned) in .reset(try parser.proxies.parseSide("reset client")) },
        Phrase(
            LanguageEntry(
                "vanish", ["vanish server"],
                "this side notices nothing: no FIN, no RST. Whatever it sends later is answered by an RST. This requires CAP_NET_ADMIN; without it the case is skipped",
                example: "vanish server")
        ) { parser throws(Abandoned) in .vanish(try parser.proxies.parseSide("vanish server")) },
    ]
    static let entries = index(phrases, [watching])

    /// The entry for what follows the words of a ``ConnectionExpectation``.
    static let watching = LanguageEntry(
        "… from", ["expect line /^DATA/ from client", "expect 10 bytes from server", "expect eof from client"],
        "watches the bytes from this side without consuming them: they are forwarded as before. Each side has its own position, up to which steps have looked",
        example: "expect line /^DATA/ from client", after: "X accept", choice: nil, timing: .both)

    /// Whether the action changes how bytes are forwarded, so that it has no effect unless bytes arrive.
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
