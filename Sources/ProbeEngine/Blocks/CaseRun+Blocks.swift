import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Where tasks of their own come back to the case's thread, and what runs after the steps.
extension CaseRun {
    /// Runs the lines of a `together` at once; the first failure ends the others.
    func runLines(of block: Block, from time: MonotonicTime) async -> Finding? {
        let reactor = reactor
        return await withTaskGroup(of: Finding?.self) { group in
            for step in block.steps {
                group.addTask(executorPreference: reactor) { await self.attempt(step, from: time) }
            }
            var first: Finding?
            for await outcome in group {
                if let outcome, first == nil {
                    first = outcome
                    group.cancelAll()
                    self.context.changes.notifyAll()
                }
            }
            return first
        }
    }

    private func attempt(_ step: Step, from time: MonotonicTime) async -> Finding? {
        await blocks.attempt(step, from: time)
    }

    /// Begins the answers of a connection's `whenever`, beside the steps.
    func startAnswering(_ connection: String) {
        // Whatever step was running when the line came, its `retry` is not the answer's.
        StepContext.$attempt.withValue(nil) {
            StepContext.$isInDefinition.withValue(true) {
                _ = Task(executorPreference: reactor) { await self.runAnswers(of: connection) }
            }
        }
    }

    private func runAnswers(of connection: String) async { await blocks.runAnswers(of: connection) }

    /// Runs the `finally` blocks in the order of the script; what fails in one is a finding, and the next one runs all the same.
    func runFinallyBlocks() async -> [Finding] {
        if blocks.finallyBlocks.isEmpty { return [] }
        context.faults.clear()
        var findings: [Finding] = []
        timeout.begin("`finally`")
        defer { timeout.cancel() }
        for block in blocks.finallyBlocks {
            do throws(Finding) {
                _ = try await blocks.run(block.steps, from: .now)
            } catch {
                findings.append(error)
                context.faults.clear()
            }
        }
        if let fault { findings.append(withActors(fault)) }
        context.faults.clear()
        return findings
    }
}
