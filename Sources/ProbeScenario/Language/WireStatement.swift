package import ProbeBase

/// `wire …`: what the capture shows.
package enum WireStatement: LanguageElement {
    case halfConnection(from: Name, to: Name, HalfConnectionStatement)
    /// `wire fin from S`, `wire fin from P to S`
    case fin(from: Name, to: Name?)
    case rst(from: Name, to: Name?)
    case noReset
    case closedFirst(by: Name)
    case handshakeComplete
    case noRetransmission
    case packets(Comparison, Expression)
    indirect case arrived(WireStatement)
}

extension WireStatement {
    /// Whether the statement is about how streams were cut, or how fast they were read.
    package var isAboutCuts: Bool {
        switch self {
        case .halfConnection(_, _, let statement): statement.isAboutCuts
        case .packets, .noRetransmission: true
        case .arrived(let statement): statement.isAboutCuts
        case .fin, .rst, .noReset, .closedFirst, .handshakeComplete: false
        }
    }

    /// The actors that the statement names.
    package var names: [Name] {
        switch self {
        case .halfConnection(let from, let to, _): [from, to]
        case .fin(let from, let to), .rst(let from, let to): [from] + (to.map { [$0] } ?? [])
        case .closedFirst(let name): [name]
        case .arrived(let statement): statement.names
        case .noReset, .handshakeComplete, .noRetransmission, .packets: []
        }
    }
}

/// What one end of a connection has sent.
package enum HalfConnectionStatement: LanguageElement {
    case bytes(Expression)
    case segmentCount(Comparison, Expression)
    case segments([Expression])
    /// `gap >= 25ms` (`index` is `nil`: every gap) or `gap 1 >= 25ms`
    case gap(index: Int?, Comparison, Duration)
    case largestSegment(Comparison, Expression)
    case longestLine(Comparison, Expression)
    case lines(Framing)
    case messages(Comparison, Expression)
    case firstByte(within: Duration)
    case zeroWindow
    case window(Comparison, Expression)
    case urgent
    case retransmissions(Comparison, Expression)
    case sacks(Comparison, Expression)
    case duplicateAcks(Comparison, Expression)
    case keepAlives(Comparison, Expression)
    case records(Comparison, Expression)
    case frames(Comparison, Expression)
    case tls(fromStart: Bool)
    case lacks(Expression)
}

// MARK: The table

extension HalfConnectionStatement {
    static let phrases: [Phrase<WireParser, HalfConnectionStatement>] = [
        Phrase(
            LanguageEntry(
                "bytes", ["bytes V"], "all that S has sent on the connection is V: bytes more or less fail",
                example: "bytes \"text\"", timing: .wire)
        ) { parser throws(Abandoned) in
            .bytes(try parser.values.parseExpression("a value", "wire S -> T bytes \"text\""))
        },
        Phrase(
            LanguageEntry(
                "segments", ["segments 3"],
                "this number of data segments; also `>= 3` and the other comparisons. `segments 0` is legal",
                more: [(["segments \"a\", \"b\""], "the data segments are these, in the order of the stream")],
                example: "segments \"220 rea\", \"dy\\r\", \"\\n\"", timing: .wire)
        ) { parser throws(Abandoned) in try parser.parseSegments() },
        Phrase(
            LanguageEntry(
                "gap", "each time between two data segments; `gap 1 >= 25ms` the first of them", example: "gap >= 25ms",
                timing: .wire)
        ) { parser throws(Abandoned) in try parser.parseGap() },
        Phrase.comparison(
            LanguageEntry(
                "largest segment", "payload of the largest segment", example: "largest segment <= 1460B",
                timing: .wire), needsAllWords: true
        ) { .largestSegment($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "longest line",
                "content of the longest LF-ended line, without its terminator; an unfinished line counts as far as it goes",
                example: "longest line <= 1024", timing: .wire), needsAllWords: true
        ) { .longestLine($0, $1) },
        Phrase(
            LanguageEntry(
                "lines",
                "every line ends in this way, and nothing follows the last one; `crlf`: no bare CR or LF. Also `lf`, `cr`, `nul`, `\"END\"`",
                example: "lines crlf", timing: .wire)
        ) { parser throws(Abandoned) in
            let place = parser.cursor.place
            let framing = try parser.values.parseFraming()
            guard framing.terminator != nil else {
                throw parser.cursor.fail(
                    .unknownWord, "lines are looked at for \(Framing.lineWords)",
                    hint: "write wire S -> T lines crlf", at: place)
            }
            return .lines(framing)
        },
        Phrase.comparison(
            LanguageEntry("messages", "whole units of the header's `framing`", example: "messages 5", timing: .wire)
        ) { .messages($0, $1) },
        Phrase(
            LanguageEntry(
                "first byte within",
                "the first data byte, from the handshake's end; this `within` is the bound, the deadline is `timeout`",
                example: "first byte within 10ms", timing: .wire), needsAllWords: true
        ) { parser throws(Abandoned) in .firstByte(within: try parser.values.parseDuration("first byte within 10ms")) },
        Phrase(
            LanguageEntry("zero window", "S has announced a window of 0", example: "zero window", timing: .wire),
            needsAllWords: true
        ) { _ throws(Abandoned) in .zeroWindow },
        Phrase.comparison(
            LanguageEntry(
                "window", "the largest window that S has announced", example: "window >= 4KiB", timing: .wire)
        ) { .window($0, $1) },
        Phrase(
            LanguageEntry("urgent", "a segment with the URG flag", example: "urgent", timing: .wire)
        ) { _ throws(Abandoned) in .urgent },
        Phrase.comparison(
            LanguageEntry(
                "retransmissions", "how many of S; a tail-loss probe is none", example: "retransmissions 0",
                timing: .wire)
        ) { .retransmissions($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "sacks", "acknowledgements of S with blocks that it has received after a gap (RFC 2018)",
                example: "sacks >= 1",
                timing: .wire)
        ) { .sacks($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "duplicate acks",
                "acknowledgements of S that repeat the one before, while data is on its way (RFC 5681)",
                example: "duplicate acks >= 3", timing: .wire), needsAllWords: true
        ) { .duplicateAcks($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "keepalives",
                "probes of S whether the other end is still there, on an idle connection (RFC 9293, 3.8.4)",
                example: "keepalives >= 2", timing: .wire)
        ) { .keepAlives($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "records",
                "whole TLS records, counted from the first ClientHello, ServerHello or alert in the clear. `records 0`: not one has begun",
                example: "records 3", timing: .wire)
        ) { .records($0, $1) },
        Phrase.comparison(
            LanguageEntry(
                "frames",
                "complete WebSocket frames, including control frames, after the heads of the opening handshake. `frames 0`: none has begun",
                example: "frames 3", timing: .wire)
        ) { .frames($0, $1) },
        Phrase(
            LanguageEntry(
                "tls", ["tls"],
                "from S's first TLS record on, all is TLS records, and the last one is whole; one must be there",
                more: [(["tls from the start"], "so from the first byte on")], example: "tls", timing: .wire)
        ) { parser throws(Abandoned) in
            guard parser.cursor.take(word: "from") else { return .tls(fromStart: false) }
            try parser.cursor.expect(word: "the", "tls from the start")
            try parser.cursor.expect(word: "start", "tls from the start")
            return .tls(fromStart: true)
        },
        Phrase(
            LanguageEntry(
                "lacks", ["lacks V"],
                "S has sent something so far, and V was nowhere in it: not in the clear. If bytes are missing from the capture, the result is inconclusive",
                example: "lacks \"PASS\"", timing: .wire)
        ) { parser throws(Abandoned) in
            .lacks(try parser.values.parseExpression("a value", "wire S -> T lacks \"PASS\""))
        },
    ]
    static let entries = index(phrases)
    static let phraseIndex = PhraseIndex(phrases)

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

    var values: [ValueCheck] {
        switch self {
        case .bytes(let value), .lacks(let value): [.nonEmptyBytes(value)]
        case .segments(let values): values.map(ValueCheck.nonEmptyBytes)
        case .segmentCount(_, let value): [.integer(value, "the number of segments", 0...Int.max)]
        case .largestSegment(_, let value), .longestLine(_, let value), .window(_, let value):
            [.integer(value, "the size", 0...Int.max)]
        case .messages(_, let value), .retransmissions(_, let value), .records(_, let value), .frames(_, let value),
            .sacks(_, let value), .duplicateAcks(_, let value), .keepAlives(_, let value):
            [.integer(value, "the number", 0...Int.max)]
        case .gap, .lines, .firstByte, .zeroWindow, .urgent, .tls: []
        }
    }
}

extension HalfConnectionStatement {
    /// Whether the statement is about what was sent, and in which segments: TLS sends other bytes.
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

    /// Whether the statement is about how a stream was cut or how fast it was read, so that sending the same bytes in
    /// another way makes it wrong.
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
    /// The phrases that do not begin with `S -> T`.
    static let phrases: [Phrase<WireParser, WireStatement>] =
        [
            Phrase(
                LanguageEntry(
                    "fin from", "sent, and not only received. `wire fin from P to S` where P has several connections",
                    example: "wire fin from S", timing: .wire), needsAllWords: true
            ) { parser throws(Abandoned) in
                let (from, to) = try parser.parseSender("wire fin from S")
                return .fin(from: from, to: to)
            },
            Phrase(
                LanguageEntry(
                    "rst from", "as `fin`, an RST", example: "wire rst from S", timing: .wire), needsAllWords: true
            ) { parser throws(Abandoned) in
                let (from, to) = try parser.parseSender("wire rst from S")
                return .rst(from: from, to: to)
            },
            Phrase(
                LanguageEntry(
                    "no rst", "no RST on any connection so far", example: "wire no rst", timing: .wire),
                needsAllWords: true
            ) { _ throws(Abandoned) in .noReset },
            Phrase(
                LanguageEntry(
                    "closed by", "S's FIN or RST came before the other's", example: "wire closed by S first",
                    timing: .wire), needsAllWords: true
            ) { parser throws(Abandoned) in
                let name = try parser.cursor.parseName("a name", "wire closed by S first")
                try parser.cursor.expect(word: "first", "wire closed by S first")
                return .closedFirst(by: name)
            },
            Phrase(
                LanguageEntry(
                    "handshake complete", "each connection so far has completed its handshake",
                    example: "wire handshake complete",
                    timing: .wire), needsAllWords: true
            ) { _ throws(Abandoned) in .handshakeComplete },
        ] + ["no retransmission", "no retransmissions"].map(noRetransmission) + [
            Phrase.comparison(
                LanguageEntry(
                    "packets", "of each connection so far, both directions", example: "wire packets <= 20",
                    timing: .wire)
            ) { .packets($0, $1) }
        ]
    static let entries = index(phrases)
    static let phraseIndex = PhraseIndex(phrases)

    private static func noRetransmission(_ words: String) -> Phrase<WireParser, WireStatement> {
        var phrase = Phrase<WireParser, WireStatement>(
            LanguageEntry(
                "no retransmission", "no retransmission on any connection so far", example: "wire no retransmission",
                timing: .wire),
            words: words, needsAllWords: true
        ) { _ throws(Abandoned) in .noRetransmission }
        phrase.isListed = words == phrase.entry.spelling
        return phrase
    }

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

    var values: [ValueCheck] {
        switch self {
        case .halfConnection(_, _, let statement): statement.values
        case .packets(_, let value): [.integer(value, "the number of packets", 0...Int.max)]
        case .arrived(let statement): statement.values
        case .fin, .rst, .noReset, .closedFirst, .handshakeComplete, .noRetransmission: []
        }
    }

    /// The connections that a statement is about.
    enum Subject {
        case connection(Name, Name)
        case connectionOf(Name)
        case every
    }

    var subject: Subject {
        switch self {
        case .halfConnection(let from, let to, _): .connection(from, to)
        case .fin(let from, let to?), .rst(let from, let to?): .connection(from, to)
        case .fin(let name, nil), .rst(let name, nil), .closedFirst(let name): .connectionOf(name)
        case .noReset, .handshakeComplete, .noRetransmission, .packets: .every
        case .arrived(let statement): statement.subject
        }
    }
}
