import ProbeBase
import Glibc
import ProbeSystem
import Synchronization
import Testing

@testable import ProbeTransport

/// The fake adapter in `Tests/Adapters`, which misbehaves on request.
enum FakeAdapter {
    static let python = ExecutableSearch.find("python3")
    static let script =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/Adapters/misbehaving.py"

    static func source(_ how: String, hello: Duration = .seconds(60), patience: Duration = .seconds(5)) throws
        -> AdapterSource
    {
        var limits = AdapterProcess.Limits()
        (limits.hello, limits.patience) = (hello, patience)
        // The limits are small, because exceeding larger limits takes a long time in a debug build.
        limits.line = 1 << 20
        limits.budget = AdapterProtocolState.Budget(events: 2000, bytes: 2 << 20)
        return try AdapterSource(command: "python3 '\(script)' \(how)", names: SubjectNames(), limits: limits)
    }
}

/// Collects the reports from a subject in the order in which they arrive.
private final class Reports: Sendable {
    private let reports = Mutex<[SubjectReport]>([])
    func add(_ report: SubjectReport) { reports.withLock { $0.append(report) } }
    var all: [SubjectReport] { reports.withLock { $0 } }
    func last(where isWanted: (SubjectReport) -> Bool) -> SubjectReport? {
        reports.withLock { $0.last(where: isWanted) }
    }
}

/// A case that calls a subject's driver as the engine does.
private final class Case: Sendable {
    private let reports: Reports
    private let driver: any SubjectDriver

    init(_ source: AdapterSource, isFresh: Bool = false) async throws {
        let reports = Reports()
        driver = try await withCheckedContinuation { continuation in
            source.makeDriver(
                isFresh: isFresh, in: nil, handler: { reports.add($0) }, ready: { continuation.resume(returning: $0) })
        }.get()
        self.reports = reports
    }

    func perform(_ operation: SubjectOperation, on connection: Int = 1) async -> SubjectReply {
        await withCheckedContinuation { continuation in
            driver.perform(operation, on: connection) { continuation.resume(returning: $0) }
        }
    }

    var servedBefore: String? { driver.servedBefore }

    func serve(_ id: String) { driver.serve(id) }

    var silence: SubjectFailure? { driver.silence() }

    func close(isReusable: Bool, late: (any LateReportHandler)? = nil) {
        driver.close(isReusable: isReusable, late: late)
    }

    /// The reported events, without the adapter's output to stderr.
    var events: [SubjectReport.Event] { reports.all.map(\.event).filter(Self.isEvent) }

    /// The last reported event. It is computed without ``events``, because it is read often and there may be many
    /// events.
    var lastEvent: SubjectReport.Event? { reports.last { Self.isEvent($0.event) }?.event }

    private static func isEvent(_ event: SubjectReport.Event) -> Bool {
        if case .output = event { false } else { true }
    }
}

@Suite(
    .serialized, .enabled(if: FakeAdapter.python != nil, "python3 is not installed"),
    .timeLimit(.minutes(60)))
struct AdapterProcessTests {
    private let target = TransportConfiguration(host: "127.0.0.1", port: 1)

    /// Returns the descendants of this process whose command line contains the text. Other processes are ignored,
    /// because the same tests may run twice on a machine.
    private func running(_ text: String) -> [String] {
        let mark = Array("TCPPROBE_ADAPTER=\(getpid()).".utf8)
        return (SmallFile.names(in: "/proc") ?? []).compactMap { name in
            guard Int32(name) != nil, let line = SmallFile.read("/proc/\(name)/cmdline"),
                let environment = SmallFile.read("/proc/\(name)/environ"),
                environment.split(separator: 0).contains(where: { $0.starts(with: mark) })
            else { return nil }
            let command = String(decoding: line.map { $0 == 0 ? 32 : $0 }, as: UTF8.self)
            return command.contains(text) ? command : nil
        }
    }

    @Test(arguments: [
        ("exit-at-once", "ended unexpectedly", "exited with status 7"),
        ("no-json-at-once", "not JSON", "Listening on port 80"),
        ("event-before-hello", "before its `hello`", "start"), ("wrong-proto", "protocol 2", "still running"),
        ("no-name", "`name`", "still running"), ("unknown-capability", "capability", "fly"),
        ("endless-line-at-once", "more than 1 MiB", "xxxx"),
    ])
    func missingHelloIsExplained(how: String, summary: String, detail: String) async throws {
        let source = try FakeAdapter.source(how)
        let error = await #expect(throws: SubjectFailure.self) { _ = try await Case(source) }
        #expect(error?.summary.contains(summary) == true, "\(error?.summary ?? "")")
        #expect(error?.details.contains { $0.contains(detail) } == true, "\(error?.details ?? [])")
        #expect(error?.details.contains { $0.contains("stderr: about to be \(how)") } == true)
        await source.shutDown()
        #expect(running(how).isEmpty)
    }

    @Test func silenceInsteadOfHelloTimesOut() async throws {
        let source = try FakeAdapter.source("no-hello", hello: .milliseconds(100))
        let error = await #expect(throws: SubjectFailure.self) { _ = try await Case(source) }
        #expect(error?.summary.contains("no `hello` within 100ms") == true)
        // The next case with this adapter fails at once with the same error, and the adapter is not started again.
        let again = await #expect(throws: SubjectFailure.self) { _ = try await Case(source) }
        #expect(again == error)
        await source.shutDown()
        #expect(running("misbehaving.py no-hello").isEmpty)
    }

    @Test(arguments: [
        ("garbage", "not JSON", #"\u{0}"#), ("no-json", "not JSON", "ev"), ("not-utf8", "invalid UTF-8", "ev"),
        ("array", "an array", "[1,2,3]"), ("deep", "nested too deeply", "[[[["),
        ("unknown-event", "unknown event", "explode"),
        ("no-conn", "`conn`", "line"), ("no-data", "`data`", "line"), ("not-latin1", "U+00FF", "20ac"),
        ("unknown-reason", "`reason`", "tired"), ("long-line", "more than 1 MiB", "xxxx"),
        ("exit", "ended unexpectedly", "exited with status 3"),
        ("killed", "ended unexpectedly", "was killed by SIGSEGV"),
        ("exit-mid-line", "ended unexpectedly", #"{"ev":"li"#),
        ("second-hello", "second `hello`", "hello"), ("unknown-done", "never sent", "4711"),
        ("done-twice", "`done` for op 2", "done"),
        ("unknown-conn", "connection 99", "99"), ("early-accept", "number 5", "accept"),
        ("closed-stdout", "closed its stdout", "still running"),
        ("grandchild", "ended unexpectedly", "exited with status 4"),
        ("million-events", "more than 2000 events", "sent"), ("endless-events", "more than 2 MiB", "xxxx"),
    ])
    func protocolViolationsAreReported(how: String, summary: String, detail: String) async throws {
        let source = try FakeAdapter.source(how)
        let running = try await Case(source)
        #expect(await running.perform(.connect(target)) == .done(port: nil))
        let reply = await running.perform(.send([1]))
        var failure: SubjectFailure?
        if case .broken(let broken) = reply { failure = broken }
        #expect(failure != nil || how == "done-twice")
        // Later requests receive the same answer, and the failure is also reported to the case.
        guard case .broken(let later) = await running.perform(.plain(.halfClose)) else {
            Issue.record("an op was accepted")
            return
        }
        #expect(failure == nil || failure == later)
        #expect(later.summary.contains(summary), "\(later.summary)")
        #expect(later.details.contains { $0.contains(detail) }, "\(later.details)")
        // The answer to an op may arrive shortly before the event that reports the failure.
        for _ in 0..<60_000 where running.lastEvent != .broken(later) { usleep(1000) }
        #expect(running.lastEvent == .broken(later))
        running.close(isReusable: false)
        await source.shutDown()
        #expect(self.running("misbehaving.py \(how)").isEmpty)
    }

    @Test(arguments: ["silence", "no-reading", "closed-stdin"])
    func silenceIsExplained(how: String) async throws {
        let source = try FakeAdapter.source(how)
        let running = try await Case(source)
        if how != "no-reading" { #expect(await running.perform(.connect(target)) == .done(port: nil)) }
        // The adapter never answers. The reason for its silence is available while the op is pending, and the end of
        // the case answers the op.
        async let reply = running.perform(.send([UInt8](repeating: 0, count: 1 << 20)))
        while running.silence == nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(running.silence?.summary.contains("did not answer the op `send`") == true)
        #expect(running.silence?.details.contains { $0.contains("about to be \(how)") } == true)
        running.close(isReusable: false)
        if case .broken = await reply {} else { Issue.record("an op was accepted") }
        await source.shutDown()
        #expect(self.running("misbehaving.py \(how)").isEmpty)
    }

    @Test func eventsAfterStopAreReported() async throws {
        for how in ["event-after-stop", "second-stop"] {
            let source = try FakeAdapter.source(how)
            let running = try await Case(source)
            _ = await running.perform(.connect(target))
            #expect(await running.perform(.send([1])) == .done(port: nil))
            let last: SubjectReport.Event =
                how == "second-stop" ? .stopped(.eof, detail: nil) : .line(Array("too late".utf8))
            #expect(running.events == [.started, .stopped(.eof, detail: nil), last])
            running.close(isReusable: true)
            await source.shutDown()
        }
    }

    @Test func threeEarlyExitsGiveUp() async throws {
        let source = try FakeAdapter.source("exit-after-hello")
        var failures: [SubjectFailure] = []
        for _ in 0..<3 {
            #expect(source.givenUp == nil)
            let running = try await Case(source)
            guard case .broken(let failure) = await running.perform(.connect(target)) else {
                Issue.record("an op was accepted")
                return
            }
            failures.append(failure)
            running.close(isReusable: false)
        }
        let last = try #require(source.givenUp)
        #expect(last.summary.contains("ended unexpectedly, for the third time in a row before answering an op"))
        #expect(last.details == failures.last?.details)
        #expect(last.details.contains { $0.contains("exited with status 9") })
        let error = await #expect(throws: SubjectFailure.self) { _ = try await Case(source) }
        #expect(error == last)
        await source.shutDown()
        #expect(running("misbehaving.py exit-after-hello").isEmpty)
    }

    /// If a process ends after it has answered an op, its exit is not counted as a failed start, and the count of
    /// failed starts is reset.
    @Test func laterExitsDoNotCount() async throws {
        let source = try FakeAdapter.source("exit")
        for _ in 0..<4 {
            let running = try await Case(source)
            #expect(await running.perform(.connect(target)) == .done(port: nil))
            _ = await running.perform(.send([1]))
            running.close(isReusable: false)
        }
        #expect(source.givenUp == nil)
        await source.shutDown()
    }

    @Test func startIsTriedThreeTimes() async throws {
        let source = try FakeAdapter.source("exit-at-once")
        await withCheckedContinuation { continuation in source.introduce { continuation.resume() } }
        #expect(source.givenUp?.summary.contains("for the third time") == true)
        await source.shutDown()
    }

    @Test func freshProcessHasServedNothing() async throws {
        let source = try FakeAdapter.source("serves")
        let first = try await Case(source)
        #expect(first.servedBefore == nil)
        first.serve("a")
        first.close(isReusable: true)
        let second = try await Case(source)
        #expect(second.servedBefore == "a")
        second.serve("b")
        second.close(isReusable: true)
        let fresh = try await Case(source, isFresh: true)
        #expect(fresh.servedBefore == nil)
        fresh.close(isReusable: true)
        await source.shutDown()
    }

    @Test func oneProcessServesCaseAfterCase() async throws {
        let source = try FakeAdapter.source("well-behaved")
        #expect(source.name.hasPrefix("python3"))
        await withCheckedContinuation { continuation in source.introduce { continuation.resume() } }
        #expect(source.name == "misbehaving")
        for round in 0..<3 {
            let running = try await Case(source)
            #expect(await running.perform(.connect(target)) == .done(port: nil))
            #expect(await running.perform(.send([1])) == .done(port: nil))
            #expect(
                running.events == [.started, .line(Array("reply".utf8))],
                "each round has its own connection numbers, round \(round)")
            running.close(isReusable: true)
            #expect(self.running("misbehaving.py well-behaved").count == 1)
        }
        let last = try await Case(source)
        last.close(isReusable: false)
        let fresh = try await Case(source)
        fresh.close(isReusable: true)
        await source.shutDown()
        #expect(running("misbehaving.py well-behaved").isEmpty)
    }

    @Test func concurrentCasesHaveSeparateProcesses() async throws {
        let source = try FakeAdapter.source("never-wrong")
        let one = try await Case(source)
        let two = try await Case(source)
        #expect(running("misbehaving.py never-wrong").count == 2)
        one.close(isReusable: true)
        two.close(isReusable: true)
        await source.shutDown()
        #expect(running("misbehaving.py never-wrong").isEmpty)
    }

    @Test func processThatIgnoresTheEndIsKilled() async throws {
        let source = try FakeAdapter.source("ignores-quit", patience: .milliseconds(300))
        let running = try await Case(source)
        _ = await running.perform(.connect(target))
        _ = await running.perform(.send([1]))
        running.close(isReusable: true)
        await source.shutDown()
        #expect(self.running("misbehaving.py ignores-quit").isEmpty)
    }

    @Test(arguments: [
        ("", "empty"), ("a 'b", "an unclosed '"), ("no-such-command x", "was not found"), ("a\0", "NUL"),
        ("/no/such/command", "was not found"), ("/dev/null", "is not an executable file"),
    ])
    func invalidCommandsAreExplained(command: String, text: String) {
        let error = #expect(throws: SubjectFailure.self) { try AdapterSource(command: command, names: SubjectNames()) }
        #expect(error?.summary.contains(text) == true)
    }

    @Test func messageOver2MiBIsNotSent() async throws {
        let source = try FakeAdapter.source("well-behaved")
        let running = try await Case(source)
        _ = await running.perform(.connect(target))
        guard case .broken(let failure) = await running.perform(.send([UInt8](repeating: 0, count: 2 << 20 + 1))) else {
            Issue.record("the message was accepted")
            return
        }
        #expect(failure.summary.contains("2 MiB"))
        running.close(isReusable: true)
        await source.shutDown()
    }
}
