package import ProbeBase

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
        guard case .object(let records)? = json["latencies"] else { return }
        for (name, value) in records {
            guard let wait = MemberWait(rawValue: name), let record = LatencyRecord(json: value) else { return nil }
            latencies[wait] = record
        }
    }
}
