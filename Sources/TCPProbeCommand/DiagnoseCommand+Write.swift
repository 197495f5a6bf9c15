import ArgumentParser
import CShims
import ProbeBase
import ProbeCapture
import ProbeDiagnose
import ProbeEngine
import ProbeInspect
import ProbeSystem
import ProbeWire

/// `diagnose --write`: from a finding to a scenario that recreates its condition.
extension DiagnoseCommand {
    /// Writes the scenario, if a run of it shows the same finding.
    ///
    /// - Returns: the exit code, which is 3 if no scenario was written.
    /// - Throws: the exit code for invalid usage, after printing the message.
    func writeReproduction(to path: String) throws -> Int32 {
        let destination = try ScenarioDestination(path, replaces: force)
        // A namespace must be entered while the process has a single thread, which is before the capture is read.
        let session = try RunSession()
        defer { session.endAndReport() }
        try enterNamespace(session)
        let flow = try chosenFlow()
        guard let finding = flow.findings.first else { return 3 }
        let reproduction: Reproduction
        do throws(ReproductionObstacle) {
            reproduction = try Reproduction(finding)
        } catch {
            Console.standardError.write(
                "error: \(finding.id.rawValue) in flow \(flow.number) can't be recreated by a scenario: \(error.reason)\n"
            )
            return 3
        }
        let file = name(files[0]).split(separator: "/").last.map(String.init) ?? files[0]
        let text = reproduction.text(origin: "flow \(flow.number) of \(file)", sentence: finding.sentence)
        if reproduction.waits > .seconds(5) {
            let time = DurationText.script(reproduction.waits)
            Console.standardError.write("note: the scenario is run to check it, which takes at least \(time)\n")
        }
        let check = try ReproductionCheck(reproduction, text, destination)
        switch try check.run(in: session) {
        case .interrupted(let signal): return 128 + signal
        case .different(let reason):
            Console.standardError.write(
                "error: no scenario was written for \(finding.id.rawValue) in flow \(flow.number): \(reason)\n")
            return 3
        case .same(let number):
            do throws(SystemError) {
                try destination.folder.replace(destination.name, with: check.bytes)
            } catch {
                Console.standardError.write("error: can't write \(Escaped.text(path)): \(error.reason)\n")
                return 3
            }
            let capture = "tcpprobe-out/\(CaseFileName.of(id: destination.stem, subject: nil, round: 1)).pcapng"
            var words = ["tcpprobe", "diagnose", capture, "--side", check.side]
            if number > 0 || finding.severity == .note { words += ["--flow", "\(number)"] }
            let run = ["tcpprobe", "run", path, "--keep", "all"].map(ShellWord.quoted).joined(separator: " ")
            Console.standardOutput.write(
                """
                \(Escaped.text(path)) shows \(finding.id.rawValue): run it with `\(run)`
                `\(words.map(ShellWord.quoted).joined(separator: " "))` then reports the finding

                """)
            return 0
        }
    }

    private func enterNamespace(_ session: RunSession) throws {
        do {
            try session.enterNamespace()
        } catch {
            guard !Isolation.mayCapture || error.isAfterUnshare else { return }
            throw Failure.machine(
                "--write runs the scenario in a private network, which can't be created (\(error.step): \(error.reason))"
            )
        }
    }

    /// Returns the flow whose finding is recreated.
    ///
    /// - Throws: the exit code, after printing the message, if there is no such flow.
    private func chosenFlow() throws -> FlowDiagnosis {
        // Nothing must be removed before the scenario is run, so Ctrl-C may end the process immediately.
        probe_interrupts_end_process(1)
        defer { probe_interrupts_end_process(0) }
        let file = files[0]
        let all = try connections.filter(number: nil)
        let criteria = try connections.criteria
        let accepts = try packets.filter()?.predicate
        let inspection: Inspection
        do throws(CaptureSourceError) {
            inspection = Inspection.diagnosing(
                try CaptureSource(path: file), accepts: accepts, tunnels: noTunnels ? .named : .opened,
                view: side?.view ?? .received)
        } catch {
            throw failure(.source(error))
        }
        if let problem = inspection.problem, problem.isInvalidUsage { throw failure(problem) }
        // Findings about several flows are found only if all flows are diagnosed.
        let report = inspection.diagnosis(criteria.applied(to: all, in: inspection))
        let flows = flow.map { number in report.flows.filter { $0.number == number } } ?? report.flows
        guard !flows.isEmpty else {
            if let problem = inspection.problem { throw failure(problem) }
            let filter = try connections.filter(number: flow)
            guard !filter.isOpen else { throw Failure.machine("\(name(file)): there is no flow that can be judged") }
            let chosen = criteria.applied(to: filter, in: inspection)
            let count = ByteText.count(inspection.analysis.table.conversations.count, "flow")
            throw Failure.invalidUsage("\(name(file)): there is no \(chosen.text): the file has \(count)")
        }
        let serious = flows.filter { $0.severity.map { $0 != .note } ?? false }
        let found = serious.isEmpty ? flows.filter { !$0.findings.isEmpty } : serious
        if found.count > 1 {
            let what = serious.isEmpty ? "a finding" : "a problem or a warning"
            throw Failure.invalidUsage(
                "\(name(file)): \(found.count) flows have \(what); choose one with --flow, such as --flow \(found[0].number)"
            )
        }
        try requireOwnFinding(found.first ?? flows[0], report)
        guard let first = found.first else {
            let what = flow.map { "flow \($0) has no finding" } ?? "no flow has a finding"
            throw Failure.machine("\(name(file)): \(what), so there is nothing to recreate")
        }
        return first
    }

    /// Checks that a finding about several flows does not explain more than the flow's own findings.
    private func requireOwnFinding(_ flow: FlowDiagnosis, _ report: DiagnosisReport) throws {
        guard let shared = report.shared.first(where: { $0.flows.contains(flow.number) })?.finding,
            let obstacle = ReproductionObstacle(shared.id)
        else { return }
        let text = "\(shared.id.rawValue), which flow \(flow.number) is a part of, can't be recreated by a scenario"
        guard let own = flow.findings.first, own.severity <= shared.severity else {
            throw Failure.machine("\(text): \(obstacle.reason)")
        }
        Console.standardError.write("note: \(text); \(own.id.rawValue) is recreated instead\n")
    }

    private func failure(_ problem: InspectionProblem) -> ExitCode {
        Console.standardError.write("error: \(name(files[0])): \(problem)\n")
        return ExitCode(problem.isInvalidUsage ? 2 : 3)
    }
}
