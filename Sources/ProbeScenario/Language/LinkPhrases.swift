import ProbeBase

/// The phrases of `link` steps.
enum LinkPhrases {
    static let all: [Phrase<LinkParser, LinkCommand<Parsed>>] = (faults + states).map { $0.ifNeeded() }
    static let index = PhraseIndex(all)
    /// The commands that messages list as choices.
    static let choices = all.filter(\.isListed).compactMap(\.entry.choice)

    private static let faults: [Phrase<LinkParser, LinkCommand<Parsed>>] =
        [
            Phrase(
                LanguageEntry(
                    "drop", ["drop data 3"],
                    "drops the third data segment. The kinds of packets are `data`, `syn`, `synack`, `ack`, `fin`, `rst` and `any`; packets are counted from this step on, by their first transmission",
                    more: [
                        (
                            ["drop data 2..5", "drop syn all"],
                            "drops several packets; `all` drops every packet of the kind, including retransmissions"
                        ),
                        (["drop data 3 again"], "drops the next retransmission of the selected packet"),
                    ], example: "drop data 3")
            ) { parser throws(Abandoned) in .packets(.drop, try parser.parseSelection()) },
            Phrase(
                LanguageEntry(
                    "duplicate", "delivers the selected packet twice in succession", example: "duplicate data 1")
            ) { parser throws(Abandoned) in .packets(.duplicate, try parser.parseSelection()) },
            Phrase(
                LanguageEntry(
                    "delay", ["delay data 2 by 40ms"],
                    "delays the selected packet by 40 ms; later packets may overtake it",
                    more: [
                        (["delay 20ms"], "delays every packet from this step on"),
                        (
                            ["delay 20ms jitter 5ms seed 7"],
                            "delays every packet by 15 to 25 ms, as determined by the seed; packets stay in order unless `reorder` follows"
                        ),
                    ], example: "delay data 2 by 40ms")
            ) { parser throws(Abandoned) in try parser.parseDelay() },
            Phrase(
                LanguageEntry(
                    "swap",
                    "delivers the selected packet after the next packet in its direction; if no packet follows within 200 ms, nothing is swapped",
                    example: "swap data 2")
            ) { parser throws(Abandoned) in .packets(.swap, try parser.parseSelection()) },
            Phrase(
                LanguageEntry(
                    "break-checksum",
                    "corrupts the TCP checksum of the selected packet, so that no receiver accepts it",
                    example: "break-checksum data 2")
            ) { parser throws(Abandoned) in .packets(.breakChecksum, try parser.parseSelection()) },
            Phrase(
                LanguageEntry(
                    "alter", "changes the last payload byte of the selected packet and corrects the checksum",
                    example: "alter data 2")
            ) { parser throws(Abandoned) in .packets(.alter, try parser.parseSelection()) },
            Phrase(
                LanguageEntry(
                    "truncate", ["truncate data 2 to 40B"],
                    "truncates the selected IP packet to the given size but leaves the length in its header unchanged, so that no receiver accepts it",
                    example: "truncate data 2 to 40B")
            ) { parser throws(Abandoned) in try parser.parseTruncate() },
            Phrase(
                LanguageEntry("hold", "holds the selected packet until `release`", example: "hold data 2")
            ) { parser throws(Abandoned) in .packets(.hold, try parser.parseSelection()) },
            Phrase(
                LanguageEntry("release", "delivers the packets that are held, in order", example: "release")
            ) { _ throws(Abandoned) in .release },
            Phrase(
                LanguageEntry(
                    "reset", ["reset"],
                    "sends the second actor an RST that the link creates and that appears to come from the first actor",
                    more: [
                        (
                            ["reset outside window"],
                            "sends an RST with a sequence number that the receiver does not accept"
                        ),
                        (["reset behind data 2"], "sends an RST as soon as the selected packet has arrived"),
                    ], example: "reset")
            ) { parser throws(Abandoned) in try parser.parseReset() },
        ]

    private static let states: [Phrase<LinkParser, LinkCommand<Parsed>>] =
        [
            Phrase(
                LanguageEntry(
                    "zero-window", "makes the first actor advertise a window of 0 from this step on",
                    example: "zero-window")
            ) { _ throws(Abandoned) in .shutWindow },
            Phrase(
                LanguageEntry(
                    "window",
                    "limits the window that the first actor advertises from this step on; the limit is at least the smallest window that the window scale of the connection can express",
                    example: "window 1")
            ) { parser throws(Abandoned) in .window(try parser.values.parseExpression("a size", "window 1")) },
            Phrase(
                LanguageEntry(
                    "strip", ["strip sack", "strip wscale", "strip timestamps", "strip mss"],
                    "removes the given TCP option from SYN and SYN-ACK segments", example: "strip sack")
            ) { parser throws(Abandoned) in
                .strip(try parser.cursor.parseChoice("an option of TCP", StrippedOption.allCases))
            },
            Phrase(
                LanguageEntry(
                    "clamp mss", "limits the value of the MSS option in SYN and SYN-ACK segments",
                    example: "clamp mss 536"),
                needsAllWords: true
            ) { parser throws(Abandoned) in .clampMSS(try parser.values.parseExpression("a size", "clamp mss 536")) },
            Phrase(
                LanguageEntry(
                    "inject", ["inject \"bytes\""],
                    "delivers a segment that the sender never sent, with the sequence number that the receiver expects",
                    example: "inject \"bytes\"")
            ) { parser throws(Abandoned) in
                .inject(try parser.values.parseExpression("a value", "inject \"bytes\""))
            },
            Phrase(
                LanguageEntry(
                    "unreachable", ["unreachable", "unreachable syn 1"],
                    "drops every packet, or only the selected packet, and answers the sender with ICMP \"host unreachable\"",
                    example: "unreachable")
            ) { parser throws(Abandoned) in
                .unreachable(
                    parser.cursor.isAtEnd || parser.cursor.isIfNeeded ? nil : try parser.parseSelection())
            },
            Phrase(
                LanguageEntry(
                    "mtu", ["mtu 1280", "mtu 1280 silent"],
                    "limits the MTU to a value from 68 to 1500: larger packets do not arrive, and their sender receives an ICMP message or, with `silent`, none. IPv4 packets without DF are fragmented",
                    example: "mtu 1280")
            ) { parser throws(Abandoned) in
                let size = try parser.values.parseExpression("a size", "mtu 1280")
                return .mtu(size, isSilent: parser.cursor.take(word: "silent"))
            },
            Phrase(
                LanguageEntry(
                    "rate", ["rate 1MiB/s", "rate 1MiB/s queue 64KiB"],
                    "limits the average rate; the queue is also limited (to 64 KiB by default), and packets that do not fit in it are lost",
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
                    "drops the given share of the packets at random, as determined by the seed; with `burst`, each loss affects the given number of packets in a row",
                    example: "loss 5% seed 7")
            ) { parser throws(Abandoned) in try parser.parseLoss() },
            Phrase(
                LanguageEntry(
                    "burst",
                    "from this step on, each loss affects the given number of packets in a row; a `loss` must precede this step",
                    example: "burst 3",
                    after: "link S <-> C loss 5%")
            ) { parser throws(Abandoned) in .burst(try parser.values.parseExpression("a number", "burst 3")) },
        ]
        + [
            ("down", "takes the link down: no packet arrives", LinkCommand<Parsed>.down),
            ("up", "brings the link up again after `down`", .up),
            ("heal", "ends all faults and states of the link; held and delayed packets are delivered", .heal),
        ].map { word, meaning, action in
            Phrase<LinkParser, LinkCommand<Parsed>>(LanguageEntry(word, meaning, example: word)) {
                _ throws(Abandoned) in action
            }
        }
}

extension LinkCommand {
    /// The allowed sizes of an injected payload: together with TCP options, the payload must fit in one segment on a
    /// link.
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
