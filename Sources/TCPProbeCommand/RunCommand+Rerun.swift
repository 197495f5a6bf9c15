import ProbeEngine
import ProbeScenario
import ProbeSystem
import ProbeTransport

extension RunCommand {
    /// The command that runs one case again, with every option that the case depends on.
    func rerun(_ job: RunJob) -> String {
        var words = ["tcpprobe", "run"]
        // What --expect says of the case is found by the id that it has below the given folder. Without it the script alone is enough, and
        // the id is that of the script alone.
        let ownID = ScenarioFiles.ownID(of: job.path) + job.casePlan.label
        if job.id != ownID, !reports.expect.isEmpty {
            words += selection.paths + ["--filter", job.id]
        } else {
            words.append(job.path)
            if !job.casePlan.label.isEmpty { words += ["--filter", ownID] }
        }
        if let subject = job.subject, subject.option != SubjectArguments.standard { words += subject.option }
        for assignment in selection.assignments { words += ["--set", assignment] }
        if seed != 0 { words += ["--seed", "\(seed)"] }
        if timeScale != 1 { words += ["--time-scale", "\(timeScale)"] }
        for target in targets.allowed { words += ["--allow-target", target] }
        if let isolate { words.append(isolate ? "--isolate" : "--no-isolate") }
        if forbidsProcesses { words.append("--no-process") }
        // It changes the environment of programs.
        if omitsSecrets { words.append("--no-secrets") }
        for path in reports.expect { words += ["--expect", path] }
        if strict { words.append("--strict") }
        if isOverTLS { words.append("--over-tls") }
        // It was read when the run began: what can't be read has ended the run there.
        if let share = try? crowds.choice()?.share { words += ["--crowd-share", "\(share)"] }
        if out != "tcpprobe-out" { words += ["--out", out] }
        return words.map(ShellWord.quoted).joined(separator: " ")
    }
}
