import Dispatch
import Glibc
import ProbeCapture
import ProbeSystem
import Synchronization

/// The capture that all cases of this process share. The first case opens it.
enum SharedCapture {
    /// The allocator of the ports for the harness's servers. The range of ports must be known when the capture is
    /// opened, because the capture's filter contains the range.
    static let ports = PortAllocator(seed: getpid())

    private static let opening = Task<(Capture?, String?), Never> {
        // Opening a capture waits for a thread and a first packet. The wait must not block a thread of the concurrency
        // pool.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { open { continuation.resume(returning: ($0, $1)) } }
        }
    }

    /// Returns the capture, or the reason why no capture is available.
    static func get() async -> (Capture?, String?) { await opening.value }

    private static func open(_ done: @escaping @Sendable (Capture?, String?) -> Void) {
        Capture.openCaughtUp(ports: CapturePorts(range: ports.range), bufferSize: Capture.largeBufferSize) { result in
            switch result {
            case .success(let capture): done(capture, nil)
            case .failure(.failed(let error)):
                done(nil, "no capture: \(error.message(executable: "this program"))")
            case .failure(.deliversNothing): done(nil, "no capture: no packets are delivered")
            }
        }
    }
}

/// The reactors for concurrent cases: at most four per processor, because a case mostly waits. A reactor lives as long
/// as the process.
final class ReactorPool: Sendable {
    static let shared = ReactorPool(limit: 4 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    private struct State {
        var free: [Reactor] = []
        var made = 0
        var waiting: [CheckedContinuation<Reactor?, Never>] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Returns a free reactor, waiting for one if all are in use. Returns `nil` if no reactor could be created and none
    /// is in use.
    func take() async -> Reactor? {
        await withCheckedContinuation { continuation in
            let answer: Reactor?? = state.withLock { state in
                if let reactor = state.free.popLast() { return .some(reactor) }
                if state.made < limit, let reactor = Reactor.onThread() {
                    state.made += 1
                    return .some(reactor)
                }
                if state.made == 0 { return .some(nil) }
                state.waiting.append(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    func give(back reactor: Reactor) {
        let next = state.withLock { state -> CheckedContinuation<Reactor?, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.free.append(reactor)
            return nil
        }
        next?.resume(returning: reactor)
    }
}
