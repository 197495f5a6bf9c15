import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension ProcessExecutor {
    func expect(
        _ expectation: ProcessExpectation, _ process: ProcessActor, _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        guard let child = process.child else {
            throw Finding(
                .error, "\(process.name) has not been started", hints: ["`\(process.name) start` comes first"])
        }
        let wanted = try resolve(expectation, process)
        let deadline = deadline(of: wanted, timing, from: time)
        var pending = PendingProcessExpectation(wanted, process, child, after: timing.after, watch: watch(of: process))
        defer { context.actors.waits[process.name] = nil }
        switch try await context.conclude(&pending, of: process.name, from: time, until: deadline) {
        case .satisfied(let found, let moment):
            if case .exit = wanted { process.exitIsTaken = true }
            if let moment {
                try context.judgeTime(
                    moment, wanted.eventName(of: process.name), deadline, timing, time, own: pending.ownTime,
                    isExact: wanted.isExit)
            }
            switch found {
            case .output(let found):
                take(found, process, child)
                if case .output(let literal) = expectation { note(found, consumedBy: literal, process) }
            case .bindings(let bindings): for (name, value) in bindings { context.bind(name, value) }
            case .nothing: break
            }
            if case .resource = wanted { process.meter?.take() }
        case .impossible(let why):
            if wanted.isExit, child.exit != nil { process.exitIsTaken = true }
            var finding = why.finding
            if why.isMissed, case .listening = wanted {
                let others = try ProcessObserver.listeningPorts(process, child, isLast: true).sorted()
                if !others.isEmpty {
                    finding.hints.append("it listens on \(others.map(String.init).joined(separator: ", ")) instead")
                }
            }
            if case .resource(let resource) = wanted {
                process.meter?.take()
                finding.details += process.meter?.details(of: resource.resource) ?? []
            }
            throw finding
        }
    }

    /// Computes the values of an expectation.
    func resolve(
        _ expectation: ProcessExpectation, _ process: ProcessActor
    ) throws(Finding) -> ResolvedProcessExpectation {
        switch expectation {
        case .listening: return .listening(port: process.command.portCount > 0 ? process.ports.first : nil)
        case .output(let literal): return .output(try context.regex(literal))
        case .noOutput(let literal, let duration):
            return .noOutput(try context.regex(literal), for: duration ?? .zero)
        case .exit(.any): return .exit(.any)
        case .exit(.status(let expression)): return .exit(.status(try context.integer(of: expression)))
        case .exit(.signal(let signal)): return .exit(.signal(signal))
        case .resource(let wanted): return .resource(try context.resolve(wanted))
        }
    }

    /// - Returns: for a silence, its end.
    func deadline(
        of wanted: ResolvedProcessExpectation, _ timing: Timing, from time: MonotonicTime
    ) -> MonotonicTime {
        if case .noOutput(_, let duration) = wanted { return time + duration }
        return context.deadline(timing, from: time)
    }

    private func take(_ found: OutputSearch.Match, _ process: ProcessActor, _ child: ChildProcess) {
        process.output = OutputSearch.cursor(behind: found, in: child.outputLog, was: process.output)
        child.releaseOutput(before: process.output.unfinished.keys.min() ?? process.output.line)
        for (name, value) in found.groups { context.bind(name, .bytes(value)) }
    }

    /// Remembers for reports which step consumed a line.
    private func note(_ found: OutputSearch.Match, consumedBy literal: RegexLiteral, _ process: ProcessActor) {
        let line = context.sources.location(of: literal.span).line
        process.consumed = process.consumed.suffix(255)
        process.consumed.append(
            ProcessActor.Consumed(
                line: found.line, step: "`expect output \(context.text(of: literal.span))` at line \(line)"))
    }

    // MARK: Output that is no longer kept

    /// Searches old output for the script's patterns before it is dropped.
    func watchOutput(of process: ProcessActor, _ child: ChildProcess) {
        process.watch = nil
        child.keepsLines = { [weak context, weak process] lines, first in
            guard let context, let process else { return [] }
            return ProcessExecutor(context: context).searchDropped(process, lines, first)
        }
    }

    private func searchDropped(_ process: ProcessActor, _ lines: ArraySlice<OutputLog.Line>, _ first: Int) -> [Bool] {
        watch(of: process).search(lines, first, process.output) { literal in
            // A variable that is not bound yet: the pattern is none that a step could have asked for.
            do throws(Finding) { return try context.regex(literal) } catch { return nil }
        }
    }

    func watch(of process: ProcessActor) -> OutputWatch {
        if let watch = process.watch { return watch }
        let watch = OutputWatch(OutputWatch.literals(of: context.scenario, for: process.name))
        process.watch = watch
        return watch
    }
}
