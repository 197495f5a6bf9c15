import ProbeEngine
import ProbeEvents
import Testing

@Suite struct ShardEnvironmentTests {
    private func read(_ variables: [String: String]) throws -> ShardEnvironment? {
        try ShardEnvironment.read { variables[$0] }
    }

    private func problem(_ variables: [String: String]) -> String? {
        do {
            _ = try read(variables)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        (["TEST_SHARD_INDEX": "2", "TEST_TOTAL_SHARDS": "8"], "TEST_SHARD_INDEX and TEST_TOTAL_SHARDS"),
        (["JOB_COMPLETION_INDEX": "2", "TEST_TOTAL_SHARDS": "8"], "JOB_COMPLETION_INDEX and TEST_TOTAL_SHARDS"),
        (
            ["SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "8", "SLURM_ARRAY_TASK_MIN": "1"],
            "SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT"
        ),
        (["SLURM_PROCID": "2", "SLURM_NTASKS": "8"], "SLURM_PROCID and SLURM_NTASKS"),
        (["CI_NODE_INDEX": "3", "CI_NODE_TOTAL": "8"], "CI_NODE_INDEX and CI_NODE_TOTAL"),
        (["CIRCLE_NODE_INDEX": "2", "CIRCLE_NODE_TOTAL": "8"], "CIRCLE_NODE_INDEX and CIRCLE_NODE_TOTAL"),
        (
            ["BUILDKITE_PARALLEL_JOB": "2", "BUILDKITE_PARALLEL_JOB_COUNT": "8"],
            "BUILDKITE_PARALLEL_JOB and BUILDKITE_PARALLEL_JOB_COUNT"
        ),
        (
            ["AWS_BATCH_JOB_ARRAY_INDEX": "2", "AWS_BATCH_JOB_ARRAY_SIZE": "8"],
            "AWS_BATCH_JOB_ARRAY_INDEX and AWS_BATCH_JOB_ARRAY_SIZE"
        ),
        (["CLOUD_RUN_TASK_INDEX": "2", "CLOUD_RUN_TASK_COUNT": "8"], "CLOUD_RUN_TASK_INDEX and CLOUD_RUN_TASK_COUNT"),
    ])
    func variablesOfEachEngineAreRead(_ variables: [String: String], _ names: String) throws {
        let shard = try #require(try read(variables))
        #expect(shard.share == (try Share(index: 3, total: 8)))
        #expect(shard.variables == names)
    }

    @Test func withoutVariablesThereIsNoShard() throws {
        #expect(try read([:]) == nil)
        #expect(try read(["TEST_SHARD_INDEX": "", "TEST_TOTAL_SHARDS": ""]) == nil)
    }

    /// GitLab and CircleCI set a total of 1 if a job is not divided, and Slurm sets a total of 1 if it starts only one
    /// process.
    @Test(arguments: [
        ["CI_NODE_TOTAL": "1"], ["CIRCLE_NODE_INDEX": "0", "CIRCLE_NODE_TOTAL": "1"],
        ["CLOUD_RUN_TASK_INDEX": "0", "CLOUD_RUN_TASK_COUNT": "1"], ["SLURM_PROCID": "0", "SLURM_NTASKS": "1"],
        ["TEST_SHARD_INDEX": "0", "TEST_TOTAL_SHARDS": "1"], ["TEST_TOTAL_SHARDS": "1"],
        ["BUILDKITE_PARALLEL_JOB_COUNT": "1"],
    ])
    func totalOfOneIsNotAShard(_ variables: [String: String]) throws {
        #expect(try read(variables) == nil)
    }

    @Test(arguments: [
        (["TEST_SHARD_INDEX": "2"], "TEST_TOTAL_SHARDS"), (["TEST_TOTAL_SHARDS": "8"], "TEST_SHARD_INDEX"),
        (["JOB_COMPLETION_INDEX": "0"], "TEST_TOTAL_SHARDS"), (["SLURM_ARRAY_TASK_ID": "0"], "SLURM_ARRAY_TASK_COUNT"),
        (["SLURM_ARRAY_TASK_COUNT": "4"], "SLURM_ARRAY_TASK_ID"), (["SLURM_PROCID": "0"], "SLURM_NTASKS"),
        (["SLURM_NTASKS": "4"], "SLURM_PROCID"), (["CI_NODE_INDEX": "1"], "CI_NODE_TOTAL"),
        (["CI_NODE_TOTAL": "3"], "CI_NODE_INDEX"), (["CI_NODE_INDEX": "", "CI_NODE_TOTAL": "3"], "CI_NODE_INDEX"),
        (["BUILDKITE_PARALLEL_JOB": "1"], "BUILDKITE_PARALLEL_JOB_COUNT"),
        (["AWS_BATCH_JOB_ARRAY_SIZE": "3"], "AWS_BATCH_JOB_ARRAY_INDEX"),
        (["CLOUD_RUN_TASK_INDEX": "1"], "CLOUD_RUN_TASK_COUNT"),
    ])
    func incompletePairIsRefused(_ variables: [String: String], _ missing: String) {
        let text = problem(variables)
        #expect(text?.contains(missing) == true)
        #expect(text?.contains("--no-shard") == true)
    }

    @Test(arguments: [
        ["TEST_SHARD_INDEX": "8", "TEST_TOTAL_SHARDS": "8"], ["CI_NODE_INDEX": "0", "CI_NODE_TOTAL": "8"],
        ["CI_NODE_INDEX": "9", "CI_NODE_TOTAL": "8"], ["TEST_SHARD_INDEX": "0", "TEST_TOTAL_SHARDS": "0"],
        ["TEST_SHARD_INDEX": "-1", "TEST_TOTAL_SHARDS": "8"], ["TEST_SHARD_INDEX": "x", "TEST_TOTAL_SHARDS": "8"],
        ["TEST_SHARD_INDEX": "1", "TEST_TOTAL_SHARDS": "8 "],
        ["TEST_SHARD_INDEX": "1", "TEST_TOTAL_SHARDS": "2000000"],
        ["TEST_SHARD_INDEX": "1", "TEST_TOTAL_SHARDS": "9223372036854775807"],
        ["SLURM_ARRAY_TASK_ID": "9223372036854775807", "SLURM_ARRAY_TASK_COUNT": "8", "SLURM_ARRAY_TASK_MIN": "0"],
        ["SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "8", "SLURM_ARRAY_TASK_MIN": "1"],
        [
            "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "9223372036854775807", "SLURM_ARRAY_TASK_MIN": "1",
            "SLURM_ARRAY_TASK_MAX": "5", "SLURM_ARRAY_TASK_STEP": "1099511627775",
        ],
    ])
    func invalidIndicesAreRefused(_ variables: [String: String]) {
        #expect(problem(variables) != nil)
    }

    /// If the members of crowds are to be divided, a total of one still means that the run has a share.
    @Test func totalOfOneIsAShareOnRequest() throws {
        let variables = ["SLURM_PROCID": "0", "SLURM_NTASKS": "1"]
        let found = try ShardEnvironment.read({ variables[$0] }, takesWhole: true)
        #expect(found?.share == .whole)
        #expect(try ShardEnvironment.read({ _ in nil }, takesWhole: true) == nil)
    }

    @Test func twoIndicesOfOneEngineMustBeEqual() throws {
        var variables = ["TEST_SHARD_INDEX": "0", "JOB_COMPLETION_INDEX": "1", "TEST_TOTAL_SHARDS": "2"]
        #expect(problem(variables)?.contains("TEST_SHARD_INDEX and JOB_COMPLETION_INDEX") == true)
        variables["JOB_COMPLETION_INDEX"] = "0"
        #expect(try read(variables)?.share.index == 1)
    }

    @Test func messageHasNoControlCharacters() {
        let text = problem(["TEST_SHARD_INDEX": "\u{1b}[31m", "TEST_TOTAL_SHARDS": "8"])
        #expect(text?.contains("\u{1b}") == false)
    }

    // MARK: Slurm

    private func array(_ task: Int, _ first: Int, _ last: Int, step: Int? = nil, count: Int) -> [String: String] {
        var variables = [
            "SLURM_ARRAY_TASK_ID": "\(task)", "SLURM_ARRAY_TASK_MIN": "\(first)", "SLURM_ARRAY_TASK_MAX": "\(last)",
            "SLURM_ARRAY_TASK_COUNT": "\(count)",
        ]
        if let step { variables["SLURM_ARRAY_TASK_STEP"] = "\(step)" }
        return variables
    }

    @Test func arrayMayHaveAnyStartAndStride() throws {
        #expect(try read(array(5, 3, 6, step: 1, count: 4))?.share == Share(index: 3, total: 4))
        #expect(try read(array(4, 0, 10, step: 2, count: 6))?.share == Share(index: 3, total: 6))
        #expect(try read(array(10, 0, 11, step: 2, count: 6))?.share == Share(index: 6, total: 6))
    }

    @Test func arrayWithUnevenTasksIsRefused() {
        #expect(problem(array(5, 1, 7, step: 1, count: 3))?.contains("of this task is unknown") == true)
        #expect(problem(array(5, 1, 7, count: 3))?.contains("of this task is unknown") == true)
        #expect(problem(array(3, 0, 10, step: 2, count: 6)) != nil)
        #expect(problem(["SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "3"])?.contains("_MIN") == true)
    }

    @Test func arrayCountsIfTasksHaveOneProcess() throws {
        var variables = array(2, 1, 4, step: 1, count: 4)
        variables["SLURM_JOB_ID"] = "17"
        variables["SLURM_PROCID"] = "0"
        #expect(try read(variables)?.share == Share(index: 2, total: 4))
        variables["SLURM_STEP_ID"] = "0"
        variables["SLURM_NTASKS"] = "1"
        #expect(try read(variables)?.share == Share(index: 2, total: 4))
        variables["SLURM_NTASKS"] = "3"
        #expect(problem(variables)?.contains("SLURM_PROCID and SLURM_NTASKS") == true)
    }

    /// Slurm sets the variables of a job step for the job's script, too, but the script is a single process.
    @Test func jobScriptIsNotAStep() throws {
        #expect(try read(["SLURM_JOB_ID": "17", "SLURM_PROCID": "0", "SLURM_NTASKS": "8"]) == nil)
        #expect(try read(["SLURM_JOB_ID": "17", "SLURM_PROCID": "0"]) == nil)
        let other = ["SLURM_JOB_ID": "17", "SLURM_PROCID": "1", "SLURM_NTASKS": "8"]
        #expect(try read(other)?.share == Share(index: 2, total: 8))
        let step = ["SLURM_JOB_ID": "17", "SLURM_STEP_ID": "0", "SLURM_PROCID": "2", "SLURM_NTASKS": "8"]
        #expect(try read(step)?.share == Share(index: 3, total: 8))
    }

    // MARK: Several engines

    @Test func agreeingEnginesAreAccepted() throws {
        let variables = [
            "TEST_SHARD_INDEX": "1", "TEST_TOTAL_SHARDS": "3", "CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "3",
            "CIRCLE_NODE_INDEX": "0", "CIRCLE_NODE_TOTAL": "1",
        ]
        #expect(try read(variables)?.variables == "TEST_SHARD_INDEX and TEST_TOTAL_SHARDS")
    }

    @Test func conflictingEnginesAreRefused() {
        let text = problem([
            "CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "3", "TEST_SHARD_INDEX": "0", "TEST_TOTAL_SHARDS": "3",
        ])
        #expect(text?.contains("CI_NODE_INDEX") == true)
        #expect(text?.contains("TEST_SHARD_INDEX") == true)
        #expect(text?.contains("--shard") == true)
    }

    // MARK: Attempts

    @Test(arguments: [
        ([:], 1), (["SLURM_RESTART_COUNT": "1"], 2), (["BUILDKITE_RETRY_COUNT": "0"], 1),
        (["AWS_BATCH_JOB_ATTEMPT": "3"], 3), (["GITHUB_RUN_ATTEMPT": "2"], 2), (["CLOUD_RUN_TASK_ATTEMPT": "1"], 2),
    ])
    func attemptIsCountedFromOne(_ variables: [String: String], _ attempt: Int) throws {
        #expect(try ShardEngine.attempt { variables[$0] } == attempt)
    }

    @Test func attemptMustBeANumber() {
        #expect(throws: ShardProblem.self) { try ShardEngine.attempt { $0 == "GITHUB_RUN_ATTEMPT" ? "0" : nil } }
        #expect(throws: ShardProblem.self) { try ShardEngine.attempt { $0 == "SLURM_RESTART_COUNT" ? "x" : nil } }
    }
}
