package import ProbeBase
package import ProbeSystem

/// The state of a crowd at one point in time, as reported by one worker or merged from several.
package struct CrowdSnapshot: Sendable {
    /// The number of members whose script has begun.
    package var started = 0
    /// The number of members that have ever been connected.
    package var connected = 0
    package var alive = 0
    package var failed = 0
    /// The number of members that have reached the end of their script.
    package var done = 0
    package var received = 0
    package var sent = 0
    /// The number of connections to a crowd of servers that were reset because the crowd already had all its members.
    package var refused = 0
    /// The number of connections made from alternative source addresses, because no port was free at the primary
    /// addresses.
    package var elsewhere = 0
    /// The number of members that received bytes that their script did not consume.
    ///
    /// Members whose open connection has unconsumed bytes are counted only if the request for the snapshot asked for
    /// them; members whose connection has ended are always counted.
    package var withRest = 0
    /// An example of bytes that a member's script did not consume.
    package var rest: Rest?
    /// The reasons why members failed, each with the instruction and the number of members, in descending order of that
    /// number.
    package var failures: [Failure] = []
    /// The latencies of waits; empty unless requested.
    package var latencies: [MemberWait: LatencyRecord] = [:]
    /// The stalls of the worker's process since the previous snapshot.
    package var standstills = Standstills()

    package struct Failure: Sendable, Equatable {
        /// The index of the instruction at which the members failed, within the members' program.
        package var instruction: Int
        /// The reason why the members failed, such as `refused`, `closed by the peer`, `reset by the peer` or `the line
        /// was "x"`.
        package var reason: String
        package var count: Int

        package init(instruction: Int, reason: String, count: Int) {
            (self.instruction, self.reason, self.count) = (instruction, reason, count)
        }
    }

    package init() {}

    /// A reason for members' failures that does not indicate a problem with the server to which the members connect.
    package enum Obstacle: Equatable {
        case harnessLimit
        case machine(MachineError)

        /// Returns the obstacle that a failure reason describes; `nil` if the reason does not describe an obstacle.
        ///
        /// - Parameter reason: the reason why a member failed.
        init?(_ reason: String) {
            if MemberInput.isLimit(reason) {
                self = .harnessLimit
            } else if reason == Self.noPort {
                self = .machine(.EADDRNOTAVAIL)
            } else if let fault = MachineError.shortages.first(where: { reason.hasSuffix($0.reason) }) {
                self = .machine(fault)
            } else {
                return nil
            }
        }

        /// The failure reason of a member for which no source port is free.
        package static let noPort = "no source port is free"
    }

    package var obstacle: Obstacle? { failures.lazy.compactMap { Obstacle($0.reason) }.first }

    package mutating func merge(_ other: CrowdSnapshot) {
        started += other.started
        connected += other.connected
        alive += other.alive
        failed += other.failed
        done += other.done
        received += other.received
        sent += other.sent
        refused += other.refused
        elsewhere += other.elsewhere
        addRest(of: other.withRest, other.rest)
        for failure in other.failures {
            let place = failures.firstIndex { $0.instruction == failure.instruction && $0.reason == failure.reason }
            if let place { failures[place].count += failure.count } else { failures.append(failure) }
        }
        failures.sort { $0.count > $1.count }
        latencies.merge(other.latencies) { left, right in
            var left = left
            left.merge(right)
            return left
        }
    }
}

extension CrowdSnapshot: JSONConvertible {
    package static let codec = JSONCodec.object(
        CrowdSnapshot(),
        [
            .required("started", \.started, .integer), .required("connected", \.connected, .integer),
            .required("alive", \.alive, .integer), .required("failed", \.failed, .integer),
            .required("done", \.done, .integer), .required("received", \.received, .integer),
            .required("sent", \.sent, .integer), .required("refused", \.refused, .integer),
            .required("withRest", \.withRest, .integer), .required("elsewhere", \.elsewhere, .integer),
            .required("failures", \.failures, .list(of: failure)), .optional("rest", \.rest, rest),
            .part(\.standstills, standstills), .part(\.latencies, latencies),
        ])

    private static let failure = JSONCodec.object(
        Failure(instruction: 0, reason: "", count: 0),
        [
            .required("instruction", \.instruction, .integer), .required("reason", \.reason, .text),
            .required("count", \.count, .integer),
        ])

    private static let rest = JSONCodec.object(
        Rest(bytes: [], count: 0), [.required("bytes", \.bytes, .bytes), .required("count", \.count, .integer)])

    /// The stalls as JSON; omitted if there are none.
    private static let standstills = JSONCodec<Standstills>("an object") { standstills in
        let intervals = standstills.all(from: MonotonicTime(nanoseconds: 0)).map { from, to in
            JSONCodec.integers.encode([from.nanoseconds, to.nanoseconds])
        }
        return .object(intervals.isEmpty ? [] : [("standstills", .array(intervals))])
    } decode: { (value, _) throws(JSONContentError) in
        var standstills = Standstills()
        for ends in try value.optional("standstills", .list(of: .integers)) ?? [] {
            guard ends.count == 2 else { return nil }
            standstills.add(from: MonotonicTime(nanoseconds: ends[0]), to: MonotonicTime(nanoseconds: ends[1]))
        }
        return standstills
    }

    /// The latencies as JSON, keyed by the names of the waits, in the order of the waits; omitted if there are none.
    private static let latencies = JSONCodec<[MemberWait: LatencyRecord]>("an object") { latencies in
        let records = MemberWait.allCases.compactMap { wait in latencies[wait].map { (wait.rawValue, $0.json) } }
        return .object(latencies.isEmpty ? [] : [("latencies", .object(records))])
    } decode: { (value, _) throws(JSONContentError) in
        guard case .object(let records)? = value["latencies"] else { return [:] }
        var latencies: [MemberWait: LatencyRecord] = [:]
        for (name, value) in records {
            guard let wait = MemberWait(rawValue: name) else { return nil }
            latencies[wait] = try LatencyRecord.codec.decode(value)
        }
        return latencies
    }
}

extension JSONCodec<[Int64]> {
    static let integers = JSONCodec.list(of: .integer)
}
