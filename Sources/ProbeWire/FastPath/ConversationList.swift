package import ProbeBase

/// The connections of a table, in the order of their first packets.
///
/// It grows without moving what it holds, but for the first ones, so that memory never holds two copies of it, and two lists become one
/// without a move.
// @unchecked for the pointers in `bases`: they point into `memory`, which lives as long and is this list's alone when it changes
// (`makeUnique`), so that it is a value like any other.
package struct ConversationList: RandomAccessCollection, MutableCollection, @unchecked Sendable {
    private var memory = ConversationMemory()
    /// `memory`'s.
    private var bases: [UnsafeMutableRawPointer] = []
    /// Of each position: chunk and place in it, where lists were merged; empty where positions are in the order of the chunks.
    private var order: [Int32] = []
    package private(set) var count = 0

    package init() {}

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(position: Int) -> Conversation {
        @inline(__always) _read { yield pointer(position).pointee }
        @inline(__always) _modify {
            makeUnique()
            yield &pointer(position).pointee
        }
    }

    @inline(__always)
    private func slot(_ position: Int) -> Int {
        precondition(position >= 0 && position < count, "no such connection")
        return order.isEmpty ? position : Int(order[position])
    }

    @inline(__always)
    private func pointer(_ position: Int) -> UnsafeMutablePointer<Conversation> {
        let slot = slot(position)
        return ConversationMemory.pointer(
            bases[slot &>> ConversationMemory.chunkBits], slot & (ConversationMemory.chunkLength &- 1))
    }

    /// Copies what another list shares with this one.
    @inline(__always)
    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&memory) { copyMemory() }
    }

    @inline(never)
    private mutating func copyMemory() {
        memory = memory.copy()
        bases = memory.bases
    }

    /// What a statement about one of them comes to. The one that most captures are asked needs no copy of the connection, which would
    /// cost more than the judgement.
    package func judge(_ assertion: WireAssertion, at position: Int, names: SideNames) -> WireVerdict {
        let found = pointer(position)
        if case .halfConnection(.lines(.crlf), let side) = assertion {
            let isWhole =
                side == .client ? found.pointee.fromClient.isWholeInLines : found.pointee.fromServer.isWholeInLines
            if isWhole { return .passed }
        }
        return found.pointee.judge(assertion, names: names)
    }

    /// Whether one of them is between two endpoints, whichever is the client. Only these are read: a copy takes longer than the search.
    @inline(__always)
    func isBetween(_ a: SocketEndpoint, _ b: SocketEndpoint, at position: Int) -> Bool {
        let ends = endpoints(at: position)
        return (ends.client == a && ends.server == b) || (ends.client == b && ends.server == a)
    }

    /// Who sent a packet of IPv4 with these endpoints (address, then 16 bits of port), where it is of the connection at `position`.
    @inline(__always)
    func sender(_ source: UInt64, _ destination: UInt64, at position: Int) -> ConversationSide? {
        let ends = endpoints(at: position)
        guard case .v4 = ends.client.address.family else { return nil }
        let client = ends.client.address.low << 16 | UInt64(ends.client.port)
        let server = ends.server.address.low << 16 | UInt64(ends.server.port)
        if client == source, server == destination { return .client }
        return client == destination && server == source ? .server : nil
    }

    /// How both sides of one of them began, that with the endpoint `source` first, and whether it is closed; without a copy of all the rest.
    @inline(__always)
    func opening(
        at position: Int, from source: SocketEndpoint
    ) -> (sender: HalfConnection.Opening, receiver: HalfConnection.Opening, isClosed: Bool) {
        let found = pointer(position)
        let client = found.pointee.fromClient.opening
        let server = found.pointee.fromServer.opening
        let isClosed = found.pointee.isClosed
        return found.pointee.client == source ? (client, server, isClosed) : (server, client, isClosed)
    }

    /// As `Conversation.heldBytes`, without a copy of it.
    @inline(__always)
    func heldBytes(at position: Int) -> Int { pointer(position).pointee.heldBytes }

    /// As `Conversation.hasWaiting`, without a copy of it.
    @inline(__always)
    func hasWaiting(at position: Int) -> Bool { pointer(position).pointee.hasWaiting }

    /// Calls `body` with one of them, without a copy of it.
    @inline(__always)
    package func withConversation<Result>(at position: Int, _ body: (borrowing Conversation) -> Result) -> Result {
        body(pointer(position).pointee)
    }

    /// Client and server of one of them, without a copy of all the rest.
    @inline(__always)
    package func endpoints(at position: Int) -> (client: SocketEndpoint, server: SocketEndpoint) {
        let found = pointer(position)
        return (found.pointee.client, found.pointee.server)
    }

    mutating func append(_ conversation: consuming Conversation) {
        makeUnique()
        let (slot, hasNewBase) = memory.append(consume conversation)
        if hasNewBase { bases = memory.bases }
        if !order.isEmpty { order.append(Int32(slot)) }
        count += 1
    }

    /// Takes those of another list and orders all by their first packets; each is numbered anew.
    ///
    /// - Parameter other: passed on to its end, no connection is copied.
    /// - Returns: the new position of each by its old one, for those that were here and those that came.
    mutating func merge(_ other: consuming ConversationList) -> (own: [Int], other: [Int]) {
        makeUnique()
        other.makeUnique()
        let firstChunk = bases.count
        var numbers = (own: [Int](), other: [Int]())
        numbers.own.reserveCapacity(count)
        numbers.other.reserveCapacity(other.count)
        var merged: [Int32] = []
        merged.reserveCapacity(count + other.count)
        while numbers.own.count < count || numbers.other.count < other.count {
            let (own, others) = (numbers.own.count, numbers.other.count)
            let isOwn =
                others == other.count
                || (own < count
                    && pointer(own).pointee.firstPacketIndex < other.pointer(others).pointee.firstPacketIndex)
            if isOwn { numbers.own.append(merged.count) } else { numbers.other.append(merged.count) }
            merged.append(Int32(isOwn ? slot(own) : other.slot(others) + firstChunk << ConversationMemory.chunkBits))
        }
        memory.take(other.memory)
        bases = memory.bases
        order = merged
        count = merged.count
        for position in indices { pointer(position).pointee.number = position }
        return numbers
    }
}
