import ProbeTransport
import ProbeTransportNIO
import Testing

/// The kit, on every transport but `flyingsocks`: that runs on Swift's own few threads, which these tests block while they wait, and is
/// tested from outside, in its own program.
///
/// What a library does otherwise is listed, with the place in it that does.
@Suite(.serialized) struct ConformanceTests {
    /// By factory and check: why the library fails it. `isAlways` is false where it depends on what comes first.
    private static let known: [String: [String: (reason: Comment, isAlways: Bool)]] = [
        "nio": [
            "frame.lone-cr-is-data, bare-lf-policy, cr-cr-lf, partial-delim-false-start": (
                "LineBasedFrameDecoder ends a line at LF and drops one CR before it", true
            ),
            "len.eof-mid-frame": (
                "LengthFieldBasedFrameDecoder takes the length out of the buffer, so that it is no part of LeftOverBytesError",
                true
            ),
            "close.unread-data-rst": ("a channel is closed by closing its descriptor, whatever lies unread", true),
            "reset.instant": (
                "epoll tells of the connect and of the reset at once, and BaseSocketChannel.reset() fails the connect",
                false
            ),
            "flow.eof-while-paused": (
                "with autoRead off all that there is is read at a FIN (readEOF0): the stop may come before the resume",
                false
            ),
            "life.stop-inside-callback": ("a channel is closed by closing its descriptor, whatever lies unread", false),
            "enc.outgoing-crlf-injection": ("NIOExtras has nothing that frames outgoing lines", true),
        ]
    ]

    private static let factories: [any TransportFactory] = [
        BSDTransportFactory(), AsyncSocketTransportFactory(), NIOTransportFactory(),
    ]

    /// A check and a factory that claims what it needs.
    struct Trial: Sendable, CustomTestStringConvertible {
        let check: ConformanceCheck
        let factory: any TransportFactory

        var testDescription: String { "\(factory.name): \(check.id)" }
    }

    private static let trials: [Trial] = factories.flatMap { factory in
        TransportConformance.checks.filter { $0.needs.isSubset(of: factory.capabilities) }
            .map { Trial(check: $0, factory: factory) }
    }

    @Test(arguments: trials)
    func conforms(_ trial: Trial) throws {
        let bench = ConformanceBench(factory: trial.factory)
        guard let known = Self.known[trial.factory.name]?[trial.check.id] else { return try trial.check.run(bench) }
        withKnownIssue(known.reason, isIntermittent: !known.isAlways) { try trial.check.run(bench) }
    }

    @Test func whatIsKnownIsOfChecks() {
        let ids = Set(TransportConformance.checks.map(\.id))
        #expect(Set(Self.known.values.flatMap(\.keys)).isSubset(of: ids))
    }

    @Test func eachHasManyOfTheChecks() {
        for factory in Self.factories {
            let count = Self.trials.count { $0.factory.name == factory.name }
            #expect(count >= 12, "\(factory.name) claims too little for all but \(count) checks")
        }
    }
}
