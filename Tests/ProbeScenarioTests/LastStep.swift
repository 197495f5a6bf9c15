import ProbeBase
import ProbeScenario
import Testing

/// Returns the kind of the last step of a script. The preparation consists of the steps that must precede it.
func lastStep(_ step: String, _ preparation: String = "") throws -> Step.Kind {
    let text = """
        scenario "x"
        server  S
        client  C -> S
        client  D
        subject T -> S with reconnect 100ms..1s
        process P = prog
        proxy   X -> S
        define login { note "in" }
        table replies = "a" /b/, "c" /d/
        let x = "x"
        let n = 5
        P start
        T start
        X forward to client
        C connect
        S accept
        D connect to 127.0.0.1:80
        \(preparation)
        \(step)

        """
    let result = compile(text)
    // A script without an expectation causes only a warning.
    #expect(result.diagnostics.allSatisfy { $0.id == .nothingTested }, "\(result.rendered)")
    return try #require(result.plan?.scenario.steps.last).kind
}
