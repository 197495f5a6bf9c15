import ProbeTransport
import Testing

@Suite(.serialized) struct BSDConformanceTests {
    @Test(arguments: TransportConformance.checks)
    func conforms(_ check: ConformanceCheck) throws {
        try TransportConformance.run(check, on: BSDTransportFactory())
    }
}
