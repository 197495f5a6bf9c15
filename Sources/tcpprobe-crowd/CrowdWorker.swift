import CShims
import Glibc
import Histogram
import ProbeBase
import ProbeCrowd
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// One worker process of a crowd. It reads its order from stdin, runs its members, and reports their state on stdout.
///
/// Both streams consist of JSON lines. The worker reads from stdin:
/// - the order, which is the first line
/// - `{"do":"begin","at":N}`, with N in nanoseconds of CLOCK_MONOTONIC
/// - `{"do":"snapshot","latencies":true,"rests":true}`
/// - `{"do":"stopListening"}`, which leaves existing connections open
/// - `{"do":"stop"}`
///
/// When stdin ends, all members' connections are reset, and the process exits. The worker writes
/// `{"ready":true,"port":N}` or `{"error":"…"}` to stdout, then one object for each snapshot, and `{"stopped":true}`.
struct CrowdWorker {
    private typealias Core = CrowdCore<MemberSockets, HistogramRecorder>

    /// The epoll data of event sources other than members.
    private enum Source {
        static let input = UInt64.max
        static let timer = UInt64.max - 1
        static let listener = UInt64.max - 2
    }

    private let epoll: Int32
    private let timer: Int32
    private let order: CrowdOrder
    private let sockets: MemberSockets
    private let core: Core
    private var listener: Int32 = -1
    /// The total number of members of a crowd of servers, in memory that all workers share; `nil` if there is only one
    /// worker.
    private let taken: UnsafeMutableRawPointer?
    private var armed: Int64?
    private var watch = StandstillWatch(ignoresWork: true)
    /// The time up to which stalls have been reported.
    private var reportedUntil = MonotonicTime.now

    init(_ order: CrowdOrder) throws(WorkerProblem) {
        self.order = order
        let limit = Int(probe_raise_descriptor_limit())
        probe_timer_slack()
        epoll = probe_epoll_create()
        timer = probe_timerfd()
        guard epoll >= 0, timer >= 0 else { throw WorkerProblem("epoll: \(SystemError("epoll").reason)") }
        if let path = order.countFile {
            taken = probe_shared_count(path)
            if taken == nil { throw WorkerProblem("\(path): \(SystemError("mmap").reason)") }
        } else {
            taken = nil
        }
        sockets = try MemberSockets(order, epoll: epoll, limit: limit)
        var schedule: ((Int) -> Int64)?
        if let rate = order.rate, rate > 0 {
            schedule = { member in Int64(Double(order.first + member * order.step) / rate * 1e9) }
        }
        let isClient = if case .clients = order.role { true } else { false }
        core = Core(
            order.program, members: isClient ? order.members : 0, connections: sockets, schedule: schedule,
            matchers: try Self.matchers(order.program))
        for (descriptor, source) in [(STDIN_FILENO, Source.input), (timer, Source.timer)]
        where probe_epoll_set(epoll, PROBE_EPOLL_ADD, descriptor, PROBE_EPOLLIN, source) < 0 {
            throw WorkerProblem("epoll_ctl: \(SystemError("epoll_ctl").reason)")
        }
    }

    private static func matchers(_ program: MemberProgram) throws(WorkerProblem) -> [Int: ([UInt8]) -> Bool] {
        var matchers: [Int: ([UInt8]) -> Bool] = [:]
        for (place, instruction) in program.instructions.enumerated() {
            guard case .expect(.line(.regex(let pattern, let flags)), _) = instruction else { continue }
            do throws(RegexSyntaxError) {
                let regex = try ByteRegex(pattern, ignoresCase: flags.contains("i"))
                matchers[place] = { regex.containsMatch(in: $0) }
            } catch {
                throw WorkerProblem("invalid regex /\(Escaped.text(pattern))/")
            }
        }
        return matchers
    }

    /// Runs the worker until stdin ends.
    mutating func run(_ input: WorkerInput) throws(WorkerProblem) {
        var input = input
        let port = try listen()
        WorkerOutput.write(.object([("ready", .boolean(true)), ("port", .integer(port))]))
        var data = [UInt64](repeating: 0, count: 1024)
        var events = [UInt32](repeating: 0, count: 1024)
        guard handle(&input) else { return }
        while true {
            let now = probe_monotonic_ns()
            core.advance(to: now)
            let next = core.nextMoment
            if let next, next > now { arm(next) }
            watch.worked()
            // The wait has a timeout, so that the worker wakes up regularly. The last wakeup before a stall then shows
            // when the stall began.
            let patience = next.map { $0 <= now } == true ? 0 : Int32(Standstills.heartbeat.nanoseconds / 1_000_000)
            let count = probe_epoll_wait(epoll, &data, &events, 1024, patience)
            let moment = probe_monotonic_ns()
            watch.slept(
                until: MonotonicTime(nanoseconds: moment),
                due: next.map { MonotonicTime(nanoseconds: $0) } ?? .distantFuture)
            for index in 0..<max(0, Int(count)) {
                switch data[index] {
                case Source.input:
                    input.read()
                    guard handle(&input) else { return sockets.resetAll() }
                case Source.timer: disarm()
                case Source.listener: accept(at: moment)
                default: member(of: data[index], events[index], at: moment)
                }
            }
        }
    }

    private func member(of data: UInt64, _ events: UInt32, at now: Int64) {
        if MemberSockets.isClosing(data) { return sockets.continueClosing(data) }
        guard let member = sockets.member(of: data) else { return }
        if events & (PROBE_EPOLLIN | PROBE_EPOLLERR | PROBE_EPOLLHUP | PROBE_EPOLLRDHUP) != 0 {
            core.readable(member, at: now)
        }
        if events & PROBE_EPOLLOUT != 0, sockets.member(of: data) != nil {
            sockets.flush(member)
            core.writable(member, at: now)
        }
        if events & (PROBE_EPOLLERR | PROBE_EPOLLHUP | PROBE_EPOLLRDHUP) != 0, sockets.member(of: data) != nil {
            core.ended(member, at: now)
        }
    }

    // MARK: The timer

    private mutating func arm(_ moment: Int64) {
        if armed == moment { return }
        armed = moment
        _ = probe_timerfd_set(timer, moment)
    }

    private mutating func disarm() {
        var expirations: UInt64 = 0
        _ = read(timer, &expirations, 8)
        armed = nil
    }

    // MARK: Incoming connections

    /// Starts listening if the worker's role requires it. Returns the port, or 0 if the worker does not listen.
    private mutating func listen() throws(WorkerProblem) -> Int {
        let place: SocketEndpoint
        switch order.role {
        case .clients: return 0
        case .servers(let endpoint): place = endpoint
        case .sink(let endpoint, _, _): place = endpoint
        }
        let result = SocketAddress(place.address, port: place.port).withSystemAddress { address, length in
            probe_crowd_listen(address, length, Int32(clamping: order.receiveBuffer ?? 0), epoll, Source.listener)
        }
        guard result >= 0 else { throw WorkerProblem("\(place): \(SystemError("listen", code: -result).reason)") }
        listener = result
        return Int(SocketAddress.local(of: result)?.port ?? 0)
    }

    private mutating func accept(at now: Int64) {
        let isSink = if case .sink = order.role { true } else { false }
        for _ in 0..<256 where listener >= 0 {
            let accepted = probe_accept(listener)
            if accepted < 0 {
                // The peer may have closed the connection already.
                if errno == ECONNABORTED || errno == EINTR { continue }
                if errno != EAGAIN { cannotAccept(errno) }
                return
            }
            if !isSink, !hasRoom() {
                probe_crowd_reset(accepted)
                core.refuse()
                continue
            }
            let member = isSink ? sockets.free.last ?? core.memberCount : core.memberCount
            let problem = sockets.adopt(accepted, as: member)
            if problem != 0 { return cannotAccept(problem) }
            if member < core.memberCount { core.accept(member, at: now) } else { _ = core.accept(at: now) }
        }
    }

    /// Returns whether another connection can become a member. The limit applies to the whole crowd, not to one worker.
    private func hasRoom() -> Bool {
        guard let taken else { return core.memberCount < order.count }
        return probe_take_one(taken, UInt64(order.count)) != 0
    }

    /// Stops listening and reports an error. Without a free descriptor, epoll would report the same connection
    /// indefinitely.
    private mutating func cannotAccept(_ code: Int32) {
        stopListening()
        WorkerOutput.write(
            .object([("error", .string("can't accept a connection: \(SystemError("accept", code: code).reason)"))]))
    }

    private mutating func stopListening() {
        if listener >= 0 { _ = close(listener) }
        listener = -1
    }

    /// Returns the stalls that have not been reported yet, and marks them as reported.
    private mutating func standstills() -> Standstills {
        var new = Standstills()
        for (from, to) in watch.standstills.all(from: reportedUntil) { new.add(from: from, to: to) }
        reportedUntil = max(reportedUntil, watch.lastRun)
        return new
    }

    // MARK: Orders

    /// Carries out the orders that have been read. Returns `false` if stdin has ended.
    private mutating func handle(_ input: inout WorkerInput) -> Bool {
        while let line = input.next() {
            switch line["do"]?.text {
            case "begin":
                let moment = Int64(line["at"]?.integer ?? 0)
                core.begin(at: moment)
                // A stall before the members began did not delay any member.
                reportedUntil = max(reportedUntil, MonotonicTime(nanoseconds: moment))
            case "snapshot":
                let asksForLatencies = if case .boolean(true)? = line["latencies"] { true } else { false }
                let asksForRests = if case .boolean(true)? = line["rests"] { true } else { false }
                var snapshot = core.snapshot(
                    at: probe_monotonic_ns(), latencies: asksForLatencies, rests: asksForRests)
                snapshot.elsewhere = sockets.elsewhere
                snapshot.standstills = standstills()
                WorkerOutput.write(snapshot.json)
            case "stopListening": stopListening()
            case "stop":
                stopListening()
                sockets.isStopping = true
                core.stop(at: probe_monotonic_ns())
                WorkerOutput.write(.object([("stopped", .boolean(true))]))
            default: WorkerOutput.write(.object([("error", .string("unknown order"))]))
            }
        }
        return !input.hasEnded
    }
}

/// An HDR histogram of the durations of members' waits, from one nanosecond to one hour, with three significant digits.
struct HistogramRecorder: LatencyRecorder {
    private static let longest: UInt64 = 3_600_000_000_000
    private var histogram = Histogram<UInt32>(
        lowestDiscernibleValue: 1, highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .three)

    mutating func record(nanoseconds: Int64) {
        histogram.record(min(UInt64(max(nanoseconds, 0)), Self.longest))
    }

    var counts: [(nanoseconds: Int64, count: Int)] {
        histogram.recordedValues().map { value in (Int64(value.value), Int(value.count)) }
    }
}

/// The reason why a worker can't carry out its order.
struct WorkerProblem: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
