/// How a fence ended.
package enum FenceOutcome: Sendable, Equatable {
    /// All packets sent before the fence are with their subscriptions. `dropped` is the total since the capture was opened: a figure
    /// above the one of an earlier fence means that packets between the two are missing.
    case caughtUp(dropped: Int)
    case timedOut
    case failed(CaptureError)
}
