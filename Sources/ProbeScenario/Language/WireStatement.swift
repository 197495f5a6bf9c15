package import ProbeBase

/// An assertion about what the capture shows: `wire …`.
package enum WireStatement<Stage: StatementStage>: Sendable {
    case halfConnection(from: Name, to: Name, HalfConnectionStatement<Stage>)
    /// A FIN was sent: `wire fin from S`, `wire fin from P to S`.
    case fin(from: Name, to: Name?)
    case rst(from: Name, to: Name?)
    case noReset
    case closedFirst(by: Name)
    case handshakeComplete
    case noRetransmission
    case packets(Comparison, Stage.Number)
    /// A statement about the packets that arrived at their receivers.
    indirect case arrived(WireStatement)
}

extension WireStatement {
    /// The connections to which a statement applies.
    package enum Subject {
        /// The connection between two actors, or the only connection of one actor.
        case connection(Name, Name?)
        case every
    }

    package var subject: Subject {
        switch self {
        case .halfConnection(let from, let to, _): .connection(from, to)
        case .fin(let from, let to), .rst(let from, let to): .connection(from, to)
        case .closedFirst(let name): .connection(name, nil)
        case .noReset, .handshakeComplete, .noRetransmission, .packets: .every
        case .arrived(let statement): statement.subject
        }
    }

    /// The actors that the statement names.
    package var names: [Name] {
        switch subject {
        case .connection(let from, let to): [from] + (to.map { [$0] } ?? [])
        case .every: []
        }
    }

    /// Whether the statement concerns the division of streams into segments, or the speed at which the streams were
    /// read.
    package var isAboutCuts: Bool {
        switch self {
        case .halfConnection(_, _, let statement): statement.isAboutCuts
        case .packets, .noRetransmission: true
        case .arrived(let statement): statement.isAboutCuts
        case .fin, .rst, .noReset, .closedFirst, .handshakeComplete: false
        }
    }
}

// MARK: The table

/// The phrases of statements about the wire.
enum WirePhrases {
    /// The phrases that follow `S -> T`.
    static let halfConnectionPhrases: [Phrase<WireParser, HalfConnectionStatement<Parsed>>] = [
        Phrase(
            LanguageEntry(
                "bytes", ["bytes V"],
                "everything that S has sent on the connection is exactly V: additional or missing bytes fail the step",
                example: "bytes \"text\"", timing: .wire)
        ) { parser throws(Abandoned) in
            .bytes(try parser.values.parseExpression("a value", "wire S -> T bytes \"text\""))
        },
        Phrase(
            LanguageEntry(
                "segments", ["segments 3"],
                "S has sent the given number of data segments, which can be 0; a comparison such as `>= 3` is also possible",
                more: [
                    (
                        ["segments \"a\", \"b\""],
                        "the data segments of S have the given contents, in the order of the stream"
                    )
                ],
                example: "segments \"220 rea\", \"dy\\r\", \"\\n\"", timing: .wire)
        ) { parser throws(Abandoned) in try parser.parseSegments() },
        Phrase(
            LanguageEntry(
                "gap",
                "the comparison is true for each interval between two data segments; `gap 1 >= 25ms` applies only to the first interval",
                example: "gap >= 25ms",
                timing: .wire)
        ) { parser throws(Abandoned) in try parser.parseGap() },
        Phrase.comparison(
            LanguageEntry(
                "largest segment", "the comparison is true for the payload size of the largest segment",
                example: "largest segment <= 1460B",
                timing: .wire), needsAllWords: true
        ) { .largestSegment($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "longest line",
                "the comparison is true for the length of the longest line, excluding its terminator. Lines end with LF; for an unfinished line, the bytes sent so far are counted",
                example: "longest line <= 1024", timing: .wire), needsAllWords: true
        ) { .longestLine($0, $1) },
        Phrase(
            LanguageEntry(
                "lines",
                "every line ends with the given terminator, and nothing follows the last line; with `crlf`, there is no bare CR or LF. The terminator can also be `lf`, `cr`, `nul` or a delimiter such as `\"END\"`",
                example: "lines crlf", timing: .wire)
        ) { parser throws(Abandoned) in
            let place = parser.cursor.place
            let framing = try parser.values.parseFraming()
            guard framing.terminator != nil else {
                throw parser.cursor.fail(
                    .unknownWord, "`lines` accepts only \(Framing.lineWords)",
                    hint: "use a terminator, as in `wire S -> T lines crlf`", at: place)
            }
            return .lines(framing)
        },
        Phrase.comparison(
            LanguageEntry(
                "messages",
                "the comparison is true for the number of complete lines or messages, as defined by the `framing` of the header",
                example: "messages 5", timing: .wire)
        ) { .messages($0, $1, ()) },
        Phrase(
            LanguageEntry(
                "first byte within",
                "the first data byte follows the end of the handshake within the given time. This `within` is the limit that is judged; the deadline of the step is `timeout`",
                example: "first byte within 10ms", timing: .wire), needsAllWords: true
        ) { parser throws(Abandoned) in .firstByte(within: try parser.values.parseDuration("first byte within 10ms")) },
        Phrase(
            LanguageEntry("zero window", "S has advertised a window of 0", example: "zero window", timing: .wire),
            needsAllWords: true
        ) { _ throws(Abandoned) in .zeroWindow },
        Phrase.comparison(
            LanguageEntry(
                "window", "the comparison is true for the largest window that S has advertised",
                example: "window >= 4KiB",
                timing: .wire)
        ) { .window($0, $1) },
        Phrase(
            LanguageEntry("urgent", "S has sent a segment with the URG flag", example: "urgent", timing: .wire)
        ) { _ throws(Abandoned) in .urgent },
        Phrase.comparison(
            LanguageEntry(
                "retransmissions",
                "the comparison is true for the number of retransmissions sent by S; tail-loss probes are not counted",
                example: "retransmissions 0",
                timing: .wire)
        ) { .retransmissions($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "sacks",
                "the comparison is true for the number of acknowledgments sent by S that list blocks received after a gap (RFC 2018)",
                example: "sacks >= 1",
                timing: .wire)
        ) { .sacks($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "duplicate acks",
                "the comparison is true for the number of acknowledgments sent by S that repeat the previous acknowledgment while data is in flight (RFC 5681)",
                example: "duplicate acks >= 3", timing: .wire), needsAllWords: true
        ) { .duplicateAcks($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "keepalives",
                "the comparison is true for the number of keep-alive probes that S has sent on the idle connection (RFC 9293, section 3.8.4)",
                example: "keepalives >= 2", timing: .wire)
        ) { .keepAlives($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "records",
                "the comparison is true for the number of complete TLS records, counted from the first ClientHello, ServerHello or alert in the clear. `records 0` means that no record has begun",
                example: "records 3", timing: .wire)
        ) { .records($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "frames",
                "the comparison is true for the number of complete WebSocket frames after the opening handshake, including control frames. `frames 0` means that no frame has begun",
                example: "frames 3", timing: .wire)
        ) { .frames($0, $1) },
        Phrase(
            LanguageEntry(
                "tls", ["tls"],
                "S has sent at least one TLS record, everything from the first record on consists of TLS records, and the last record is complete",
                more: [
                    (
                        ["tls from the start"],
                        "everything that S has sent consists of TLS records, from the first byte on"
                    )
                ],
                example: "tls", timing: .wire)
        ) { parser throws(Abandoned) in
            guard parser.cursor.take(word: "from") else { return .tls(fromStart: false) }
            try parser.cursor.expect(word: "the", "tls from the start")
            try parser.cursor.expect(word: "start", "tls from the start")
            return .tls(fromStart: true)
        },
        Phrase(
            LanguageEntry(
                "lacks", ["lacks V"],
                "S has sent data, and the data sent so far does not contain V in the clear. If bytes are missing from the capture, the result is inconclusive",
                example: "lacks \"PASS\"", timing: .wire)
        ) { parser throws(Abandoned) in
            .lacks(try parser.values.parseExpression("a value", "wire S -> T lacks \"PASS\""))
        },
    ]

    /// The phrases that do not begin with `S -> T`.
    static let all: [Phrase<WireParser, WireStatement<Parsed>>] =
        [
            Phrase(
                LanguageEntry(
                    "fin from",
                    "S has sent a FIN. If the actor has several connections, name the other end, as in `wire fin from P to S`",
                    example: "wire fin from S", timing: .wire), needsAllWords: true
            ) { parser throws(Abandoned) in
                let (from, to) = try parser.parseSender("wire fin from S")
                return .fin(from: from, to: to)
            },
            Phrase(
                LanguageEntry(
                    "rst from",
                    "S has sent an RST. If the actor has several connections, name the other end, as in `wire rst from P to S`",
                    example: "wire rst from S", timing: .wire), needsAllWords: true
            ) { parser throws(Abandoned) in
                let (from, to) = try parser.parseSender("wire rst from S")
                return .rst(from: from, to: to)
            },
            Phrase(
                LanguageEntry(
                    "no rst", "there has been no RST on any connection so far", example: "wire no rst", timing: .wire),
                needsAllWords: true
            ) { _ throws(Abandoned) in .noReset },
            Phrase(
                LanguageEntry(
                    "closed by", "S sent its FIN or RST before the other end did", example: "wire closed by S first",
                    timing: .wire), needsAllWords: true
            ) { parser throws(Abandoned) in
                let name = try parser.cursor.parseName("a name", "wire closed by S first")
                try parser.cursor.expect(word: "first", "wire closed by S first")
                return .closedFirst(by: name)
            },
            Phrase(
                LanguageEntry(
                    "handshake complete", "every connection so far has completed its handshake",
                    example: "wire handshake complete",
                    timing: .wire), needsAllWords: true
            ) { _ throws(Abandoned) in .handshakeComplete },
        ] + ["no retransmission", "no retransmissions"].map(noRetransmission) + [
            Phrase.comparison(
                LanguageEntry(
                    "packets",
                    "the comparison is true for the number of packets of each connection so far, in both directions",
                    example: "wire packets <= 20",
                    timing: .wire)
            ) { .packets($0, $1) }
        ]
    static let halfConnectionIndex = PhraseIndex(halfConnectionPhrases)
    static let index = PhraseIndex(all)
    /// The statements that messages list as choices.
    static let halfConnectionChoices = halfConnectionPhrases.compactMap(\.entry.choice)
    static let choices = all.filter(\.isListed).compactMap(\.entry.choice)

    private static func noRetransmission(_ words: String) -> Phrase<WireParser, WireStatement<Parsed>> {
        var phrase = Phrase<WireParser, WireStatement<Parsed>>(
            LanguageEntry(
                "no retransmission", "there has been no retransmission on any connection so far",
                example: "wire no retransmission",
                timing: .wire),
            words: words, needsAllWords: true
        ) { _ throws(Abandoned) in .noRetransmission }
        phrase.isListed = words == phrase.entry.spelling
        return phrase
    }
}

extension HalfConnectionStatement {
    var spelling: String {
        switch self {
        case .bytes: "bytes"
        case .segmentCount, .segments: "segments"
        case .gap: "gap"
        case .largestSegment: "largest segment"
        case .longestLine: "longest line"
        case .lines: "lines"
        case .messages: "messages"
        case .firstByte: "first byte within"
        case .zeroWindow: "zero window"
        case .window: "window"
        case .urgent: "urgent"
        case .retransmissions: "retransmissions"
        case .sacks: "sacks"
        case .duplicateAcks: "duplicate acks"
        case .keepAlives: "keepalives"
        case .records: "records"
        case .frames: "frames"
        case .tls: "tls"
        case .lacks: "lacks"
        }
    }

    /// Whether the statement concerns the bytes sent or their segments. With TLS, the bytes and segments on the wire
    /// are different.
    var isAboutContents: Bool {
        switch self {
        case .bytes, .segmentCount, .segments, .gap, .largestSegment, .longestLine, .lines, .messages, .firstByte,
            .frames:
            true
        case .zeroWindow, .window, .urgent, .retransmissions, .sacks, .duplicateAcks, .keepAlives, .records, .tls,
            .lacks:
            false
        }
    }

    /// Whether the statement concerns the division of a stream into segments, or the speed at which the stream was
    /// read. Such a statement can become false if the same bytes are sent in different segments or at a different
    /// speed.
    fileprivate var isAboutCuts: Bool {
        switch self {
        case .segmentCount, .segments, .gap, .largestSegment, .firstByte, .records, .retransmissions, .sacks,
            .duplicateAcks, .keepAlives, .zeroWindow, .window:
            true
        case .bytes, .longestLine, .lines, .messages, .frames, .tls, .lacks, .urgent: false
        }
    }
}

extension WireStatement {
    var spelling: String {
        switch self {
        case .halfConnection(_, _, let statement): statement.spelling
        case .fin: "fin from"
        case .rst: "rst from"
        case .noReset: "no rst"
        case .closedFirst: "closed by"
        case .handshakeComplete: "handshake complete"
        case .noRetransmission: "no retransmission"
        case .packets: "packets"
        case .arrived(let statement): statement.spelling
        }
    }
}

// MARK: Values

extension HalfConnectionStatement<Parsed> {
    var values: [ValueCheck] {
        switch self {
        case .bytes(let value), .lacks(let value): [.nonEmptyBytes(value)]
        case .segments(let values): values.map(ValueCheck.nonEmptyBytes)
        case .segmentCount(_, let value): [.integer(value, "the number of segments", 0...Int.max)]
        case .largestSegment(_, let value), .longestLine(_, let value), .window(_, let value):
            [.integer(value, "the size", 0...Int.max)]
        case .messages(_, let value, _), .retransmissions(_, let value), .records(_, let value), .frames(_, let value),
            .sacks(_, let value), .duplicateAcks(_, let value), .keepAlives(_, let value):
            [.integer(value, "the number", 0...Int.max)]
        case .gap, .lines, .firstByte, .zeroWindow, .urgent, .tls: []
        }
    }

    fileprivate func resolved(
        by evaluator: Evaluator, deadline: (Duration) -> Duration
    ) throws(EvaluationError) -> HalfConnectionStatement<Resolved> {
        switch self {
        case .bytes(let value): return .bytes(try evaluator.bytes(of: value))
        case .segmentCount(let comparison, let count):
            return .segmentCount(comparison, try evaluator.integer(of: count))
        case .segments(let values):
            var segments: [[UInt8]] = []
            for value in values { segments.append(try evaluator.bytes(of: value)) }
            return .segments(segments)
        case .gap(let index, let comparison, let duration): return .gap(index: index, comparison, duration)
        case .largestSegment(let comparison, let size):
            return .largestSegment(comparison, try evaluator.integer(of: size))
        case .longestLine(let comparison, let size): return .longestLine(comparison, try evaluator.integer(of: size))
        case .lines(let framing): return .lines(framing)
        case .messages(let comparison, let count, _):
            return .messages(comparison, try evaluator.integer(of: count), evaluator.framing)
        case .firstByte(let duration): return .firstByte(within: deadline(duration))
        case .zeroWindow: return .zeroWindow
        case .window(let comparison, let size): return .window(comparison, try evaluator.integer(of: size))
        case .urgent: return .urgent
        case .retransmissions(let comparison, let count):
            return .retransmissions(comparison, try evaluator.integer(of: count))
        case .sacks(let comparison, let count): return .sacks(comparison, try evaluator.integer(of: count))
        case .duplicateAcks(let comparison, let count):
            return .duplicateAcks(comparison, try evaluator.integer(of: count))
        case .keepAlives(let comparison, let count): return .keepAlives(comparison, try evaluator.integer(of: count))
        case .records(let comparison, let count): return .records(comparison, try evaluator.integer(of: count))
        case .frames(let comparison, let count): return .frames(comparison, try evaluator.integer(of: count))
        case .tls(let fromStart): return .tls(fromStart: fromStart)
        case .lacks(let value): return .lacks(try evaluator.bytes(of: value))
        }
    }
}

extension WireStatement<Parsed> {
    var values: [ValueCheck] {
        switch self {
        case .halfConnection(_, _, let statement): statement.values
        case .packets(_, let value): [.integer(value, "the number of packets", 0...Int.max)]
        case .arrived(let statement): statement.values
        case .fin, .rst, .noReset, .closedFirst, .handshakeComplete, .noRetransmission: []
        }
    }

    /// Returns the statement with its values computed.
    ///
    /// - Parameters:
    ///   - evaluator: an evaluator with the framing that `messages` uses for counting.
    ///   - deadline: a function that scales the deadline of `first byte within`. All other values remain as in the
    ///     script.
    package func resolved(
        by evaluator: Evaluator, deadline: (Duration) -> Duration = { $0 }
    ) throws(EvaluationError) -> WireStatement<Resolved> {
        switch self {
        case .halfConnection(let from, let to, let statement):
            return .halfConnection(from: from, to: to, try statement.resolved(by: evaluator, deadline: deadline))
        case .fin(let from, let to): return .fin(from: from, to: to)
        case .rst(let from, let to): return .rst(from: from, to: to)
        case .noReset: return .noReset
        case .closedFirst(let name): return .closedFirst(by: name)
        case .handshakeComplete: return .handshakeComplete
        case .noRetransmission: return .noRetransmission
        case .packets(let comparison, let count): return .packets(comparison, try evaluator.integer(of: count))
        case .arrived(let statement): return .arrived(try statement.resolved(by: evaluator, deadline: deadline))
        }
    }
}
