package import ProbeBase
import ProbeSystem

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

    /// Not written where there is none.
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

    /// By the names of the waits, in their order; not written where there is none.
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
