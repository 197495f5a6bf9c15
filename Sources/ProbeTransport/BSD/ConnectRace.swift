/// The schedule of attempts to connect to the addresses of a name, as in RFC 8305, section 5, but without its resolver.
///
/// The addresses are tried in the resolver's order. The next attempt starts when an attempt has failed, or when the
/// latest attempt has had no result for ``delay``. Earlier attempts continue, so that a slow first address can still
/// succeed. The first success wins. The schedule has no clock: the caller passes times as monotonic nanoseconds.
struct ConnectRace: Sendable {
    /// The failure of one connection attempt, or of all connection attempts.
    struct Failure: Sendable, Equatable {
        var reason: StopReason
        var detail: String
    }

    /// The "Connection Attempt Delay" that RFC 8305 recommends, in nanoseconds.
    static let delay: Int64 = 250_000_000

    private let count: Int
    private var started = 0
    private var failed = 0
    private var nextStart: Int64 = .min
    private var failure: Failure?

    init(addressCount: Int) {
        count = addressCount
    }

    /// The time at which the next attempt is due; `nil` if all attempts have started.
    var deadline: Int64? { started < count ? nextStart : nil }

    /// The failure to report once every attempt has failed; `nil` until then. A refusal is preferred, because it proves
    /// that the host is alive; otherwise, the first failure is reported.
    var outcome: Failure? {
        guard started == count, failed == count else { return nil }
        return failure ?? Failure(reason: .other, detail: "no address to connect to")
    }

    /// Returns the index of the address to try now, if one is due. Must be called until it returns `nil`.
    mutating func next(now: Int64) -> Int? {
        guard started < count, now >= nextStart else { return nil }
        defer { started += 1 }
        nextStart = now &+ Self.delay
        return started
    }

    /// Records that an attempt has failed. The next attempt is then due at once.
    mutating func attemptFailed(_ failure: Failure, now: Int64) {
        failed += 1
        nextStart = now
        if self.failure == nil || (failure.reason == .refused && self.failure?.reason != .refused) {
            self.failure = failure
        }
    }
}
