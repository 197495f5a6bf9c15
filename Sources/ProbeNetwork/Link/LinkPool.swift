import ProbeSystem
import Synchronization

/// The links of a run. Making one takes some milliseconds, so that it serves one case after another.
package final class LinkPool: Sendable {
    private struct State {
        var middle: NetworkNamespace?
        var idle: [Link] = []
        var used: Set<Int> = []
        /// Numbers go round: what is left of a link that was given up may have its own for a while.
        var last = -1
        var numbers: [ObjectIdentifier: Int] = [:]
    }

    /// The third part of an address is the link's number.
    private static let most = 256

    private let state = Mutex(State())

    package init() {}

    deinit { for link in state.withLock({ $0.idle }) { link.close() } }

    /// A link without faults, on which nothing has passed.
    package func take() throws(LinkError) -> Link {
        let link = try idleOrNew()
        link.begin()
        return link
    }

    private func idleOrNew() throws(LinkError) -> Link {
        try state.withLock { (state) throws(LinkError) in
            if let link = state.idle.popLast() { return link }
            let numbers = (1...Self.most).lazy.map { [last = state.last] in (last + $0) % Self.most }
            guard let number = numbers.first(where: { !state.used.contains($0) }) else {
                throw LinkError("\(Self.most) links are in use already; fewer cases at a time (-j) need fewer")
            }
            do throws(SystemError) {
                let middle: NetworkNamespace
                if let known = state.middle { middle = known } else { middle = try NetworkNamespace() }
                state.middle = middle
                let link = try Link(number, middle: middle)
                state.used.insert(number)
                state.last = number
                state.numbers[ObjectIdentifier(link)] = number
                return link
            } catch {
                throw LinkError("\(error)")
            }
        }
    }

    /// Takes a link back when its case has ended.
    package func giveBack(_ link: Link) {
        if link.recycle() {
            state.withLock { $0.idle.append(link) }
            return
        }
        link.close()
        state.withLock { state in
            guard let number = state.numbers.removeValue(forKey: ObjectIdentifier(link)) else { return }
            state.used.remove(number)
        }
    }
}
