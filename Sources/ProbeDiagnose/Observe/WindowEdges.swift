/// The right edges of the windows that the peer of one side recently advertised, with the times at which they were
/// captured. An edge takes effect for the sender when the packet that advertises it has traveled from the capture point
/// to the sender.
struct WindowEdges: Sendable {
    struct Edge: Sendable {
        var time: Int64
        /// The position up to which the sender may send, relative to its SYN.
        var edge: Int64
        var isZero: Bool
    }

    private var edges: [Edge] = []
    /// The rightmost edge that was ever advertised.
    private(set) var furthest = Int64.min
    private static let capacity = 16

    /// The newest edge.
    var last: Edge? { edges.last }

    /// Forgets all edges but the newest one.
    mutating func forget() { edges = edges.suffix(1).map(\.self) }

    /// Adds an edge. An edge is needed for the time `delay`. If edges arrive in quick succession compared with this
    /// time, only some of them are kept.
    mutating func add(_ edge: Edge, delay: Int64) {
        furthest = max(furthest, edge.edge)
        if edges.count >= 2, delay >= 0, edge.time - edges[edges.count - 2].time < delay / 12,
            edges[edges.count - 1].isZero == edge.isZero
        {
            edges[edges.count - 1] = edge
            return
        }
        if edges.count == Self.capacity || (delay == 0 && edges.count > 2) { edges.removeFirst() }
        edges.append(edge)
    }

    /// Returns the edge that is in force at a given time for a sender that packets reach after `delay`; `nil` if it is
    /// unknown.
    func inForce(at time: Int64, delay: Int64) -> Edge? {
        var index = edges.count - 1
        while index >= 0 {
            if edges[index].time <= time - delay { return edges[index] }
            index -= 1
        }
        return nil
    }
}
