import ProbeScenario
import Testing

/// Scripts that may need a server that was started before the run, and are therefore not run in a network namespace by
/// default.
struct AddressOutsideTests {
    @Test(
        arguments: [
            ("client C -> S", false),
            ("client C -> 127.0.0.1:7000", true),
            ("client C -> 127.0.0.1:(int(\"${S.port}\"))", false),
            ("client C -> 127.0.0.1:(int(\"${S.port}\") + 1)", false),
            ("client C -> [::1]:(int(\"${S.port}\"))", false),
            ("client C -> localhost:(int(\"${S.port}\"))", false),
            ("client C -> 127.0.0.1:(int(\"7000\"))", true),
        ])
    func actorPortsAreInside(client: String, isOutside: Bool) throws {
        let text = "scenario \"x\"\nserver S\n\(client)\nclient D -> S\nD connect\nC connect\nC close\n"
        let result = compile(text)
        #expect(!result.hasErrors, "\(result.rendered)")
        #expect(try (#require(result.plan?.scenario).addressOutside != nil) == isOutside)
    }
}
