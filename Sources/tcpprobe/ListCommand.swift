import ArgumentParser
import ProbeEngine
import ProbeEvents
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

    @Flag(help: "One JSON object a line.")
    var json = false

    func run() throws {
        for job in try selection.jobs() {
            let scenario = job.plan.scenario
            if json {
                Console.standardOutput.write(JSONLine.text(of: job) + "\n")
                continue
            }
            var line = "\(EscapedBytes.safeText(job.id.utf8))  \(scenario.level.rawValue)"
            if !scenario.tags.isEmpty { line += "  [\(scenario.tags.joined(separator: ", "))]" }
            line += "  \(EscapedBytes.safeText(scenario.title.value.utf8))"
            Console.standardOutput.write(line + "\n")
        }
    }
}

/// A case as one line of JSON.
enum JSONLine {
    static func text(of job: RunJob) -> String {
        let scenario = job.plan.scenario
        var fields = [
            "\"id\":\(string(job.id))", "\"path\":\(string(job.path))", "\"title\":\(string(scenario.title.value))",
            "\"level\":\(string(scenario.level.rawValue))",
            "\"tags\":[\(scenario.tags.map(string).joined(separator: ","))]",
            "\"requires\":[\(CaseList.requirements(of: scenario).map(string).joined(separator: ","))]",
            "\"because\":[\(scenario.because.map(string).joined(separator: ","))]",
        ]
        if let about = scenario.about { fields.append("\"about\":\(string(about))") }
        return "{\(fields.joined(separator: ","))}"
    }

    /// RFC 8259 section 7; what is not ASCII stays as it is.
    static func string(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default:
                if scalar.value < 32 || (127..<160).contains(scalar.value) {
                    let digits = String(scalar.value, radix: 16)
                    quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    quoted.unicodeScalars.append(scalar)
                }
            }
        }
        return quoted + "\""
    }
}
