/// A different way to transmit the streams of a scenario: a list of changes, all of which can be expressed in a script.
package struct Variation: Hashable, Sendable {
    /// The changes in the order in which they were added, without duplicates.
    package private(set) var changes: [Change] = []
    /// The pause between the pieces of a send, keyed by the number of the send. The pieces of a send without a pause
    /// are sent back to back.
    package var pauses: [Int: Duration] = [:]

    package init() {}

    package init(_ changes: [Change], pauses: [Int: Duration] = [:]) {
        for change in changes { add(change) }
        self.pauses = pauses
    }

    /// Creates a variation that cuts one send at the given offsets.
    package init(send: Int, cutAt offsets: [Int], pause: Duration? = nil) {
        self.init(offsets.map { .cut(send: send, at: $0) }, pauses: pause.map { [send: $0] } ?? [:])
    }

    package var isEmpty: Bool { changes.isEmpty }

    package mutating func add(_ change: Change) {
        if !changes.contains(change) { changes.append(change) }
    }

    /// Returns a variation with the given changes and the same pauses, except for the pauses of sends that are no
    /// longer cut.
    package func with(_ changes: [Change]) -> Variation {
        var result = Variation(changes, pauses: pauses)
        result.pauses = result.pauses.filter { !result.offsets(of: $0.key).isEmpty }
        return result
    }

    /// Returns the offsets at which a send is cut, in ascending order.
    package func offsets(of send: Int) -> [Int] {
        changes.compactMap { change in
            if case .cut(send, let offset) = change { offset } else { nil }
        }.sorted()
    }

    /// The numbers of the sends that are cut, in ascending order.
    package var cutSends: [Int] {
        Set(
            changes.compactMap { change in
                if case .cut(let send, _) = change { send } else { nil }
            }
        ).sorted()
    }

    /// Returns the size of the records of a send; `nil` if the variation does not change the size.
    package func recordSize(of send: Int) -> Int? {
        changes.lazy.compactMap { change in
            if case .records(send, let size) = change { size } else { nil }
        }.first
    }

    /// The sends whose bytes are sent together with the FIN, each with the step that ends the stream.
    package var fins: [(send: Int, end: Int)] {
        changes.compactMap { change in
            if case .fin(let send, let end) = change { (send, end) } else { nil }
        }
    }

    /// The groups of sends whose bytes are sent as one piece. The sends of a group are listed in order.
    package var joined: [[Int]] {
        var groups: [[Int]] = []
        let pairs = changes.compactMap { change -> (Int, Int)? in
            if case .join(let first, let second) = change { (first, second) } else { nil }
        }.sorted { $0 < $1 }
        for (first, second) in pairs {
            if let index = groups.firstIndex(where: { $0.last == first }) {
                groups[index].append(second)
            } else {
                groups.append([first, second])
            }
        }
        return groups
    }
}
