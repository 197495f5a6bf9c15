import ProbeBase
import ProbeEvents

/// A CI system or scheduler that starts a run in several processes, each identified by environment variables.
package enum ShardEngine: CaseIterable, Sendable {
    case bazel, slurmArray, slurmStep, gitLab, circleCI, buildkite, awsBatch, cloudRun

    /// The environment variables that a CI system or scheduler sets.
    struct Variables {
        /// The variables that may hold the shard's index, in order of precedence.
        var index: [String]
        var total: String
        /// The index of the first shard: 0 or 1.
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

    /// Returns the number of the current attempt to run a shard, for a job that was requeued or retried.
    ///
    /// - Parameter value: returns the value of an environment variable; `nil` if it is not set.
    /// - Returns: the number of the attempt, starting at 1; 1 if no variable specifies it.
    package static func attempt(_ value: (String) -> String?) throws(ShardProblem) -> Int {
        // The variables that hold the number of the attempt, each with its value in the first attempt.
        let variables = [
            ("SLURM_RESTART_COUNT", 0), ("BUILDKITE_RETRY_COUNT", 0), ("CLOUD_RUN_TASK_ATTEMPT", 0),
            ("AWS_BATCH_JOB_ATTEMPT", 1), ("GITHUB_RUN_ATTEMPT", 1),
        ]
        for (name, base) in variables {
            guard let text = value(name), !text.isEmpty else { continue }
            guard let number = Share.number(text), number >= base, number < Share.highestTotal else {
                throw ShardProblem("\(name) must be the number of the attempt, counted from \(base); it is", text)
            }
            return number - base + 1
        }
        return 1
    }
}

/// An error in the environment variables that specify a shard.
package struct ShardProblem: Error, Equatable, CustomStringConvertible {
    package var description: String

    init(_ text: String) { description = text }

    /// Creates an error about the value of an environment variable.
    ///
    /// - Parameter value: the value from the environment, which is escaped for the message.
    init(_ text: String, _ value: String) { description = "\(text) \(ShardProblem.quoted(value))" }

    /// Returns a value from the environment as quoted in a message: shortened, and without characters that a terminal
    /// interprets.
    static func quoted(_ value: String) -> String {
        let isLong = value.unicodeScalars.count > 40
        return "`\(Escaped.text(String(value.unicodeScalars.prefix(40))))\(isLong ? "…" : "")`"
    }
}
