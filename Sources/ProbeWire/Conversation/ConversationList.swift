/// The connections of a table, in the order of their first packets.
///
/// It grows without moving what it holds, so that memory never holds two copies of it, and two lists become one without a move.
package struct ConversationList: RandomAccessCollection, MutableCollection, Sendable {
    /// Each but the last of its list holds `chunkLength`.
    private var chunks: [[Conversation]] = []
    /// Of each position: chunk and place in it, where lists were merged; empty where positions are in the order of the chunks.
    private var order: [Int32] = []
    package private(set) var count = 0

    // Large enough that each is an allocation of its own pages, of which the untouched ones cost nothing.
    private static let chunkBits = 8
    private static let chunkLength = 1 << chunkBits

    package init() {}

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(position: Int) -> Conversation {
        @inline(__always) _read {
            let slot = slot(position)
            yield chunks[slot &>> Self.chunkBits][slot & (Self.chunkLength &- 1)]
        }
        @inline(__always) _modify {
            let slot = slot(position)
            yield &chunks[slot &>> Self.chunkBits][slot & (Self.chunkLength &- 1)]
        }
    }

    @inline(__always)
    private func slot(_ position: Int) -> Int {
        precondition(position < count, "no such connection")
        return order.isEmpty ? position : Int(order[position])
    }

    /// What a statement about one of them comes to. Most flows of most captures pass the commonest one without being copied, which
    /// costs more than the judgement.
    package func judge(_ assertion: WireAssertion, at position: Int, names: SideNames) -> WireVerdict {
        if case .flow(.lines(.crlf), let side) = assertion {
            let slot = slot(position)
            let (chunk, place) = (slot &>> Self.chunkBits, slot & (Self.chunkLength &- 1))
            let isPassed =
                side == .client
                ? chunks[chunk][place].fromClient.hasPlainlyWholeLines
                : chunks[chunk][place].fromServer.hasPlainlyWholeLines
            if isPassed { return .passed }
        }
        return self[position].judge(assertion, names: names)
    }

    /// Client and server of one of them, without a copy of all the rest.
    package func endpoints(at position: Int) -> (client: SocketEndpoint, server: SocketEndpoint) {
        let slot = slot(position)
        let (chunk, place) = (slot &>> Self.chunkBits, slot & (Self.chunkLength &- 1))
        return (chunks[chunk][place].client, chunks[chunk][place].server)
    }

    mutating func append(_ conversation: consuming Conversation) {
        if chunks.last.map({ $0.count == Self.chunkLength }) ?? true {
            var chunk: [Conversation] = []
            chunk.reserveCapacity(Self.chunkLength)
            chunks.append(chunk)
        }
        chunks[chunks.count - 1].append(conversation)
        if !order.isEmpty {
            order.append(Int32(((chunks.count - 1) << Self.chunkBits) + chunks[chunks.count - 1].count - 1))
        }
        count += 1
    }

    /// Takes those of another list and orders all by their first packets; each is numbered anew.
    ///
    /// - Parameter other: passed on to its end, no connection is copied.
    /// - Returns: the new position of each by its old one, for those that were here and those that came.
    mutating func merge(_ other: consuming ConversationList) -> (own: [Int], other: [Int]) {
        let firstChunk = chunks.count
        var numbers = (own: [Int](), other: [Int]())
        numbers.own.reserveCapacity(count)
        numbers.other.reserveCapacity(other.count)
        var merged: [Int32] = []
        merged.reserveCapacity(count + other.count)
        while numbers.own.count < count || numbers.other.count < other.count {
            let (own, others) = (numbers.own.count, numbers.other.count)
            let isOwn =
                others == other.count
                || (own < count && self[own].firstPacketIndex < other[others].firstPacketIndex)
            if isOwn { numbers.own.append(merged.count) } else { numbers.other.append(merged.count) }
            merged.append(Int32(isOwn ? slot(own) : other.slot(others) + firstChunk << Self.chunkBits))
        }
        // Moved out, so that each chunk has one owner and is not copied when its connections get their numbers.
        var others: [[Conversation]] = []
        swap(&others, &other.chunks)
        chunks += others
        others = []
        order = merged
        count = merged.count
        for position in indices { self[position].number = position }
        return numbers
    }
}
