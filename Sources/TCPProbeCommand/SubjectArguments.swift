import ArgumentParser
import ProbeEngine
import ProbeEvents
import ProbeScenario
import ProbeTransport

/// The options that specify the transports and adapters under test.
struct SubjectArguments: ParsableArguments {
    /// The default subject, which is omitted from the command line that runs a case again.
    static let standard = ["--transport", "bsd"]

    @Option(
        name: .customLong("transport"),
        help: ArgumentHelp(
            "Built-in transport to test: \(BuiltInTransports.available.joined(separator: ", ")) (default: bsd). May be repeated to run each case with each transport.",
            valueName: "name"),
        completion: .list(BuiltInTransports.names))
    var transports: [String] = []

    @Option(
        name: .customLong("adapter"),
        help: ArgumentHelp(
            "Command line of a program that provides a transport to test over the adapter protocol. May be repeated.",
            valueName: "command"))
    var adapters: [String] = []

    /// Returns the subjects in the order of the command line, but transports before adapters.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message.
    func sources() throws -> [any SubjectSource] {
        let names = SubjectNames()
        var sources: [any SubjectSource] = []
        for name in transports.isEmpty && adapters.isEmpty ? ["bsd"] : transports {
            sources.append(try BuiltInTransports.source(named: name, names: names))
        }
        for command in adapters {
            do throws(SubjectFailure) {
                sources.append(try AdapterSource(command: command, names: names))
            } catch {
                throw Failure.invalidUsage("--adapter: \(error.summary)")
            }
        }
        return sources
    }

    /// Returns one job for each combination of a case and a subject. A case without a subject is run only once.
    func multiply(_ jobs: [RunJob], by sources: [any SubjectSource]) -> [RunJob] {
        jobs.flatMap { job in
            return (job.plan.scenario.needsSubject ? sources : Array(sources.prefix(1))).map { source in
                var job = job
                job.subject = source
                return job
            }
        }
    }
}
