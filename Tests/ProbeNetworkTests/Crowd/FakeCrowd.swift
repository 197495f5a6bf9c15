import ProbeBase

@testable import ProbeCrowd

/// Simulated connections of members. The test specifies the bytes that members read, and how many bytes they can write.
final class FakeConnections: CrowdConnections {
    enum Ended: Equatable { case closed, reset }

    /// The results of each member's reads, in the order of the reads.
    var incoming: [Int: [CrowdRead]] = [:]
    private var bytes: [Int: [[UInt8]]] = [:]
    private(set) var written: [Int: [UInt8]] = [:]
    private(set) var ended: [Int: Ended] = [:]
    private(set) var connects: [Int] = []
    /// The result of each connection attempt.
    var answer = CrowdConnect.connected
    /// The number of bytes that each member can still write; `nil` if there is no limit.
    var room: [Int: Int] = [:]

    func connect(_ member: Int) -> CrowdConnect {
        connects.append(member)
        ended[member] = nil
        return answer
    }

    func continueConnect(_ member: Int) -> CrowdConnect { answer }

    func write(_ member: Int, _ bytes: UnsafeRawBufferPointer) -> CrowdWrite {
        let count = min(bytes.count, room[member] ?? bytes.count)
        guard count > 0 else { return .blocked }
        written[member, default: []] += bytes.prefix(count)
        if let left = room[member] { room[member] = left - count }
        return .wrote(count)
    }

    func read(_ member: Int, into buffer: UnsafeMutableRawBufferPointer) -> CrowdRead {
        guard let next = incoming[member]?.first else { return .blocked }
        guard case .bytes = next, var piece = bytes[member]?.first else { return next }
        let count = min(piece.count, buffer.count)
        buffer.copyBytes(from: piece[..<count])
        piece.removeFirst(count)
        if piece.isEmpty {
            bytes[member]?.removeFirst()
            incoming[member]?.removeFirst()
        } else {
            bytes[member]?[0] = piece
        }
        return .bytes(count)
    }

    func unread(_ member: Int) -> Int { bytes[member]?.reduce(0) { $0 + $1.count } ?? 0 }

    func close(_ member: Int) { ended[member] = .closed }
    func reset(_ member: Int) { ended[member] = .reset }

    func deliver(_ text: String, to member: Int) {
        bytes[member, default: []].append(Array(text.utf8))
        incoming[member, default: []].append(.bytes(text.utf8.count))
    }

    func deliver(_ end: CrowdRead, to member: Int) { incoming[member, default: []].append(end) }

    func text(of member: Int) -> String { String(decoding: written[member] ?? [], as: UTF8.self) }
}

/// A recorder of latencies that keeps exact values.
struct PlainRecorder: LatencyRecorder {
    private var values: [Int64] = []
    init() {}
    mutating func record(nanoseconds: Int64) { values.append(nanoseconds) }
    var counts: [(nanoseconds: Int64, count: Int)] { values.map { ($0, 1) } }
}

/// A crowd with simulated connections, and a clock that only the test advances.
final class FakeCrowd {
    let connections = FakeConnections()
    let core: CrowdCore<FakeConnections, PlainRecorder>
    private(set) var now: Int64 = 0

    init(
        _ instructions: [MemberProgram.Instruction], members: Int = 1, rate: Double? = nil,
        matchers: [Int: ([UInt8]) -> Bool] = [:]
    ) {
        let schedule = rate.map { rate in { (member: Int) in Int64(Double(member) / rate * 1e9) } }
        core = CrowdCore(
            MemberProgram(instructions: instructions, terminator: Array("\r\n".utf8)), members: members,
            connections: connections, schedule: schedule, matchers: matchers)
    }

    func begin() {
        core.begin(at: now)
        core.advance(to: now)
    }

    /// Advances the clock, and performs each action at the time at which it is due.
    func pass(milliseconds: Int) {
        let end = now + Int64(milliseconds) * 1_000_000
        while let next = core.nextMoment, next <= end {
            now = max(now, next)
            core.advance(to: now)
        }
        now = end
    }

    /// Advances the clock as if the thread had not run: no action is performed in the meantime.
    func stall(milliseconds: Int) { now += Int64(milliseconds) * 1_000_000 }

    func deliver(_ text: String, to member: Int = 0) {
        connections.deliver(text, to: member)
        core.readable(member, at: now)
    }

    func deliver(_ end: CrowdRead, to member: Int = 0) {
        connections.deliver(end, to: member)
        core.readable(member, at: now)
    }

    var snapshot: CrowdSnapshot { core.snapshot(at: now, latencies: true) }

    /// Returns the durations of waits that have ended or are in progress, in milliseconds.
    func latencies(_ wait: MemberWait) -> [Int] {
        let record = snapshot.latencies[wait]
        let all = (record?.counts ?? [:]).merging(record?.running ?? [:], uniquingKeysWith: +)
        return all.sorted { $0.key < $1.key }.flatMap {
            Array(repeating: Int($0.key / 1_000_000), count: $0.value)
        }
    }
}
