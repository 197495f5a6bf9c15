import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import Synchronization

/// The resources that a case needs exclusively because its script names them: paths of Unix sockets, and ports on which
/// the harness listens.
///
/// Two cases that used such a resource at the same time would interfere with each other: a server could not listen, a
/// client could reach the other case's program, or one case could remove the other's socket file.
struct CaseResources {
    enum Resource: Hashable {
        case socket(SocketFile)
        case port(UInt16)

        fileprivate var isListenedOn: Bool {
            switch self {
            case .socket(let file): file.isListenedOn
            case .port(let port): PortAllocator.isListenedOn(port)
            }
        }
    }

    private(set) var sockets: [SocketFile] = []
    private var ports: [UInt16] = []
    /// The resources on which a subject of the case listens. The subject's transport may still be closing them when the
    /// case has ended.
    private(set) var subjectResources: Set<Resource> = []

    var all: Set<Resource> { Set(sockets.map(Resource.socket) + ports.map(Resource.port)) }

    /// Finds the resources of a case. Values that are known only when the case runs are ignored, because a declaration
    /// in the header can't use them as an address.
    init(of job: RunJob) {
        let scenario = job.plan.scenario
        var evaluator: Evaluator?
        let startsPrograms = scenario.actors.contains { if case .process = $0.kind { true } else { false } }
        for actor in scenario.actors {
            guard let (address, isListener) = Self.address(of: actor) else { continue }
            // A path to which the case only connects needs no lock, unless a program started by the case may be
            // listening on it.
            guard isListener || (startsPrograms && address.unix != nil) else { continue }
            let known = evaluator ?? Self.evaluator(of: job)
            evaluator = known
            // A value that can't be computed is reported as an error when the step or the declaration that contains it
            // is executed.
            switch address.unix {
            case .inCaseFolder: continue
            case .path(let path):
                // This function ignores paths that are invalid or known only when the case runs. An invalid path fails
                // the case when it is used.
                guard let bytes = try? known.bytes(of: path), !bytes.isEmpty, !bytes.contains(0) else { continue }
                let text = String(decoding: bytes, as: UTF8.self)
                let file = SocketFile(text.hasPrefix("/") ? text : "\(job.folder)/\(text)")
                sockets.append(file)
                if case .subject = actor.kind, isListener { subjectResources.insert(.socket(file)) }
            case nil:
                // This function ignores ports that are invalid or known only when the case runs.
                guard address.link == nil, let port = address.port, let number = try? known.integer(of: port),
                    let valid = UInt16(exactly: number), valid != 0
                else { continue }
                ports.append(valid)
                if case .subject = actor.kind { subjectResources.insert(.port(valid)) }
            }
        }
    }

    /// Waits for at most a second until nothing listens on the resources on which the subjects of an ended case
    /// listened, because the next case may need them.
    static func wait(until isFree: Set<Resource>, on reactor: Reactor) async {
        let deadline = MonotonicTime.now + .seconds(1)
        while isFree.contains(where: \.isListenedOn), MonotonicTime.now < deadline {
            await withCheckedContinuation { continuation in
                _ = reactor.schedule(at: .now + .milliseconds(2)) { continuation.resume() }
            }
        }
    }

    /// Returns the address in an actor's declaration, and whether the harness or a subject listens on it.
    private static func address(of actor: ActorDeclaration) -> (AddressExpression, isListener: Bool)? {
        switch actor.kind {
        case .server(let address?, _, _): (address, true)
        case .subject(nil, let options): options.local.map { ($0, true) }
        case .client(.address(let address)?, _), .proxy(.address(let address)), .subject(.address(let address)?, _):
            (address, false)
        case .server, .client, .subject, .process, .proxy, .crowd: nil
        }
    }

    private static func evaluator(of job: RunJob) -> Evaluator {
        let scenario = job.plan.scenario
        func evaluator(_ values: [String: Value]) -> Evaluator {
            Evaluator(
                scope: BoundScope(variables: values, loader: FileAccess.load), sources: job.plan.sources,
                framing: scenario.framing)
        }
        var values = job.casePlan.bindings
        values["dir"] = .bytes(Array(job.folder.utf8))
        for constant in scenario.constants where values[constant.name.value] == nil {
            // A constant that depends on one of the case's ports can't be computed before the case runs.
            if let value = try? evaluator(values).evaluate(constant.value) { values[constant.name.value] = value }
        }
        return evaluator(values)
    }
}

/// Serializes cases that need the same resource, in the order of their requests. Cases with different resources run in
/// parallel.
///
/// There is a single instance of this class, because all runs that the library starts in this process share the
/// machine.
final class CaseResourceLocks: Sendable {
    static let shared = CaseResourceLocks()

    private struct Waiter {
        var wanted: Set<CaseResources.Resource>
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var taken: Set<CaseResources.Resource> = []
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    /// Waits until no other case holds any of the given resources, then takes them.
    func take(_ wanted: Set<CaseResources.Resource>) async -> Set<CaseResources.Resource> {
        if wanted.isEmpty { return wanted }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                let isFree =
                    state.taken.isDisjoint(with: wanted)
                    && state.waiters.allSatisfy { $0.wanted.isDisjoint(with: wanted) }
                if isFree {
                    state.taken.formUnion(wanted)
                } else {
                    state.waiters.append(Waiter(wanted: wanted, continuation: continuation))
                }
                return isFree
            }
            if isFree { continuation.resume() }
        }
        return wanted
    }

    func returnResources(_ held: Set<CaseResources.Resource>) {
        if held.isEmpty { return }
        let next = state.withLock { state in
            state.taken.subtract(held)
            var (granted, waiting): ([Waiter], [Waiter]) = ([], [])
            // Cases that have waited longer take precedence, even if they need more resources.
            var blocked = state.taken
            for waiter in state.waiters {
                if blocked.isDisjoint(with: waiter.wanted) {
                    state.taken.formUnion(waiter.wanted)
                    granted.append(waiter)
                } else {
                    waiting.append(waiter)
                }
                blocked.formUnion(waiter.wanted)
            }
            state.waiters = waiting
            return granted
        }
        for waiter in next { waiter.continuation.resume() }
    }
}

/// The Unix sockets of a running case whose paths are given by its script. They are reserved, so that other runs on
/// this machine don't use them, and removed when the case has ended.
struct SharedPaths {
    private var reservations: [SocketFile.Reservation] = []
    private var paths: [String] = []

    mutating func reserve(for job: RunJob) throws(Finding) {
        for file in Set(CaseResources(of: job).sockets) {
            do throws(SystemError) {
                switch try file.reserve() {
                case .reserved(let reservation): reservations.append(reservation)
                case .unknown: break
                case .held(let process):
                    throw SystemError(
                        "bind", code: EADDRINUSE,
                        "another run of tcpprobe is using it (\(process.map { "process \($0)" } ?? "its process is unknown"))"
                    )
                }
                paths.append(file.path)
                // A file left behind by a killed program would prevent another program from binding the path.
                try SocketFile.removeAbandoned(file.path)
            } catch {
                throw Finding(
                    .error, "the Unix socket \(Escaped.text(file.path)) can't be used: \(error.reason)",
                    hints: error.code == EADDRINUSE
                        ? [
                            "wait until the other run has ended, or use `on unix` without a path, which gives each run "
                                + "its own path"
                        ]
                        : error.advice)
            }
        }
    }

    mutating func release() {
        for path in paths { SocketFile.release(path) }
        (paths, reservations) = ([], [])
    }
}
