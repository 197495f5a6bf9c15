/// A scenario's stream, sent in another way: a list of changes that the language can say.
package struct Variation: Hashable, Sendable {
    /// In the order in which they were added, none of them twice.
    package private(set) var changes: [Change] = []
    /// The pause between the pieces of a send, by the number of the send; none: the pieces leave one right after the other.
    package var pauses: [Int: Duration] = [:]

    package init() {}

    package init(_ changes: [Change], pauses: [Int: Duration] = [:]) {
        for change in changes { add(change) }
        self.pauses = pauses
    }

    /// One send, cut at offsets.
    package init(send: Int, cutAt offsets: [Int], pause: Duration? = nil) {
        self.init(offsets.map { .cut(send: send, at: $0) }, pauses: pause.map { [send: $0] } ?? [:])
    }

    package var isEmpty: Bool { changes.isEmpty }

    package mutating func add(_ change: Change) {
        if !changes.contains(change) { changes.append(change) }
    }

    /// The same pauses with other changes; a pause of a send that is not cut any more is left out.
    package func with(_ changes: [Change]) -> Variation {
        var result = Variation(changes, pauses: pauses)
        result.pauses = result.pauses.filter { !result.offsets(of: $0.key).isEmpty }
        return result
    }

    /// Where a send is cut, rising.
    package func offsets(of send: Int) -> [Int] {
        changes.compactMap { change in
            if case .cut(send, let offset) = change { offset } else { nil }
        }.sorted()
    }

    /// The numbers of the sends that are cut, rising.
    package var cutSends: [Int] {
        Set(
            changes.compactMap { change in
                if case .cut(let send, _) = change { send } else { nil }
            }
        ).sorted()
    }

    /// The size of the records of a send; nil: as TLS makes them.
    package func recordSize(of send: Int) -> Int? {
        changes.lazy.compactMap { change in
            if case .records(send, let size) = change { size } else { nil }
        }.first
    }

    /// The sends that leave with the FIN, each with the step that ended the sending.
    package var fins: [(send: Int, end: Int)] {
        changes.compactMap { change in
            if case .fin(let send, let end) = change { (send, end) } else { nil }
        }
    }

    /// Sends that leave as one, in their order: the first one and those behind it.
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
