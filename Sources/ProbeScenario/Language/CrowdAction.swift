package import ProbeBase

/// An action of a whole crowd. A ``CrowdScript`` describes what each member does.
package enum CrowdAction: LanguageElement {
    /// Starts the members, and completes immediately. `rate` is the number of members that begin per second; `nil`
    /// means as fast as possible.
    case start(rate: Int?, CrowdScript)
    /// Closes the connection of each member.
    case stop
    case expect(CrowdExpectation)
}

// MARK: The table

extension CrowdAction {
    static let phrases: [Phrase<ActionParser, CrowdAction>] = [
        Phrase(
            LanguageEntry(
                "start", ["start { … }"],
                "starts the script of each member; the step completes immediately. A crowd can be started again only after a `stop`",
                more: [
                    (["start at 2000/s { … }"], "starts the given number of members per second, one after the other"),
                    (
                        ["start { connect; send \"a\\r\\n\"; expect line /^2/ within 1s }"],
                        "the script consists of member statements, separated by `;` or line breaks. Values are computed once, before the first member begins, so all members send the same bytes"
                    ),
                ], example: "start { connect; send \"a\\r\\n\" }")
        ) { parser throws(Abandoned) in try CrowdParser(cursor: parser.cursor).parseStart() },
        Phrase(
            LanguageEntry(
                "stop",
                "closes the connection of each member and ends the crowd. Later steps can still check the numbers of members",
                example: "stop",
                after: "W start { connect }")
        ) { _ throws(Abandoned) in .stop },
    ]
    static let entries = index(phrases)

    var spelling: String {
        switch self {
        case .start: "start"
        case .stop: "stop"
        case .expect: "expect"
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .start(_, let script): script.all.flatMap(\.values)
        case .expect(let expectation): expectation.values
        case .stop: []
        }
    }

    var effect: ActionEffect {
        switch self {
        case .start: .startsCrowd
        case .stop: .stopsCrowd
        case .expect: .observesCrowd
        }
    }
}

extension CrowdExpectation: LanguageElement {
    static let phrases: [Phrase<ExpectationParser, CrowdExpectation>] =
        [
            (
                CrowdCount.connected, "expect connected 10000",
                "expects the given number of members to be connected, or to have been connected earlier; a member that reconnects counts once. A number alone means at least that many; `==` `!=` `<` `<=` `>` `>=` can precede it",
                "expect connected 10"
            ),
            (
                .alive, "expect alive >= 9990",
                "expects the given number of members to be connected now. A number alone means exactly that many",
                "expect alive >= 9"
            ),
            (
                .failed, "expect failed 0",
                "expects the given number of members to have failed. A member fails if its connection is refused or ends too early, if a deadline expires, or if it receives a different line. A number alone means exactly that many",
                "expect failed 0"
            ),
            (
                .done, "expect done 10000",
                "expects the given number of members to have reached the end of the script. A number alone means at least that many",
                "expect done 10"
            ),
        ].map { count, form, meaning, example in
            Phrase(
                LanguageEntry(
                    count.rawValue, [form], meaning, example: example, after: "W start { connect; send \"a\" }",
                    timing: .amount)
            ) { parser throws(Abandoned) in try CrowdParser(cursor: parser.cursor).parseCount(count) }
        } + [
            Phrase(
                LanguageEntry(
                    "latency", ["expect latency p99 <= 50ms of line"],
                    "compares a percentile of the latencies of all members' `expect line` statements with the given time; the comparisons of `check` are available. Each latency is measured from the time at which the statement was due, so it includes the delay if a member reaches the statement late",
                    more: [
                        (
                            [
                                "latency p50 < 5ms of connect", "latency p99.9 <= 1s of bytes",
                                "latency max <= 2s of eof",
                            ],
                            "compares any percentile above 0, or the maximum (`max`), of the latencies of the members' `connect`, `line`, `bytes`, `until` or `eof` statements with the given time; the script of the members must contain such a statement"
                        )
                    ], example: "expect latency p99 <= 50ms of connect", after: "W start { connect }", timing: .amount)
            ) { parser throws(Abandoned) in try CrowdParser(cursor: parser.cursor).parseLatency() }
        ]
    static let entries = index(phrases)

    var spelling: String {
        switch self {
        case .count(let count, _, _): count.rawValue
        case .latency: "latency"
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .count(_, _, let number): [.integer(number, "the number of members", 0...CrowdDeclaration.most)]
        case .latency: []
        }
    }
}

extension Comparison {
    /// Returns whether `n OP bound` holds for every number `n` of members.
    package func holdsForAnyCount(_ bound: Int) -> Bool {
        switch self {
        case .greaterOrEqual: bound <= 0
        case .greater, .notEqual: bound < 0
        case .equal, .less, .lessOrEqual: false
        }
    }
}

extension CrowdDeclaration {
    /// The maximum number of members in a crowd.
    package static let most = 1_000_000
}
