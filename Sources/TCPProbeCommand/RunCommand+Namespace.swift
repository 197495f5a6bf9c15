import ArgumentParser
import ProbeEngine
import ProbeSystem

extension RunCommand {
    /// - Returns: why the run stays where it is.
    func enterNamespace(_ jobs: [RunJob], _ notes: HeldNotes) throws -> IsolationObstacle? {
        let isAsked = isolate == true
        if isAsked && !targets.allowed.isEmpty {
            throw Failure.wrongUse("--isolate and --allow-target exclude each other: nothing outside can be reached")
        }
        // A server that was started before the run is outside the namespace, also if its address is 127.0.0.1.
        if !isAsked, let obstacle = IsolationObstacle(jobs, allowedTargets: targets.allowed) { return obstacle }
        let lacking = Isolation.mayCapture ? "links are" : "capture is"  // In the namespace both are.
        do {
            try Isolation.enter()
            notes.write(
                isAsked
                    ? "isolated: this run has a network namespace of its own (MTU 1500)\n"
                    : "isolated: \(lacking) not permitted here, so this run has a network "
                        + "namespace of its own (MTU 1500)\n"
            )
        } catch {
            let text = "a network namespace is not to be had here (\(error.step): \(error.reason))"
            if isAsked || error.isBehindUnshare {
                Console.standardError.write(
                    "error: \(text); run without --isolate, as root or with `setcap cap_net_raw+ep \(executablePath())`\n"
                )
                throw ExitCode(3)
            }
            Console.standardOutput.write("note: \(text)\n")
        }
        return nil
    }
}
