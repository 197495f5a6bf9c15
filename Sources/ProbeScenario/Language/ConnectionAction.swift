package import ProbeBase

/// An action of a connection of the harness.
package enum ConnectionAction: LanguageElement {
    case send(SendStatement)
    case expect(ConnectionExpectation<Parsed>)
    case close
    case halfClose
    case reset
    /// The connection vanishes without a FIN or an RST. If `silently`, later packets are not answered either.
    case vanish(silently: Bool)
    case stopReading
    case resumeReading
    /// `read 1B every 100ms`
    case readSlowly(bytes: Expression, every: Duration)
    case set(SocketOption)
    case ignoreRest
    case framing(Framing)
    case tls(TLSAction)
}

extension ConnectionAction {
    /// The script's words for a TCP feature that the action needs; `nil` if the action also works on a Unix socket.
    package var neededOfTCP: String? {
        switch self {
        case .reset: "reset"
        case .vanish: "vanish"
        case .send(let statement) where statement.mode == .urgent: "send urgent"
        case .send(let statement) where statement.carriesFIN: "send … with fin"
        case .set(let option) where option.isOfTCP: option.word
        default: nil
        }
    }

    /// `ignore rest`
    package static var restIgnored: ConnectionAction { .ignoreRest }

    /// Whether the action is `ignore rest`.
    package var ignoresRest: Bool { if case .ignoreRest = self { true } else { false } }
}

// MARK: The table

extension ConnectionAction {
    static let phrases = own + TLSAction.phrases.map { $0.map(ConnectionAction.tls) }

    private static let own: [Phrase<ActionParser, ConnectionAction>] = [
        Phrase(sendEntry) { parser throws(Abandoned) in .send(try parser.parseSend(inBackground: false)) },
        Phrase(
            LanguageEntry(
                "start sending", ["start sending V"],
                "begins, and is done at once; the next `send` on that connection waits its turn",
                example: "start sending \"x\" * 64KiB", timing: .send)
        ) { parser throws(Abandoned) in .send(try parser.parseSend(inBackground: true)) },
        Phrase(
            LanguageEntry(
                "close",
                "FIN. The kernel is read empty first; where reading was stopped and bytes lie there it is an error, as the kernel would send an RST",
                example: "close")
        ) { _ throws(Abandoned) in .close },
        Phrase(
            LanguageEntry("half-close", "FIN of its sending side; reading goes on", example: "half-close")
        ) { _ throws(Abandoned) in .halfClose },
        Phrase(
            LanguageEntry(
                "reset", "RST; drops what was sent and not delivered yet, and what is unread", example: "reset")
        ) { _ throws(Abandoned) in .reset },
        Phrase(
            LanguageEntry(
                "vanish",
                "the connection is gone without a word, as after a power cut: no FIN and no RST. What was sent and is not delivered yet is dropped. What the peer sends later is answered by an RST, as a machine does that is up again; a server goes on listening. It takes CAP_NET_ADMIN: without it the case is skipped",
                more: [
                    (
                        ["vanish silently"],
                        "the machine stays away: nothing answers what the peer sends later, until the case ends. It takes no privilege. It waits until the peer has acknowledged what was sent"
                    )
                ], example: "vanish"
            ).ifNeeded()
        ) { parser throws(Abandoned) in .vanish(silently: parser.cursor.take(word: "silently")) },
        Phrase(
            LanguageEntry(
                "stop reading",
                "nothing is read: the window shuts when the buffer is full. Before `connect` or `accept` it is for the connections to come",
                example: "stop reading")
        ) { _ throws(Abandoned) in .stopReading },
        Phrase(
            LanguageEntry(
                "resume reading",
                "reads at once again, after a `stop reading` or a slow `read`; before `connect` or `accept` too",
                example: "resume reading"),
            needsAllWords: true
        ) { _ throws(Abandoned) in .resumeReading },
        Phrase(
            LanguageEntry(
                "read … every",
                "slow reading, until `resume reading` or `stop reading`. Before `connect` or `accept` it is for the connections to come",
                example: "read 1B every 100ms"),
            words: "read", when: { $0.statementHolds("every") }
        ) { parser throws(Abandoned) in
            let count = try parser.values.parseExpression("a number of bytes", "read 10 bytes")
            guard parser.cursor.take(word: "every") else { throw parser.expectedReadClause() }
            return .readSlowly(bytes: count, every: try parser.values.parseDuration("read 1B every 100ms"))
        },
        Phrase(
            LanguageEntry(
                "set", ["set nodelay off"],
                "a socket option. A buffer on a connection that is up is an error: it no longer bounds the window. Before `connect` or `accept` it is for the connections to come",
                example: "set nodelay off")
        ) { parser throws(Abandoned) in .set(try parser.endpoints.parseSocketOption()) },
        Phrase(
            LanguageEntry(
                "framing", ["framing u16"],
                "changes what `line` and `message` mean for this connection from here on", example: "framing u16")
        ) { parser throws(Abandoned) in .framing(try parser.values.parseFraming()) },
        Phrase(
            LanguageEntry(
                "ignore rest", "from here on, bytes that nobody expects are no error", example: "ignore rest"),
            needsAllWords: true
        ) { _ throws(Abandoned) in .ignoreRest },
    ]
    static let entries = index(phrases)

    private static let sendEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "send", ["send V"],
            "done when the kernel has taken it all. It fails when nothing moved for `timeout`; waits that its own pacing asks for do not count",
            more: [
                (
                    ["send V \\| W"],
                    "each piece leaves as a separate segment: the next one is written when the kernel has nothing unsent"
                ),
                (
                    ["send V cut at 3, 7"],
                    "the same, cut at offsets of all the bytes, rising; an offset at or past the end is an error. `\\|` and `cut` exclude each other"
                ),
                (["send V in pieces of 2B"], "the same, in equal pieces (the last one may be shorter)"),
                (
                    ["send V cut at random seed 7"],
                    "1 to 64 offsets, chosen at random (fewer where two fall together); the same for the same seed"
                ),
                (
                    ["… every 30ms"],
                    "each piece leaves 30 ms after the one before it left: never less, no catching up. With one piece it has no effect"
                ),
                (
                    ["… at 10B/s"],
                    "on average, from the first byte. Without a cut it is kept in steps of 10 ms, or of one byte where that is slower"
                ),
                (
                    ["send line V", "send message V"],
                    "V as a line or message of `framing`: with `websocket` a text message, which a client masks. Cuts and `\\|` count the terminator too; it ends the last piece"
                ),
                (["send urgent \"!\""], "one byte out-of-band"),
                (
                    ["send V with fin"],
                    "the FIN leaves in the segment of the last piece, and not in one after it: the same end of sending as `half-close`. Not with TLS, where a close_notify comes before the FIN. A last segment that is full has no room: then the case is inconclusive"
                ),
                (
                    ["send V in records of 1B"],
                    "with TLS: how the plaintext is cut into records, else one for each 16 KiB. `\\|`, `cut` and `in pieces of` count the bytes on the wire: offset 3 lies in the first record's header"
                ),
                (["send plaintext V"], "past TLS, as it is"),
            ], example: "send \"220 rea\" | \"dy\\r\\n\" every 30ms", timing: .send)
        entry.pointsAtOperand = true
        return entry
    }()

    var spelling: String {
        switch self {
        case .send(let statement): statement.inBackground ? "start sending" : "send"
        case .expect: "expect"
        case .close: "close"
        case .halfClose: "half-close"
        case .reset: "reset"
        case .vanish: "vanish"
        case .stopReading: "stop reading"
        case .resumeReading: "resume reading"
        case .readSlowly: "read … every"
        case .set: "set"
        case .ignoreRest: "ignore rest"
        case .framing: "framing"
        case .tls(let action): action.spelling
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .send(let statement): [.send(statement, .connection)]
        case .expect(let expectation): expectation.values
        case .readSlowly(let count, _): [.integer(count, "the number of bytes", 1...Int.max)]
        case .set(let option): [.option(option)]
        case .tls(let action): action.values
        case .close, .halfClose, .reset, .vanish, .stopReading, .resumeReading, .ignoreRest, .framing: []
        }
    }

    var effect: ActionEffect {
        switch self {
        case .send(let statement): statement.carriesFIN ? .endsSending : .sends
        case .tls(let action): action.effect
        case .expect(let expectation):
            expectation.isOfTLS
                ? .observesTLS(ends: expectation.isEnd) : expectation.isEnd ? .peerEnds : .usesConnection
        case .close, .reset, .vanish: .ends(verb: spelling)
        case .halfClose: .endsSending
        case .stopReading, .resumeReading, .readSlowly: .changesReading
        case .set(.receiveBuffer), .set(.sendBuffer): .changesBuffer
        case .set(.noDelay), .set(.keepAlive), .set(.keepAliveEvery), .ignoreRest, .framing: .changesOption
        }
    }
}
