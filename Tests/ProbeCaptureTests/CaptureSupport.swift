import ProbeBase
import ProbeCapture
import Testing

/// The timeout of a fence. It only ends a wait that would otherwise last indefinitely. The result of a test does not
/// depend on the exact timeout.
let capturePatience = Duration.seconds(120)

/// Waits for a fence, and records an issue if it is not reached or packets were dropped.
func caughtUp(_ capture: Capture, _ location: SourceLocation = #_sourceLocation) async {
    let outcome = await capture.fence(timeout: capturePatience)
    guard case .caughtUp(let dropped) = outcome else {
        Issue.record("the fence ended with \(outcome)", sourceLocation: location)
        return
    }
    #expect(dropped == 0, sourceLocation: location)
}

extension Capture {
    /// Subscribes to the connections to a port at any address.
    func subscribe(
        port: UInt16, since: UInt64 = 0, limit: Int = defaultSubscriptionLimit
    ) throws(CaptureError) -> PortSubscription {
        let subscription = subscribe(limit: limit)
        try subscription.add(.listener(EndpointPattern(anyAddressPort: port)), since: since)
        return subscription
    }
}
