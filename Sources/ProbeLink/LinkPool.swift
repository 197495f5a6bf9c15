import ProbeSystem
import Synchronization

/// The links of a run. Creating a link takes a few milliseconds, so each link is reused by one case after another.
package final class LinkPool: Sendable {
    private struct State {
        var middle: NetworkNamespace?
        var idle: [Link] = []
        var used: Set<Int> = []
        /// The last number that was assigned. Numbers are assigned in rotation, because remnants of a discarded link
        /// may occupy its number for some time.
        var last = -1
        var numbers: [ObjectIdentifier: Int] = [:]
    }

    /// The maximum number of links, because a link's number is the third octet of its IPv4 addresses.
    private static let most = 256

    private let state = Mutex(State())

    package init() {}

    deinit { for link in state.withLock({ $0.idle }) { link.close() } }

    /// Returns a link that has no faults and has not carried any packet.
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
                throw LinkError("\(Self.most) links are already in use; run fewer cases at a time (-j)")
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

    /// Puts a link back into the pool after its case has ended.
    package func returnToPool(_ link: Link) {
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
