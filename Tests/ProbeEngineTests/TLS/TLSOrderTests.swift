import ProbeEvents
import Testing

/// Bytes, TLS messages and the end of a connection form a single sequence. A verdict must not depend on whether a step
/// has to wait for these events or finds that they have already arrived.
struct TLSOrderTests {
    /// Returns two scenes, in which either the client's steps or the server's steps come first.
    private static func scenes(
        _ name: String, _ verdict: Verdict, says: [String] = [], client: String, server: String
    ) -> [Scene] {
        let head = "server S tls\nclient C -> S tls\nC connect\nS accept\n"
        let failing = verdict == .passed ? "" : " #!"
        return [
            Scene("\(name): already received", verdict, says: says, "\(head)\(client)\nwait 50ms\n\(server)\(failing)"),
            Scene(
                "\(name): awaited", verdict, says: says,
                "\(head)together {\ndo {\n\(server)\(failing)\n}\ndo {\nwait 50ms\n\(client)\n}\n}"),
        ]
    }

    static let all: [Scene] =
        scenes(
            "a warning before the end is skipped", .passed,
            client: "C send alert warning user-canceled\nC close", server: "S expect eof")
        + scenes(
            "close_notify is not skipped", .failed,
            says: ["the peer sent close_notify while", "expected reset (RST)"],
            client: "C send notify\nC reset", server: "S expect reset")
        + scenes(
            "the first of two ends counts", .passed, client: "C send notify\nC reset",
            server: "S expect closed\nS expect reset")
        + scenes(
            "input after a warning is kept", .passed,
            client: "C send alert warning user-canceled\nC send record 23 \"x\"",
            server: "S expect alert user-canceled\nS expect \"x\"")
        + scenes(
            "a skipped warning is not reported again", .failed,
            client: "C send alert warning user-canceled\nC send record 23 \"x\"",
            server: "S expect \"x\"\nS expect alert user-canceled within 100ms")
        + scenes(
            "a warning after bytes follows them", .passed,
            client: "C send record 23 \"x\"\nC send alert warning user-canceled",
            server: "S expect \"x\"\nS expect alert user-canceled")
        + scenes(
            "bytes before an alert must be expected", .failed,
            says: ["received data, expected the alert internal-error"],
            client: "C send record 23 \"x\"\nC send alert fatal internal-error",
            server: "S expect alert internal-error")
        + scenes(
            "an alert and then close_notify", .passed,
            client: "C send alert warning user-canceled\nC send notify", server: "S expect notify")
        + scenes(
            "input before an unreadable record", .passed,
            client: "C ignore rest\nC send \"ab\"\nC send plaintext \"EVIL EVIL EVIL\"",
            server: "S expect \"ab\"\nS ignore rest")

    @Test(arguments: all)
    func verdictDoesNotDependOnOrder(scene: Scene) async throws { try await scene.verify(subject: nil) }
}
