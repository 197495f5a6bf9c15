import ProbeBase

/// The phrases of `link` steps.
enum LinkPhrases {
    static let all: [Phrase<LinkParser, LinkCommand<Parsed>>] = (faults + states).map { $0.ifNeeded() }
    static let index = PhraseIndex(all)
    /// The choices that messages list.
    static let choices = all.filter(\.isListed).compactMap(\.entry.choice)

    private static let faults: [Phrase<LinkParser, LinkCommand<Parsed>>] =
        [
            Phrase(
                LanguageEntry(
                    "drop", ["drop data 3"],
                    "the packet never arrives. Kinds are `data`, `syn`, `synack`, `ack`, `fin`, `rst` and `any`; packets are counted from the step on, by their first transmission",
                    more: [
                        (["drop data 2..5", "drop syn all"], "several; `all`: each one, and each of its copies"),
                        (["drop data 3 again"], "the next copy of it: a retransmission"),
                    ], example: "drop data 3")
            ) { parser throws(Abandoned) in .packets(.drop, try parser.parseSelection()) },
            Phrase(
                LanguageEntry("duplicate", "it arrives twice, one after the other", example: "duplicate data 1")
            ) { parser throws(Abandoned) in .packets(.duplicate, try parser.parseSelection()) },
            Phrase(
                LanguageEntry(
                    "delay", ["delay data 2 by 40ms"], "it arrives so much later; what follows it may overtake it",
                    more: [
                        (["delay 20ms"], "every packet from here on"),
                        (
                            ["delay 20ms jitter 5ms seed 7"],
                            "15 to 25 ms, by the seed; in order, unless `reorder` follows"
                        ),
                    ], example: "delay data 2 by 40ms")
            ) { parser throws(Abandoned) in try parser.parseDelay() },
            Phrase(
                LanguageEntry(
                    "swap",
                    "it arrives after the next packet of its direction; without one within 200 ms nothing is swapped",
                    example: "swap data 2")
            ) { parser throws(Abandoned) in .packets(.swap, try parser.parseSelection()) },
            Phrase(
                LanguageEntry(
                    "break-checksum", "its TCP checksum is wrong: no receiver takes it",
                    example: "break-checksum data 2")
            ) { parser throws(Abandoned) in .packets(.breakChecksum, try parser.parseSelection()) },
            Phrase(
                LanguageEntry(
                    "alter", "its last payload byte is another one, and the checksum fits", example: "alter data 2")
            ) { parser throws(Abandoned) in .packets(.alter, try parser.parseSelection()) },
            Phrase(
                LanguageEntry(
                    "truncate", ["truncate data 2 to 40B"],
                    "so much of the IP packet arrives, with the length in its header as it was: no receiver takes it",
                    example: "truncate data 2 to 40B")
            ) { parser throws(Abandoned) in try parser.parseTruncate() },
            Phrase(
                LanguageEntry("hold", "it is kept until `release`", example: "hold data 2")
            ) { parser throws(Abandoned) in .packets(.hold, try parser.parseSelection()) },
            Phrase(
                LanguageEntry("release", "what is held goes on, in order", example: "release")
            ) { _ throws(Abandoned) in .release },
            Phrase(
                LanguageEntry(
                    "reset", ["reset"],
                    "an RST that the link makes, towards the second name: the receiver takes it for one of the first",
                    more: [
                        (["reset outside window"], "with a sequence number that the receiver does not take"),
                        (["reset behind data 2"], "as soon as that packet has arrived"),
                    ], example: "reset")
            ) { parser throws(Abandoned) in try parser.parseReset() },
        ]

    private static let states: [Phrase<LinkParser, LinkCommand<Parsed>>] =
        [
            Phrase(
                LanguageEntry(
                    "zero-window", "the first name announces a window of 0 from here on", example: "zero-window")
            ) { _ throws(Abandoned) in .shutWindow },
            Phrase(
                LanguageEntry(
                    "window",
                    "the largest window that the first name announces from here on; at least what the scale of the connection can say",
                    example: "window 1")
            ) { parser throws(Abandoned) in .window(try parser.values.parseExpression("a size", "window 1")) },
            Phrase(
                LanguageEntry(
                    "strip", ["strip sack", "strip wscale", "strip timestamps", "strip mss"],
                    "SYN and SYN-ACK arrive without this option", example: "strip sack")
            ) { parser throws(Abandoned) in
                .strip(try parser.cursor.parseChoice("an option of TCP", StrippedOption.allCases))
            },
            Phrase(
                LanguageEntry("clamp mss", "SYN and SYN-ACK announce no larger MSS", example: "clamp mss 536"),
                needsAllWords: true
            ) { parser throws(Abandoned) in .clampMSS(try parser.values.parseExpression("a size", "clamp mss 536")) },
            Phrase(
                LanguageEntry(
                    "inject", ["inject \"bytes\""],
                    "a segment that nobody sent arrives, with the sequence number that the receiver expects",
                    example: "inject \"bytes\"")
            ) { parser throws(Abandoned) in
                .inject(try parser.values.parseExpression("a value", "inject \"bytes\""))
            },
            Phrase(
                LanguageEntry(
                    "unreachable", ["unreachable", "unreachable syn 1"],
                    "no packet arrives, or not this one, and its sender receives ICMP \"host unreachable\"",
                    example: "unreachable")
            ) { parser throws(Abandoned) in
                .unreachable(
                    parser.cursor.isAtEnd || parser.cursor.isIfNeeded ? nil : try parser.parseSelection())
            },
            Phrase(
                LanguageEntry(
                    "mtu", ["mtu 1280", "mtu 1280 silent"],
                    "a narrower hop: larger packets do not arrive, and their sender receives an ICMP message, or none (`silent`). 68 to 1500; IPv4 without DF is cut into fragments",
                    example: "mtu 1280")
            ) { parser throws(Abandoned) in
                let size = try parser.values.parseExpression("a size", "mtu 1280")
                return .mtu(size, isSilent: parser.cursor.take(word: "silent"))
            },
            Phrase(
                LanguageEntry(
                    "rate", ["rate 1MiB/s", "rate 1MiB/s queue 64KiB"],
                    "no more passes, on average; the queue is bounded (default 64 KiB), and packets that find it full are lost",
                    example: "rate 1MiB/s queue 64KiB")
            ) { parser throws(Abandoned) in
                let rate = try parser.values.parseRate()
                guard parser.cursor.take(word: "queue") else { return .rate(bytesPerSecond: rate, queue: nil) }
                return .rate(
                    bytesPerSecond: rate, queue: try parser.values.parseExpression("a size", "rate 1MiB/s queue 64KiB"))
            },
            Phrase(
                LanguageEntry(
                    "loss", ["loss 5%", "loss 0.5% seed 7", "loss 5% seed 7 burst 3"],
                    "this share of the packets is lost, by the seed; `burst`: this number in a row",
                    example: "loss 5% seed 7")
            ) { parser throws(Abandoned) in try parser.parseLoss() },
            Phrase(
                LanguageEntry(
                    "burst", "from here on as many packets in a row are lost; a `loss` comes first", example: "burst 3",
                    after: "link S <-> C loss 5%")
            ) { parser throws(Abandoned) in .burst(try parser.values.parseExpression("a number", "burst 3")) },
        ]
        + [
            ("down", "no packet arrives", LinkCommand<Parsed>.down), ("up", "packets arrive again after `down`", .up),
            ("heal", "every fault and state of the link ends; what is held or late arrives", .heal),
        ].map { word, meaning, action in
            Phrase<LinkParser, LinkCommand<Parsed>>(LanguageEntry(word, meaning, example: word)) {
                _ throws(Abandoned) in action
            }
        }
}

extension LinkCommand {
    /// The numbers of bytes that fit in a segment of a link, with TCP options.
    package static var injectable: ClosedRange<Int> { 1...1400 }
}

extension LinkCommand<Parsed> {
    var values: [ValueCheck] { own + (selection?.values ?? []) }

    private var own: [ValueCheck] {
        switch self {
        case .truncate(_, let size): [.integer(size, "the size", 1...1500)]
        case .window(let size): [.integer(size, "the window", 0...1 << 30)]
        case .clampMSS(let size): [.integer(size, "the MSS", 88...1460)]
        case .inject(let value): [.bytes(value)]
        case .mtu(let size, _): [.integer(size, "the MTU", 68...1500)]
        case .delay(_, _, let seed?, _): [.integer(seed, "the seed", Int.min...Int.max)]
        case .rate(_, let queue?): [.integer(queue, "the queue", 1...Int.max)]
        case .loss(_, let seed, let burst):
            (seed.map { [.integer($0, "the seed", Int.min...Int.max)] } ?? [])
                + (burst.map { [.integer($0, "the burst", 1...1_000_000)] } ?? [])
        case .burst(let count): [.integer(count, "the burst", 1...1_000_000)]
        default: []
        }
    }
}

extension PacketSelection<Parsed> {
    fileprivate var values: [ValueCheck] {
        let numbers: [Expression] =
            switch ordinals.kind {
            case .one(let number): [number]
            case .range(let first, let last): [first, last]
            case .all: []
            }
        return numbers.map { .integer($0, "the number of the packet", 1...1_000_000_000) }
    }
}
