import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// `expect output` and `expect no output`: about all that a program printed, also where the harness no longer keeps it.
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

    private func watch(of process: ProcessActor) -> OutputWatch {
        if let watch = process.watch { return watch }
        let watch = OutputWatch(OutputWatch.literals(of: scenario, for: process.name))
        process.watch = watch
        return watch
    }

    /// One look of an `expect output`.
    ///
    /// - Throws: what makes it impossible to tell.
    func look(
        _ wait: inout OutputWait?, _ process: ProcessActor, isLast: Bool
    ) throws(Finding) -> OutputSearch.Match? {
        guard let child = wait?.child, let regex = wait?.regex else { return nil }
        let found = wait?.look(isLast: isLast)
        let cursor = process.output.line
        let isSearched = watch(of: process).hasSearched(regex, from: cursor, in: child.transcript)
        guard isSearched, child.transcript.lostBefore <= cursor else {
            throw unsearchable(regex, process, "output that the harness no longer keeps was not searched for it")
        }
        if wait?.isBehind == true {
            let changes = changes
            _ = reactor.schedule(at: .now + .milliseconds(50)) { changes.notifyAll() }
        }
        return found
    }

    private func unsearchable(_ regex: ByteRegex, _ process: ProcessActor, _ why: String) -> Finding {
        Finding(
            .inconclusive, "it can't be told whether \(process.name) printed /\(regex.source)/: \(why)",
            hints: ["the harness keeps 16 MiB of a program's output, and 1 MiB of a line: let the program print less"])
    }

    /// A failure that says "it was not printed" holds only where all of the output could be searched.
    private func notPrinted(_ failure: Finding, _ regex: ByteRegex, _ process: ProcessActor, _ child: ChildProcess)
        -> Finding
    {
        guard !OutputSearch.seesAll(regex, in: child.transcript, from: process.output.line) else { return failure }
        return unsearchable(regex, process, "a line of more than 1 MiB was searched in parts")
    }

    func expectOutput(
        _ regex: ByteRegex, _ process: ProcessActor, _ child: ChildProcess, _ timing: Timing,
        _ deadline: MonotonicTime, _ start: MonotonicTime
    ) async throws(Finding) {
        waits[process.name] = "output /\(regex.source)/"
        _ = watch(of: process)
        var output: OutputWait? = OutputWait(for: regex, of: process, child)
        let found = try await wait(until: deadline, from: start) { () throws(Finding) -> OutputSearch.Match? in
            let hasEnded = child.exit
            let isLast = MonotonicTime.now >= deadline
            if let match = try look(&output, process, isLast: isLast) { return match }
            if let hasEnded {
                throw notPrinted(
                    Finding(
                        .failed,
                        "\(process.name) ended (\(ExitText.describe(hasEnded))) without printing /\(regex.source)/",
                        details: lastLines(child)), regex, process, child)
            }
            return nil
        }
        guard let found else {
            throw notPrinted(
                Finding(
                    .failed,
                    "\(process.name) did not print /\(regex.source)/ within \(DurationText.script(deadline - start))",
                    details: lastLines(child)), regex, process, child)
        }
        try judgeTime(found.time, "the output /\(regex.source)/", deadline, timing, start)
        process.output = OutputSearch.cursor(behind: found, in: child.transcript, was: process.output)
        child.releaseOutput(before: process.output.unfinished.keys.min() ?? process.output.line)
        for (name, value) in found.groups { bind(name, .bytes(value)) }
    }

    func expectNoOutput(
        _ regex: ByteRegex, _ process: ProcessActor, _ child: ChildProcess, for duration: Duration?
    ) async throws(Finding) {
        waits[process.name] = "no output /\(regex.source)/"
        let watch = watch(of: process)
        watch.add(regex, isWanted: false, from: child.transcript.dropped)
        // What it has printed by now may lie in its pipes still.
        child.look()
        var cursor = OutputCursor()
        let begun = MonotonicTime.now
        let end = begun + (duration ?? .zero)
        let found = try await wait(until: end, from: begun) { () throws(Finding) -> OutputWatch.Found? in
            if let found = watch.found(regex) { return found }
            let transcript = child.transcript
            if let match = OutputSearch.next(regex, in: transcript, from: cursor) {
                return OutputWatch.Found(line: transcript[match.line]?.bytes ?? [], time: match.time)
            }
            // Complete lines need no second look.
            let open = transcript.openLines.map { ($0, 0) }
            cursor = OutputCursor(line: transcript.end, offset: 0, unfinished: Dictionary(uniqueKeysWithValues: open))
            return nil
        }
        let what = "\(process.name) printed a line that matches /\(regex.source)/"
        if let found, try breaksSilence(what, at: found.time, from: begun, to: end) {
            throw Finding(.failed, what, actual: found.line)
        }
        if !watch.hasSearched(regex, from: 0, in: child.transcript) {
            throw unsearchable(regex, process, "output that the harness no longer keeps was not searched for it")
        }
        if !OutputSearch.seesAll(regex, in: child.transcript, from: 0) {
            throw unsearchable(regex, process, "a line of more than 1 MiB was searched in parts")
        }
    }
}
