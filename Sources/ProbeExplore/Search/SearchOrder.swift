import ProbeBase
package import ProbeEvents
import ProbeScenario

/// Produces the variations of a scenario in the order in which they are tried: first the variations that most often
/// reveal bugs, then a wide variety of other variations. The seed determines the order.
package struct SearchOrder: Sendable {
    /// The maximum length of a send that is cut at every offset, in bytes.
    private static let shortSend = 512
    /// The maximum length of a send that is cut at every pair of offsets, in bytes.
    private static let shortForPairs = 160
    /// The maximum number of offsets at which a longer send is cut; trying every offset would take minutes.
    private static let maxSingles = 16_384
    /// The number of consecutive random variations that repeat earlier ones after which the search assumes that no new
    /// variations are left.
    private static let maxRepeats = 2_000

    private let sites: [SendSite]
    private let options: [Change]
    private let slowReading: [Change]
    private let share: Share?
    /// The number of variations of all shares that have been produced.
    private var count = 0
    private var generator: SplitMix64
    private var phase = 0
    private var queue: [Variation] = []
    private var position = 0
    private var given: Set<Variation> = []
    private var isExhausted = false

    /// - Parameters:
    ///   - first: the variations to try first, which belong to every share.
    ///   - share: the share of the variations to try; `nil` to try all of them.
    package init(
        sites: [SendSite], options: [Change] = [], slowReading: [Change] = [], first: [Variation] = [],
        share: Share? = nil, seed: Int
    ) {
        queue = first
        self.share = share
        self.sites = sites
        self.options = options
        self.slowReading = slowReading
        generator = SplitMix64(seed: seed)
    }

    /// The number of offsets, over all sends, at which a send can be cut.
    package var singleCuts: Int { sites.reduce(0) { $0 + max(0, $1.length - 1) } }

    /// Returns the next variation of the share; `nil` if every variation has been returned.
    package mutating func next() -> Variation? {
        while true {
            if position < queue.count {
                let variation = queue[position]
                position += 1
                // A variation keeps its place in the shares if it was tried before, as a saved one, so that shares with
                // different saved variations still complement each other.
                let isOwn = phase == 0 || isInShare()
                if given.insert(variation).inserted, isOwn { return variation }
                continue
            }
            guard phase < phases.count else {
                while let variation = random() {
                    if isInShare() { return variation }
                }
                return nil
            }
            queue = phases[phase](&self)
            (position, phase) = (0, phase + 1)
        }
    }

    /// Returns whether the next variation belongs to the share.
    private mutating func isInShare() -> Bool {
        guard let share else { return true }
        defer { count += 1 }
        return count % share.total == share.index - 1
    }

    // MARK: Phases

    private var phases: [(inout SearchOrder) -> [Variation]] {
        let (short, long) = (Duration.milliseconds(1), Duration.milliseconds(30))
        return [
            { $0.likely(short) }, { $0.likelyRecords() }, { $0.joins() }, { $0.pieces(short) + $0.buffers() },
            { $0.singles(short) },
            { $0.allRecords() }, { $0.likely(long) }, { $0.adjacentPairs(short) }, { $0.singles(nil) },
            { $0.likelyPairs(short) },
            { $0.singles(long) }, { $0.allPairs(short) }, { $0.pieces(long) + $0.allPairs(nil) },
        ]
    }

    private func likely(_ pause: Duration?) -> [Variation] {
        interleaved { Self.likelyOffsets($0).map { [$0] } }
            .compactMap { cut($0.site, $0.offsets, pause) }
    }

    /// Returns the likely offsets of a send. For TLS records, which hide the content, the likely offsets are around the
    /// first record's header, in the middle, and near the end.
    private static func likelyOffsets(_ site: SendSite) -> [Int] {
        guard site.isSealed else { return LikelyOffsets.of(site.bytes, length: site.length, framing: site.framing) }
        return [5, 1, 3, 6, site.length - 1, site.length / 2].filter { $0 > 0 && $0 < site.length }
    }

    /// Returns variations in which a TLS record ends where a program may look for the end of a message.
    private func likelyRecords() -> [Variation] {
        records { LikelyOffsets.of($0.bytes, length: $0.bytes.count, framing: $0.framing) + [1] }
    }

    private func allRecords() -> [Variation] {
        records { Array(1..<max(1, min($0.bytes.count, Self.shortSend))) }
    }

    private func records(_ sizes: (SendSite) -> [Int]) -> [Variation] {
        interleaved { site in
            guard site.isSealed else { return [] }
            return sizes(site).filter { $0 > 0 && $0 < site.bytes.count }.map { [$0] }
        }.map { Variation([.records(send: $0.site.step, size: $0.offsets[0])]) }
    }

    private func singles(_ pause: Duration?) -> [Variation] {
        interleaved { site in
            site.length < 2 ? [] : (1..<min(site.length, Self.maxSingles)).map { [$0] }
        }.compactMap { cut($0.site, $0.offsets, pause) }
    }

    /// Returns variations with two cuts that are one byte apart, so that a terminator, a length or a character is
    /// divided into three pieces.
    private func adjacentPairs(_ pause: Duration?) -> [Variation] {
        interleaved { site in
            site.length < 3 ? [] : (1..<min(site.length - 1, Self.shortSend)).map { [$0, $0 + 1] }
        }.compactMap { cut($0.site, $0.offsets, pause) }
    }

    private func likelyPairs(_ pause: Duration?) -> [Variation] {
        interleaved { site in
            Self.pairs(Self.likelyOffsets(site).sorted())
        }.compactMap { cut($0.site, $0.offsets, pause) }
    }

    private mutating func allPairs(_ pause: Duration?) -> [Variation] {
        var result = interleaved { site in
            site.length < 3 || site.length > Self.shortForPairs ? [] : Self.pairs(Array(1..<site.length))
        }.compactMap { cut($0.site, $0.offsets, pause) }
        result.shuffle(using: &generator)
        return result
    }

    private static func pairs(_ offsets: [Int]) -> [[Int]] {
        offsets.indices.flatMap { index in offsets[(index + 1)...].map { [offsets[index], $0] } }
    }

    /// Returns variations in which a send is divided into pieces of one byte, or into as many pieces as its pause
    /// budget allows.
    private func pieces(_ pause: Duration) -> [Variation] {
        sites.compactMap { site in
            guard site.length > 1 else { return nil }
            let count = min(site.length, Self.shortSend, Int(site.pauseBudget / pause) + 1)
            let size = (site.length + count - 1) / max(1, count)
            guard size < site.length else { return nil }
            return cut(site, Array(stride(from: size, to: site.length, by: size)), pause)
        }
    }

    /// Returns variations that join each pair of neighboring sends, followed by variations that join each maximal
    /// sequence of neighboring sends.
    private func joins() -> [Variation] {
        let pairs = sites.compactMap { site in site.next.map { Change.join(first: site.step, second: $0) } }
        var rows: [[Change]] = []
        for site in sites {
            guard let next = site.next else { continue }
            let change = Change.join(first: site.step, second: next)
            if let index = rows.firstIndex(where: { row in
                if case .join(_, site.step)? = row.last { true } else { false }
            }) {
                rows[index].append(change)
            } else {
                rows.append([change])
            }
        }
        return pairs.map { Variation([$0]) } + rows.filter { $0.count > 1 }.map { Variation($0) } + fins(rows)
    }

    /// Returns variations in which a final send carries the FIN, either alone or together with the sends that can be
    /// joined to it.
    private func fins(_ rows: [[Change]]) -> [Variation] {
        sites.flatMap { site -> [Variation] in
            guard let end = site.end else {
                let early: [Change] = [.earlyEnd(send: site.step), .fin(send: site.step, end: site.step)]
                return site.mayEnd ? early.map { Variation([$0]) } : []
            }
            let fin = Change.fin(send: site.step, end: end)
            let row = rows.first { row in
                if case .join(_, site.step)? = row.last { true } else { false }
            }
            return [Variation([fin])] + (row.map { [Variation($0 + [fin])] } ?? [])
        }
    }

    private func buffers() -> [Variation] {
        let small = slowReading.compactMap { change -> Variation? in
            guard case .slowReading(let actor, _, _) = change, options.contains(.option(actor: actor, .receiveBuffer))
            else { return nil }
            return Variation([.option(actor: actor, .receiveBuffer), change])
        }
        return options.map { Variation([$0]) } + small + slowReading.map { Variation([$0]) }
    }

    // MARK: Random variations

    /// Returns a random variation that cuts one to three sends, with or without pauses, and sometimes sets a small
    /// buffer.
    private mutating func random() -> Variation? {
        let long = sites.filter { $0.length > 1 }
        guard !long.isEmpty, !isExhausted else { return nil }
        for _ in 0..<Self.maxRepeats {
            var variation = Variation()
            for _ in 0...generator.below(min(3, long.count)) {
                let site = long[generator.below(long.count)]
                var offsets = Set(variation.offsets(of: site.step))
                for _ in 0...generator.below(8) { offsets.insert(1 + generator.below(site.length - 1)) }
                let pause: Duration? = generator.below(3) == 0 ? nil : .milliseconds(1)
                for offset in offsets.sorted() { variation.add(.cut(send: site.step, at: offset)) }
                if let pause, site.allows(offsets.count, of: pause) { variation.pauses[site.step] = pause }
            }
            if !options.isEmpty, generator.below(8) == 0 { variation.add(options[generator.below(options.count)]) }
            if given.insert(variation).inserted { return variation }
        }
        isExhausted = true
        return nil
    }

    // MARK: Parts

    /// Returns a variation that cuts one send; `nil` if its pauses would exceed the send's budget.
    private func cut(_ site: SendSite, _ offsets: [Int], _ pause: Duration?) -> Variation? {
        if let pause, !site.allows(offsets.count, of: pause) { return nil }
        return Variation(send: site.step, cutAt: offsets, pause: pause)
    }

    /// Returns the first offsets of all sends, then the second offsets of all sends, and so on.
    private func interleaved(_ places: (SendSite) -> [[Int]]) -> [(site: SendSite, offsets: [Int])] {
        let lists = sites.map { ($0, places($0)) }
        let longest = lists.map(\.1.count).max() ?? 0
        return (0..<longest).flatMap { index in
            lists.compactMap { site, offsets in index < offsets.count ? (site, offsets[index]) : nil }
        }
    }
}
