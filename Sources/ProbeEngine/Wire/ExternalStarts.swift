import ProbeBase
import ProbeWire
import Synchronization

/// The starts of subjects that connect to servers outside the run, for all cases of this process.
///
/// Several cases may use the same server at the same time, and each case captures all connections to it. The owner of a
/// connection is determined by the time of its SYN. To keep the owner unambiguous, only one case at a time starts a
/// subject that connects to such a server.
final class ExternalStarts: Sendable {
    static let shared = ExternalStarts()

    struct Start: Sendable {
        let name: String
        let target: EndpointPattern
        let began: UInt64
        var settled: UInt64?
        var ended: UInt64?
        fileprivate let caseNumber: Int
    }

    private struct State {
        var next = 0
        var starts: [Int: Start] = [:]
    }

    /// The maximum number of starts to keep. When this maximum is reached, the oldest starts that have ended are
    /// discarded, because the connections of running cases belong to the latest starts.
    private static let limit = 4096

    private let state = Mutex(State())

    /// Returns a new number for a case, which distinguishes its starts from those of other cases.
    func newCase() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    /// Registers a start, unless another case is starting a subject that connects to the same port.
    ///
    /// - Parameter isForced: whether to register the start even if another case is starting such a subject.
    /// - Returns: the number of the start; `nil` if the start must wait.
    func begin(_ name: String, at target: EndpointPattern, now: UInt64, caseNumber: Int, isForced: Bool) -> Int? {
        state.withLock { state in
            let isBusy = state.starts.values.contains {
                $0.target.port == target.port && $0.settled == nil && $0.caseNumber != caseNumber
            }
            if isBusy && !isForced { return nil }
            if state.starts.count >= Self.limit {
                let ended = state.starts.filter { $0.value.ended != nil }.keys.sorted()
                for number in ended.prefix(Self.limit / 2) { state.starts[number] = nil }
            }
            state.next += 1
            state.starts[state.next] = Start(name: name, target: target, began: now, caseNumber: caseNumber)
            return state.next
        }
    }

    /// Records that the subject has reported `started` or `stopped`.
    func settle(_ number: Int, at time: UInt64, hasEnded: Bool) {
        state.withLock { state in
            if state.starts[number]?.settled == nil { state.starts[number]?.settled = time }
            if hasEnded { state.starts[number]?.ended = time }
        }
    }

    /// Returns the starts of other cases whose subjects connect to the given port.
    func startsOfOthers(than caseNumber: Int, port: UInt16) -> [Start] {
        state.withLock { state in
            state.starts.values.filter { $0.target.port == port && $0.caseNumber != caseNumber }
        }
    }
}
