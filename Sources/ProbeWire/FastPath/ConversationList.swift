package import ProbeBase

/// The connections of a table, in the order of their first packets.
///
/// The list grows without moving its elements, except for the first few, so that there are never two copies of all
/// elements in memory. Two lists are merged without moving any element.
// @unchecked because of the pointers in `bases`. They point into `memory`, which lives as long as the list. The list
// becomes the sole owner of the memory before changing it (`makeUnique`), so the list has value semantics.
package struct ConversationList: RandomAccessCollection, MutableCollection, @unchecked Sendable {
    private var memory = ConversationMemory()
    /// The base pointers of the chunks in `memory`.
    private var bases: [UnsafeMutableRawPointer] = []
    /// The slot (chunk and place in the chunk) of each position, if lists were merged; empty if the positions are in
    /// the order of the slots.
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

    /// Copies the memory if another list shares it.
    @inline(__always)
    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&memory) { copyMemory() }
    }

    @inline(never)
    private mutating func copyMemory() {
        memory = memory.copy()
        bases = memory.bases
    }

    /// Judges a statement about one connection. For the most common statement, the connection is not copied, because
    /// copying it would cost more than judging the statement.
    package func judge(_ assertion: WireAssertion, at position: Int, names: SideNames) -> WireVerdict {
        let found = pointer(position)
        if case .halfConnection(.lines(.crlf), let side) = assertion {
            let isWhole =
                side == .client ? found.pointee.fromClient.isWholeInLines : found.pointee.fromServer.isWholeInLines
            if isWhole { return .passed }
        }
        return found.pointee.judge(assertion, names: names)
    }

    /// Returns whether a connection is between two endpoints, either of which may be the client. Only the endpoints are
    /// read, because copying the connection would take longer than the search.
    @inline(__always)
    func isBetween(_ a: SocketEndpoint, _ b: SocketEndpoint, at position: Int) -> Bool {
        let ends = endpoints(at: position)
        return (ends.client == a && ends.server == b) || (ends.client == b && ends.server == a)
    }

    /// Returns the sender of an IPv4 packet if the packet belongs to the connection at `position`. Each endpoint is an
    /// address followed by a 16-bit port.
    @inline(__always)
    func sender(_ source: UInt64, _ destination: UInt64, at position: Int) -> ConversationSide? {
        let ends = endpoints(at: position)
        guard case .v4 = ends.client.address.family else { return nil }
        let client = ends.client.address.low << 16 | UInt64(ends.client.port)
        let server = ends.server.address.low << 16 | UInt64(ends.server.port)
        if client == source, server == destination { return .client }
        return client == destination && server == source ? .server : nil
    }

    /// Returns how each side of a connection began, starting with the side whose endpoint is `source`, and whether the
    /// connection is closed. The connection is not copied.
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

    /// Returns `Conversation.heldBytes` without copying the connection.
    @inline(__always)
    func heldBytes(at position: Int) -> Int { pointer(position).pointee.heldBytes }

    /// Returns `Conversation.hasWaiting` without copying the connection.
    @inline(__always)
    func hasWaiting(at position: Int) -> Bool { pointer(position).pointee.hasWaiting }

    /// Calls `body` with a connection, without copying it.
    @inline(__always)
    package func withConversation<Result>(at position: Int, _ body: (borrowing Conversation) -> Result) -> Result {
        body(pointer(position).pointee)
    }

    /// Returns the index of a connection's first packet in the capture, without copying the connection.
    package func firstPacketIndex(at position: Int) -> Int { pointer(position).pointee.firstPacketIndex }

    /// Returns the client and the server of a connection, without copying the connection.
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

    /// Merges the connections of another list into this one, orders all connections by their first packets, and
    /// renumbers them.
    ///
    /// - Parameter other: the other list, consumed so that no connection is copied.
    /// - Returns: the new position of each connection, indexed by its old position, for the connections of this list
    ///   and of `other`.
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
