import ProbeBase
import ProbeEvents

/// An engine that starts a run several times, and how its environment says which of them this one is.
package enum ShardEngine: CaseIterable, Sendable {
    case bazel, slurmArray, slurmStep, gitLab, circleCI, buildkite, awsBatch, cloudRun

    /// The variables of an engine.
    struct Variables {
        /// The first one that is set has the index.
        var index: [String]
        var total: String
        /// The index of the first shard.
        var base: Int
    }

    var variables: Variables {
        switch self {
        case .bazel:
            Variables(index: ["TEST_SHARD_INDEX", "JOB_COMPLETION_INDEX"], total: "TEST_TOTAL_SHARDS", base: 0)
        case .slurmArray:
            Variables(index: ["SLURM_ARRAY_TASK_ID"], total: "SLURM_ARRAY_TASK_COUNT", base: 0)
        case .slurmStep: Variables(index: ["SLURM_PROCID"], total: "SLURM_NTASKS", base: 0)
        case .gitLab: Variables(index: ["CI_NODE_INDEX"], total: "CI_NODE_TOTAL", base: 1)
        case .circleCI: Variables(index: ["CIRCLE_NODE_INDEX"], total: "CIRCLE_NODE_TOTAL", base: 0)
        case .buildkite:
            Variables(index: ["BUILDKITE_PARALLEL_JOB"], total: "BUILDKITE_PARALLEL_JOB_COUNT", base: 0)
        case .awsBatch:
            Variables(index: ["AWS_BATCH_JOB_ARRAY_INDEX"], total: "AWS_BATCH_JOB_ARRAY_SIZE", base: 0)
        case .cloudRun: Variables(index: ["CLOUD_RUN_TASK_INDEX"], total: "CLOUD_RUN_TASK_COUNT", base: 0)
        }
    }

    /// Which try of the same shard this is, and the variable that says so: a requeued job, a job that was tried again.
    ///
    /// - Parameter value: the value of a variable of the environment; nil if it is not set.
    /// - Returns: 1 where no variable says so.
    package static func attempt(_ value: (String) -> String?) throws(ShardProblem) -> Int {
        // What the first try has.
        let variables = [
            ("SLURM_RESTART_COUNT", 0), ("BUILDKITE_RETRY_COUNT", 0), ("CLOUD_RUN_TASK_ATTEMPT", 0),
            ("AWS_BATCH_JOB_ATTEMPT", 1), ("GITHUB_RUN_ATTEMPT", 1),
        ]
        for (name, base) in variables {
            guard let text = value(name), !text.isEmpty else { continue }
            guard let number = Share.number(text), number >= base, number < Share.highestTotal else {
                throw ShardProblem("\(name) must be a number from \(base) on, the try that this is; it is", text)
            }
            return number - base + 1
        }
        return 1
    }
}

/// What is wrong with the variables from which a shard is read.
package struct ShardProblem: Error, Equatable, CustomStringConvertible {
    package var description: String

    init(_ text: String) { description = text }

    /// - Parameter value: what the environment has; it is escaped.
    init(_ text: String, _ value: String) { description = "\(text) \(ShardProblem.quoted(value))" }

    /// A value of the environment for a message: short, and without characters that a terminal obeys.
    static func quoted(_ value: String) -> String {
        let isLong = value.unicodeScalars.count > 40
        return "`\(Escaped.text(String(value.unicodeScalars.prefix(40))))\(isLong ? "…" : "")`"
    }
}
