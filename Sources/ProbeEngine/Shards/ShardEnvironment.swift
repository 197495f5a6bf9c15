package import ProbeEvents

/// The shard that a CI system's environment variables specify.
package struct ShardEnvironment: Sendable, Equatable {
    package var share: Share
    /// The names of the variables that specify the shard, such as `SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT`.
    package var variables: String

    /// Reads the environment variables of all known CI systems and schedulers. An empty variable counts as unset.
    ///
    /// A total of 1 doesn't specify a shard, because some systems also set it for jobs that are not divided. The
    /// variables of several systems may be set as long as they agree, as in a Slurm array whose tasks start one process
    /// each.
    ///
    /// - Parameters:
    ///   - value: returns the value of an environment variable; `nil` if it is not set.
    ///   - takesWhole: whether a total of 1, together with its index, also specifies a shard.
    /// - Returns: the shard; `nil` if the variables don't divide the run.
    /// - Throws: an error if a system sets only the index or only the total, if the index is out of range, if a value
    ///   is not a number, or if two systems disagree.
    package static func read(
        _ value: (String) -> String?, takesWhole: Bool = false
    ) throws(ShardProblem) -> ShardEnvironment? {
        let lookup = { (name: String) in value(name).flatMap { $0.isEmpty ? nil : $0 } }
        var found: [ShardEnvironment] = []
        for engine in ShardEngine.allCases {
            if let shard = try engine.shard(lookup) { found.append(shard) }
        }
        let whole = found.first
        found.removeAll { $0.share.isWhole }
        guard let first = found.first else { return takesWhole ? whole : nil }
        if let other = found.first(where: { $0.share != first.share }) {
            throw ShardProblem(
                "\(first.variables) select shard \(first.share), but \(other.variables) select \(other.share): "
                    + "choose one with `--shard`, or neither with `--no-shard`")
        }
        return first
    }

    /// Returns the path of the file that a test creates to tell Bazel that it supports sharding; `nil` if the variable
    /// is not set.
    package static func statusFile(_ value: (String) -> String?) -> String? {
        value("TEST_SHARD_STATUS_FILE").flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension ShardEngine {
    /// Returns the shard that the environment variables of this CI system or scheduler specify.
    ///
    /// - Returns: the shard; `nil` if the CI system or scheduler did not start this process.
    fileprivate func shard(_ value: (String) -> String?) throws(ShardProblem) -> ShardEnvironment? {
        let variables = variables
        let index = variables.index.first { value($0) != nil }
        if let index, let other = variables.index.last(where: { value($0) != nil }), value(index) != value(other) {
            throw ShardProblem(
                "\(index) and \(other) are both set, and differ: choose a shard with `--shard`, or none with `--no-shard`"
            )
        }
        let total = value(variables.total)
        if index == nil, total == nil || isAlone(total) { return nil }
        if self == .slurmStep, isOutsideStep(value) { return nil }
        let names = "\(index ?? variables.index.joined(separator: " or ")) and \(variables.total)"
        guard let index, let indexText = value(index), let total else {
            let (has, lacks) =
                index.map { ($0, variables.total) } ?? (variables.total, variables.index.joined(separator: " or "))
            throw ShardProblem(
                "\(has) is set, but \(lacks) is not, and a shard needs both: set both, or use `--shard 3/8` or `--no-shard`"
            )
        }
        guard let totalNumber = Share.number(total) else { throw noNumber(variables.total, total) }
        guard let number = Share.number(indexText) else { throw noNumber(index, indexText) }
        let position =
            self == .slurmArray
            ? try SlurmArray(value, total: totalNumber).position(of: number) : number - variables.base
        do throws(Share.Problem) {
            return ShardEnvironment(share: try Share(index: position + 1, total: totalNumber), variables: names)
        } catch {
            guard (1...Share.highestTotal).contains(totalNumber) else {
                throw ShardProblem("\(variables.total) must be 1 to \(Share.highestTotal); it is", total)
            }
            throw ShardProblem(
                "\(index) must be \(variables.base) to \(variables.base + totalNumber - 1), because \(variables.total) is \(totalNumber); it is",
                indexText)
        }
    }

    private func noNumber(_ name: String, _ text: String) -> ShardProblem {
        ShardProblem("\(name) must be a number, because it selects the shard; it is", text)
    }

    /// Whether the total is 1, which some CI systems also set for jobs that are not divided.
    private func isAlone(_ total: String?) -> Bool {
        total.flatMap(Share.number) == 1
    }

    /// Whether the Slurm variables come from a job script rather than from a process started by `srun`. A job script is
    /// a single process, but `SLURM_PROCID` is set in it, and `SLURM_NTASKS` may be set. `SLURM_STEP_ID` is set only in
    /// a process started by `srun`.
    private func isOutsideStep(_ value: (String) -> String?) -> Bool {
        let isFirst = Share.number(value("SLURM_PROCID") ?? "0") == 0
        if value("SLURM_JOB_ID") != nil, value("SLURM_STEP_ID") == nil { return isFirst }
        return value("SLURM_ARRAY_TASK_ID") != nil && value("SLURM_NTASKS") == nil
    }
}

/// The task numbers of a Slurm array, which may begin at any number and have gaps of equal size.
private struct SlurmArray {
    private let first: Int
    private let step: Int
    private let count: Int

    /// Reads the task numbers from the environment.
    ///
    /// - Throws: an error if the task numbers can't be determined, for example with `--array=1,5,7`.
    init(_ value: (String) -> String?, total: Int) throws(ShardProblem) {
        guard let first = try SlurmArray.number("SLURM_ARRAY_TASK_MIN", value) else {
            throw ShardProblem(
                "SLURM_ARRAY_TASK_ID is set, but SLURM_ARRAY_TASK_MIN is not, so the start of the array is unknown: use `--shard 3/8` or `--no-shard`"
            )
        }
        let step = try SlurmArray.number("SLURM_ARRAY_TASK_STEP", value) ?? 1
        (self.first, self.step, count) = (first, max(1, step), total)
        guard let last = try SlurmArray.number("SLURM_ARRAY_TASK_MAX", value) else { return }
        let (span, overflow) = self.step.multipliedReportingOverflow(by: max(0, total - 1))
        // For `0-11:2`, Slurm reports 11 as the maximum, although the last task is 10, so a maximum after the last task
        // is also accepted.
        if overflow || last < first
            || !(span..<span.addingReportingOverflow(self.step).partialValue).contains(last - first)
        {
            throw ShardProblem(
                "the tasks of the Slurm array are not evenly spaced (SLURM_ARRAY_TASK_MIN is \(first), _MAX \(last), _STEP \(self.step), "
                    + "_COUNT \(total)), so the shard of this task is unknown: use `--array=0-\(max(1, total) - 1)`, or `--shard`"
            )
        }
    }

    /// Returns the position of a task in the array, starting at 0.
    func position(of task: Int) throws(ShardProblem) -> Int {
        guard task >= first, (task - first) % step == 0, (task - first) / step < count else {
            throw ShardProblem(
                "SLURM_ARRAY_TASK_ID is \(task), which is not a task of the array: \(count) tasks from SLURM_ARRAY_TASK_MIN \(first) on, \(step) apart; "
                    + "use `--shard 3/8` or `--no-shard`")
        }
        return (task - first) / step
    }

    private static func number(_ name: String, _ value: (String) -> String?) throws(ShardProblem) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Share.number(text), number < 1 << 40 else {
            throw ShardProblem("\(name) must be a number, because it selects the shard; it is", text)
        }
        return number
    }
}
