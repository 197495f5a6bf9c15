/// The receive windows that one side announced, in bytes, scaled.
package struct WindowHistory: Sendable, Hashable {
    package struct Shut: Sendable, Hashable {
        package var time: UInt64
        package var packetIndex: Int
        /// When it opened again.
        package var openedAt: UInt64?
    }

    package private(set) var last: Int?
    package private(set) var smallest: Int?
    package private(set) var largest: Int?
    /// Each time that the window went from open to shut, the first ones as far as the limits go.
    package private(set) var shuts: [Shut] = []
    package private(set) var shutCount = 0
    /// A window was announced whose scale factor is not known, because the capture does not hold the SYN.
    package private(set) var hasUnknownScale = false

    init() {}

    package var isShut: Bool { last == 0 }

    mutating func note(_ window: Int, isScaleKnown: Bool, time: UInt64, packetIndex: Int, limit: Int) {
        if window == 0, last != 0 {
            shutCount += 1
            if shuts.count < limit { shuts.append(Shut(time: time, packetIndex: packetIndex)) }
        }
        if window > 0, last == 0, shuts.count == shutCount { shuts[shuts.count - 1].openedAt = time }
        noteOpen(window, isScaleKnown: isScaleKnown)
    }

    /// An open window behind an open one, or what `note` has yet to count.
    @inline(__always)
    mutating func noteOpen(_ window: Int, isScaleKnown: Bool) {
        last = window
        smallest = min(smallest ?? window, window)
        largest = max(largest ?? window, window)
        if !isScaleKnown, window > 0 { hasUnknownScale = true }
    }
}
