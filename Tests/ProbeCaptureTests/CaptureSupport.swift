import ProbeBase
import ProbeCapture
import Testing

/// How long a fence may take: it ends a wait that would last for ever, and decides nothing else.
let capturePatience = Duration.seconds(120)

/// Waits for a fence, which has to be reached with nothing dropped.
func caughtUp(_ capture: Capture, _ location: SourceLocation = #_sourceLocation) async {
    let outcome = await capture.fence(timeout: capturePatience)
    guard case .caughtUp(let dropped) = outcome else {
        Issue.record("the fence ended with \(outcome)", sourceLocation: location)
        return
    }
    #expect(dropped == 0, sourceLocation: location)
}

extension Capture {
    /// The connections that go to a port, of whatever address.
    func subscribe(
        port: UInt16, since: UInt64 = 0, limit: Int = defaultSubscriptionLimit
    ) throws(CaptureError) -> PortSubscription {
        let subscription = subscribe(limit: limit)
        try subscription.add(.listener(EndpointPattern(anyAddressPort: port)), since: since)
        return subscription
    }
}
