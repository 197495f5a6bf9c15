package import ProbeBase

/// A TLS action of one of the harness's own connections, in addition to sending and closing.
package enum TLSAction: Sendable {
    case start(TLSStart)
    case closeWithoutNotify
    /// Sends a record of any content type. The harness writes the record itself, because OpenSSL can't write such
    /// records.
    case sendRecord(type: Expression, Expression)
    /// Sends an alert. The harness writes the record of the alert itself.
    case sendAlert(level: Expression, Expression)
    case sendNotify
    case sendMessage(TLSMessage)
    case fault(TLSRecordFault)
}

/// A post-handshake message that OpenSSL writes.
package enum TLSMessage: Sendable {
    case keyUpdate(isRequested: Bool)
    case ticket
    case helloRequest

    /// The only TLS version in which the message exists.
    package var version: TLSVersion {
        switch self {
        case .keyUpdate, .ticket: .tls13
        case .helloRequest: .tls12
        }
    }

    /// Whether only a server sends the message.
    package var isServerOnly: Bool {
        switch self {
        case .keyUpdate: false
        case .ticket, .helloRequest: true
        }
    }

    fileprivate var spelling: String {
        switch self {
        case .keyUpdate: "send key-update"
        case .ticket: "send ticket"
        case .helloRequest: "send hello-request"
        }
    }
}

/// A fault in the next record that a connection sends. The raw value is the step that requests the fault; such a step
/// can't follow a record that the harness wrote itself.
package enum TLSRecordFault: String, Sendable, CaseIterable {
    case corruptNextRecord = "corrupt next record"
}

/// The options and clauses of `start tls …`.
package struct TLSStart: Sendable {
    package var options: TLSOptions
    package var outcome = TLSOutcome.succeeds
    /// The clause that cuts the first flight of the handshake.
    package var cut: Cut<Parsed>?
    package var pace: Pace?
    /// The number of bytes of the first flight that are sent before the handshake stops; `nil` if the handshake is
    /// completed.
    package var stopsAfter: Expression?

    init(options: TLSOptions) { self.options = options }
}

// MARK: The table

extension TLSAction {
    static let phrases: [Phrase<ActionParser, TLSAction>] = [
        Phrase(
            LanguageEntry(
                "start tls",
                ["start tls", "start tls cert expired"],
                "performs the TLS handshake on an established connection (STARTTLS). The TLS options of a declaration can follow. Plaintext bytes that are still unread fail the case",
                more: [
                    (
                        ["start tls failed", "start tls failed unknown-ca"],
                        "expects the handshake to fail and, if an alert is named, that alert to be received or sent"
                    ),
                    (
                        ["start tls cut at 3", "start tls in pieces of 1B every 5ms"],
                        "cuts or paces the first flight of the TLS handshake"
                    ),
                    (
                        ["start tls stop after 100 bytes"],
                        "sends only the given number of bytes of the first flight, so that the TLS handshake hangs"
                    ),
                ], example: "start tls", timing: .both), needsAllWords: false
        ) { parser throws(Abandoned) in .start(try parser.parseStartTLS()) },
        Phrase(
            LanguageEntry(
                "close without notify",
                "sends a FIN without a preceding close_notify, as if the stream had been truncated",
                example: "close without notify"), needsAllWords: false
        ) { _ throws(Abandoned) in .closeWithoutNotify },
        Phrase(
            LanguageEntry(
                "send record", ["send record 23 V"],
                "sends a record of any content type, given by number. The harness itself encrypts the record, which restricts the connection to TLS 1.3 with TLS_AES_128_GCM_SHA256. An ordinary `send` can't follow such a record",
                example: "send record 23 \"text\""), when: { !$0.isVariableHere }
        ) { parser throws(Abandoned) in
            let type = try parser.values.parseExpression("a content type", "send record 23 \"text\"")
            return .sendRecord(type: type, try parser.values.parseExpression("a value", "send record 23 \"text\""))
        },
        Phrase(
            LanguageEntry(
                "send alert", ["send alert fatal 40", "send alert warning close-notify"],
                "sends an alert, given by name or number, under the same restrictions as `send record`",
                example: "send alert fatal handshake-failure"),
            when: { !$0.isVariableHere }
        ) { parser throws(Abandoned) in
            let level = try parser.tls.parseAlertLevel()
            return .sendAlert(level: level, try parser.tls.parseAlert("send alert fatal 40"))
        },
        Phrase(
            LanguageEntry(
                "send notify",
                "sends only a close_notify; the connection stays open. A later `send` sends data after the close_notify",
                example: "send notify"), when: { $0.isAlone }
        ) { _ throws(Abandoned) in .sendNotify },
        Phrase(
            LanguageEntry(
                "send key-update", ["send key-update", "send key-update requested"],
                "TLS 1.3 only: sends a KeyUpdate, so that the next record is encrypted with the next key; with `requested`, the peer is asked to update its key as well",
                example: "send key-update"), when: { $0.isAlone || $0.isWord("requested", ahead: 1) }
        ) { parser throws(Abandoned) in .sendMessage(.keyUpdate(isRequested: parser.cursor.take(word: "requested"))) },
        Phrase(
            LanguageEntry(
                "send ticket", "TLS 1.3 servers only: sends a ticket for resuming the session in a later connection",
                example: "send ticket"
            )
            .serverOnly(),
            when: { $0.isAlone }
        ) { _ throws(Abandoned) in .sendMessage(.ticket) },
        Phrase(
            LanguageEntry(
                "send hello-request", "TLS 1.2 servers only: requests a new handshake", example: "send hello-request"
            )
            .serverOnly(),
            when: { $0.isAlone }
        ) { _ throws(Abandoned) in .sendMessage(.helloRequest) },
        phrase(.corruptNextRecord, "flips one bit in the ciphertext of the next record that is sent"),
    ]

    private static func phrase(_ fault: TLSRecordFault, _ meaning: String) -> Phrase<ActionParser, TLSAction> {
        let step = fault.rawValue
        return Phrase(LanguageEntry(step, meaning, example: step), needsAllWords: true) { _ throws(Abandoned) in
            .fault(fault)
        }
    }

    var spelling: String {
        switch self {
        case .start: "start tls"
        case .closeWithoutNotify: "close without notify"
        case .sendRecord: "send record"
        case .sendAlert: "send alert"
        case .sendNotify: "send notify"
        case .sendMessage(let message): message.spelling
        case .fault(let fault): fault.rawValue
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .start(let start):
            start.options.values + start.outcome.values
                + (start.stopsAfter.map { [.integer($0, "the number of bytes", 0...Int.max)] } ?? [])
        case .sendRecord(let type, let value): [.integer(type, "a content type", 0...255), .bytes(value)]
        case .sendAlert(let level, let alert):
            [.integer(level, "a level", 0...255), .integer(alert, "an alert", 0...255)]
        case .closeWithoutNotify, .sendNotify, .sendMessage, .fault: []
        }
    }

    var effect: ActionEffect {
        switch self {
        case .start: .startsTLS
        case .closeWithoutNotify: .ends(verb: spelling)
        case .sendNotify: .sendsNotify
        case .sendRecord, .sendAlert: .forges
        case .sendMessage, .fault: .usesTLS
        }
    }
}
