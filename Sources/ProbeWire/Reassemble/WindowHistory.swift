/// The receive windows that one side advertised, in bytes, with the scale factor applied.
package struct WindowHistory: Sendable {
    package struct Shut: Sendable, Hashable {
        package var time: UInt64
        package var packetIndex: Int
        /// The time at which the window reopened.
        package var openedAt: UInt64?
    }

    // The last advertised window; -1 if no window has been advertised. The largest possible window, 2^30 (RFC 7323,
    // section 2.3), fits into 32 bits.
    private var lastBytes: Int32 = -1
    private var smallestBytes = Int32.max
    private var largestBytes: Int32 = -1
    /// Whether a window with an unknown scale factor was advertised, because the capture does not contain the SYN.
    package private(set) var hasUnknownScale = false
    private var shutting = ColdStorage<Shutting>()

    private struct Shutting: ColdValue {
        var count = 0
        var shuts: [Shut] = []
    }

    package var shutCount: Int { shutting.value.count }
    /// The closures of the window: the changes from open to closed. Only the first closures are kept, up to the limit.
    package var shuts: [Shut] { shutting.value.shuts }

    init() {}

    package var last: Int? { lastBytes < 0 ? nil : Int(lastBytes) }
    package var smallest: Int? { lastBytes < 0 ? nil : Int(smallestBytes) }
    package var largest: Int? { lastBytes < 0 ? nil : Int(largestBytes) }

    package var isShut: Bool { lastBytes == 0 }

    var isOpen: Bool { lastBytes > 0 }

    mutating func note(_ window: Int, isScaleKnown: Bool, time: UInt64, packetIndex: Int, limit: Int) {
        if window == 0, lastBytes != 0 {
            shutting.value.count += 1
            if shuts.count < limit { shutting.value.shuts.append(Shut(time: time, packetIndex: packetIndex)) }
        }
        if window > 0, lastBytes == 0, shuts.count == shutCount {
            shutting.value.shuts[shuts.count - 1].openedAt = time
        }
        noteOpen(window, isScaleKnown: isScaleKnown)
    }

    /// Records an advertised window without counting closures. Called by `note`, and directly for an open window that
    /// follows another open window.
    @inline(__always)
    mutating func noteOpen(_ window: Int, isScaleKnown: Bool) {
        lastBytes = Int32(clamping: window)
        smallestBytes = min(smallestBytes, lastBytes)
        largestBytes = max(largestBytes, lastBytes)
        if !isScaleKnown, window > 0 { hasUnknownScale = true }
    }
}
