/// Which of a name's addresses is tried when: RFC 8305, section 5, without its own resolver.
///
/// The addresses are tried in the resolver's order. The next one starts when an attempt has failed, or when the last one that
/// started has been silent for ``delay``; earlier attempts go on meanwhile, so that a slow first address is not given up. The
/// first that succeeds wins. Pure: times are monotonic nanoseconds that the caller gives.
struct ConnectRace: Sendable {
    /// How an attempt, and at last the race, failed.
    struct Failure: Sendable, Equatable {
        var reason: StopReason
        var detail: String
    }

    /// RFC 8305's recommended "Connection Attempt Delay".
    static let delay: Int64 = 250_000_000

    private let count: Int
    private var started = 0
    private var failed = 0
    private var nextStart: Int64 = .min
    private var failure: Failure?

    init(addressCount: Int) {
        count = addressCount
    }

    /// When the next address is due; nil when all have been started.
    var deadline: Int64? { started < count ? nextStart : nil }

    /// Once every attempt has failed, the failure to report: a refusal, which proves a live host, before anything else; else the first.
    var outcome: Failure? {
        guard started == count, failed == count else { return nil }
        return failure ?? Failure(reason: .other, detail: "no address to connect to")
    }

    /// The index of the address to try now, if one is due. Call until nil.
    mutating func next(now: Int64) -> Int? {
        guard started < count, now >= nextStart else { return nil }
        defer { started += 1 }
        nextStart = now &+ Self.delay
        return started
    }

    /// An attempt has failed: the next address is due at once.
    mutating func attemptFailed(_ failure: Failure, now: Int64) {
        failed += 1
        nextStart = now
        if self.failure == nil || (failure.reason == .refused && self.failure?.reason != .refused) {
            self.failure = failure
        }
    }
}
