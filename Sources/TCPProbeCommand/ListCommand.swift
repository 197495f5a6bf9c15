import ProbeBase
import ArgumentParser
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the cases of scenarios, with their tags and levels.",
        discussion: """
            EXAMPLES:
              tcpprobe list Scenarios
              tcpprobe list Scenarios --tag framing --json
            """)

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Write one JSON object per line.")
    var json = false

    func run() throws {
        for job in try selection.select(allowing: nil).jobs {
            let scenario = job.plan.scenario
            if json {
                Console.standardOutput.write(CaseJSON.text(of: job) + [10])
                continue
            }
            var line = "\(Escaped.text(job.id.utf8))  \(scenario.level.rawValue)"
            if !scenario.tags.isEmpty { line += "  [\(scenario.tags.joined(separator: ", "))]" }
            line += "  \(Escaped.text(scenario.title.value.utf8))"
            Console.standardOutput.write(line + "\n")
        }
    }
}

/// Formats a case as one line of JSON.
enum CaseJSON {
    static func text(of job: RunJob) -> [UInt8] {
        let scenario = job.plan.scenario
        var members: [JSONValue.Member] = [
            ("version", .integer(1)), ("id", .string(job.id)), ("path", .string(job.path)),
            ("title", .string(scenario.title.value)), ("level", .string(scenario.level.rawValue)),
            ("tags", .array(scenario.tags.map { .string($0) })),
            ("requires", .array(CaseList.requirements(of: scenario).map { .string($0) })),
            ("because", .array(scenario.because.map { .string($0) })),
        ]
        if let about = scenario.about { members.append(("about", .string(about))) }
        return JSONValue.object(members).encoded()
    }
}
