package import ProbeBase

/// An action of one of the harness's own connections.
package enum ConnectionAction: LanguageElement {
    case send(SendStatement)
    case expect(ConnectionExpectation<Parsed>)
    case close
    case halfClose
    case reset
    /// The connection disappears without a FIN or an RST. If `silently` is set, later packets from the peer are not
    /// answered.
    case vanish(silently: Bool)
    case stopReading
    case resumeReading
    /// Reads at a limited rate: `read 1B every 100ms`.
    case readSlowly(bytes: Expression, every: Duration)
    case set(SocketOption)
    case ignoreRest
    case framing(Framing)
    case tls(TLSAction)
}

extension ConnectionAction {
    /// The TCP feature that the action requires, as written in a script; `nil` if the action also works on a Unix
    /// socket.
    package var tcpOnlyFeature: String? {
        switch self {
        case .reset: "reset"
        case .vanish: "vanish"
        case .send(let statement) where statement.mode == .urgent: "send urgent"
        case .send(let statement) where statement.carriesFIN: "send … with fin"
        case .set(let option) where option.isTCPOnly: option.word
        default: nil
        }
    }

    /// The action `ignore rest`.
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
                "starts sending V in the background and completes immediately; the next `send` on the connection starts after this send has ended",
                example: "start sending \"x\" * 64KiB", timing: .send)
        ) { parser throws(Abandoned) in .send(try parser.parseSend(inBackground: true)) },
        Phrase(
            LanguageEntry(
                "close",
                "closes the connection with a FIN. Bytes in the kernel's receive buffer are read first. If reading was stopped and the buffer is not empty, the step is an error, because the kernel would send an RST",
                example: "close")
        ) { _ throws(Abandoned) in .close },
        Phrase(
            LanguageEntry("half-close", "closes the sending side with a FIN; reading continues", example: "half-close")
        ) { _ throws(Abandoned) in .halfClose },
        Phrase(
            LanguageEntry(
                "reset",
                "resets the connection with an RST, which discards unread bytes and bytes that were sent but not delivered yet",
                example: "reset")
        ) { _ throws(Abandoned) in .reset },
        Phrase(
            LanguageEntry(
                "vanish",
                "the connection disappears without a FIN or an RST, as after a power failure. Bytes that were sent but not delivered yet are discarded. Anything that the peer sends later is answered with an RST, as if the machine were up again; a server continues to listen. Requires CAP_NET_ADMIN; without it, the case is skipped",
                more: [
                    (
                        ["vanish silently"],
                        "the connection disappears and the machine stays down: until the case ends, nothing that the peer sends is answered. The step first waits until the peer has acknowledged all sent bytes. Requires no privileges"
                    )
                ], example: "vanish"
            ).ifNeeded()
        ) { parser throws(Abandoned) in .vanish(silently: parser.cursor.take(word: "silently")) },
        Phrase(
            LanguageEntry(
                "stop reading",
                "stops reading, so that the receive window closes when the receive buffer is full. Before `connect` or `accept`, the step applies to future connections",
                example: "stop reading")
        ) { _ throws(Abandoned) in .stopReading },
        Phrase(
            LanguageEntry(
                "resume reading",
                "after a `stop reading` or a slow `read`, reads received data immediately again. Before `connect` or `accept`, the step applies to future connections",
                example: "resume reading"),
            needsAllWords: true
        ) { _ throws(Abandoned) in .resumeReading },
        Phrase(
            LanguageEntry(
                "read … every",
                "reads only the given number of bytes at each interval, until `resume reading` or `stop reading`. Before `connect` or `accept`, the step applies to future connections",
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
                "sets a socket option. Setting a buffer size on an established connection is an error, because the buffer size then no longer limits the window. Before `connect` or `accept`, the step applies to future connections",
                example: "set nodelay off")
        ) { parser throws(Abandoned) in .set(try parser.endpoints.parseSocketOption()) },
        Phrase(
            LanguageEntry(
                "framing", ["framing u16"],
                "changes what `line` and `message` mean for the connection from this step on", example: "framing u16")
        ) { parser throws(Abandoned) in .framing(try parser.values.parseFraming()) },
        Phrase(
            LanguageEntry(
                "ignore rest", "from this step on, bytes that no step expects are not an error", example: "ignore rest"),
            needsAllWords: true
        ) { _ throws(Abandoned) in .ignoreRest },
    ]
    static let entries = index(phrases)

    private static let sendEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "send", ["send V"],
            "sends V; the step completes when the kernel has accepted all bytes. The step fails if it makes no progress for the duration of `timeout`, not counting the pauses due to pacing",
            more: [
                (
                    ["send V \\| W"],
                    "sends V and W as separate segments: W is written once the kernel has no unsent bytes left"
                ),
                (
                    ["send V cut at 3, 7"],
                    "sends V as separate segments, cut at the given offsets, which must be ascending; an offset at or beyond the end of V is an error. `\\|` and `cut` cannot be combined"
                ),
                (
                    ["send V in pieces of 2B"],
                    "sends V as separate segments of the given size; the last segment may be shorter"
                ),
                (
                    ["send V cut at random seed 7"],
                    "sends V as separate segments, cut at up to 64 random offsets; the same seed gives the same offsets"
                ),
                (
                    ["… every 30ms"],
                    "sends each piece 30 ms after the previous piece was sent; this interval is never shortened to make up for a delay. With a single piece, the clause has no effect"
                ),
                (
                    ["… at 10B/s"],
                    "limits the average rate of the send, measured from its first byte. Without a cut, bytes are sent every 10 ms, or one at a time at longer intervals if the rate is very low"
                ),
                (
                    ["send line V", "send message V"],
                    "sends V as a line or message of the `framing`; with `websocket`, as a text message, which a client masks. Cuts and `\\|` divide the bytes of the whole line or message, including a terminator, which is at the end of the last piece"
                ),
                (["send urgent \"!\""], "sends one out-of-band byte"),
                (
                    ["send V with fin"],
                    "sends the FIN in the segment of the last piece of V, not in a separate segment; like `half-close`, this closes the sending side. The clause is not available with TLS, because a close_notify precedes the FIN. If the last segment is full and has no room for the FIN, the case is inconclusive"
                ),
                (
                    ["send V in records of 1B"],
                    "with TLS: divides the plaintext into records of the given size instead of 16 KiB. `\\|`, `cut` and `in pieces of` count the bytes on the wire, so offset 3 is in the header of the first record"
                ),
                (["send plaintext V"], "sends V unencrypted, bypassing TLS"),
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
            expectation.requiresTLS
                ? .observesTLS(ends: expectation.isEnd) : expectation.isEnd ? .peerEnds : .usesConnection
        case .close, .reset, .vanish: .ends(verb: spelling)
        case .halfClose: .endsSending
        case .stopReading, .resumeReading, .readSlowly: .changesReading
        case .set(.receiveBuffer), .set(.sendBuffer): .changesBuffer
        case .set(.noDelay), .set(.keepAlive), .set(.keepAliveEvery), .ignoreRest, .framing: .changesOption
        }
    }
}
