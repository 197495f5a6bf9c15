package import ProbeBase
import ProbeSystem

extension CrowdSnapshot {
    private static var counts: [(String, WritableKeyPath<CrowdSnapshot, Int>)] {
        [
            ("started", \.started), ("connected", \.connected), ("alive", \.alive), ("failed", \.failed),
            ("done", \.done), ("received", \.received), ("sent", \.sent), ("refused", \.refused),
            ("withRest", \.withRest), ("elsewhere", \.elsewhere),
        ]
    }

    package var json: JSONValue {
        var members: [JSONValue.Member] = Self.counts.map { ($0.0, .integer(self[keyPath: $0.1])) }
        members.append(
            (
                "failures",
                .array(
                    failures.map {
                        .object([
                            ("instruction", .integer($0.instruction)), ("reason", .string($0.reason)),
                            ("count", .integer($0.count)),
                        ])
                    })
            ))
        if let rest {
            members.append(
                ("rest", .object([("bytes", .latin1(rest.bytes)), ("count", .integer(rest.count))])))
        }
        let stood = standstills.all(from: MonotonicTime(nanoseconds: 0)).map { from, to in
            JSONValue.array([.integer(Int(from.nanoseconds)), .integer(Int(to.nanoseconds))])
        }
        if !stood.isEmpty { members.append(("standstills", .array(stood))) }
        if !latencies.isEmpty {
            members.append(
                (
                    "latencies",
                    .object(
                        MemberWait.allCases.compactMap { wait in latencies[wait].map { (wait.rawValue, $0.json) } })
                ))
        }
        return .object(members)
    }

    /// Nil if it is none.
    package init?(json: JSONValue) {
        self.init()
        for (name, path) in Self.counts {
            guard let count = json[name]?.integer else { return nil }
            self[keyPath: path] = count
        }
        guard case .array(let values)? = json["failures"] else { return nil }
        for value in values {
            guard let instruction = value["instruction"]?.integer, let reason = value["reason"]?.text,
                let count = value["count"]?.integer
            else { return nil }
            failures.append(Failure(instruction: instruction, reason: reason, count: count))
        }
        if let value = json["rest"] {
            guard let bytes = value["bytes"]?.latin1, let count = value["count"]?.integer else { return nil }
            rest = Rest(bytes: bytes, count: count)
        }
        if case .array(let intervals)? = json["standstills"] {
            for interval in intervals {
                guard case .array(let ends) = interval, ends.count == 2, let from = ends[0].integer,
                    let to = ends[1].integer
                else { return nil }
                standstills.add(
                    from: MonotonicTime(nanoseconds: Int64(from)), to: MonotonicTime(nanoseconds: Int64(to)))
            }
        }
        guard case .object(let records)? = json["latencies"] else { return }
        for (name, value) in records {
            guard let wait = MemberWait(rawValue: name), let record = LatencyRecord(json: value) else { return nil }
            latencies[wait] = record
        }
    }
}
