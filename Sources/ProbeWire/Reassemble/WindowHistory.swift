/// The receive windows that one side announced, in bytes, scaled.
package struct WindowHistory: Sendable {
    package struct Shut: Sendable, Hashable {
        package var time: UInt64
        package var packetIndex: Int
        /// The time at which the window opened again.
        package var openedAt: UInt64?
    }

    // The largest possible window is 2^30 (RFC 7323 2.3). -1 before the first one.
    private var lastBytes: Int32 = -1
    private var smallestBytes = Int32.max
    private var largestBytes: Int32 = -1
    /// Whether a window was announced whose scale factor is not known, because the capture does not hold the SYN.
    package private(set) var hasUnknownScale = false
    private var shutting = ColdStorage<Shutting>()

    private struct Shutting: ColdValue {
        var count = 0
        var shuts: [Shut] = []
    }

    package var shutCount: Int { shutting.value.count }
    /// The times at which the window went from open to shut; only the first ones, as the limits allow.
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

    /// Records a window without counting closures: for an open window after an open one, and as a part of `note`.
    @inline(__always)
    mutating func noteOpen(_ window: Int, isScaleKnown: Bool) {
        lastBytes = Int32(clamping: window)
        smallestBytes = min(smallestBytes, lastBytes)
        largestBytes = max(largestBytes, lastBytes)
        if !isScaleKnown, window > 0 { hasUnknownScale = true }
    }
}
