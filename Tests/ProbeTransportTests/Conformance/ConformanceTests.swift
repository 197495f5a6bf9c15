import ProbeTransport
import ProbeTransportNIO
import Testing

/// The kit, on every transport that is expected to pass all of it.
@Suite(.serialized) struct ConformanceTests {
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
        try trial.check.run(ConformanceBench(factory: trial.factory))
    }

    @Test func eachHasManyOfTheChecks() {
        for factory in Self.factories {
            let count = Self.trials.count { $0.factory.name == factory.name }
            #expect(count >= 12, "\(factory.name) claims too little for all but \(count) checks")
        }
    }
}
