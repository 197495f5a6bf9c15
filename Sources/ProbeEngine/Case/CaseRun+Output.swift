import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Output that the harness no longer keeps has been searched for the script's patterns.
extension CaseRun {
    /// Searches old output for the script's patterns before it is dropped.
    func watchOutput(of process: ProcessActor, _ child: ChildProcess) {
        let name = process.name
        process.watch = nil
        child.keepsLines = { [weak self] lines, first in
            self?.assumeIsolated { run in
                guard case .process(let process)? = run.actors[name] else { return [] }
                return run.searchDropped(process, lines, first)
            } ?? []
        }
    }

    private func searchDropped(_ process: ProcessActor, _ lines: ArraySlice<Transcript.Line>, _ first: Int) -> [Bool] {
        watch(of: process).search(lines, first, process.output) { literal in
            // A variable that is not bound yet: the pattern is none that a step could have asked for.
            do throws(Finding) { return try regex(literal) } catch { return nil }
        }
    }

    func watch(of process: ProcessActor) -> OutputWatch {
        if let watch = process.watch { return watch }
        let watch = OutputWatch(OutputWatch.literals(of: scenario, for: process.name))
        process.watch = watch
        return watch
    }
}
