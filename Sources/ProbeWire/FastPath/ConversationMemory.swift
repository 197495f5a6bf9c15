import CBytes

/// The memory that holds the connections of a list. Each connection begins at the start of a cache line. Only the first
/// few connections of a list are ever moved.
///
/// Arrays are not used, because every access to an element reads its array's header, and the headers would all be at
/// the same position in a page. They would therefore evict each other from the cache.
// @unchecked: many threads may read the memory, and only a list that is the sole owner of the memory changes it
// (`ConversationList.makeUnique`).
final class ConversationMemory: @unchecked Sendable {
    private struct Chunk {
        let base: UnsafeMutableRawPointer
        /// The number of connections for which the chunk has room.
        let capacity: Int
        /// The number of connections in the chunk.
        var count = 0
    }

    private var chunks: [Chunk] = []

    // A chunk of this length nearly fills a large page. It is also large enough to have its own pages, and pages that
    // are never touched cost nothing.
    static let chunkBits = 11
    static let chunkLength = 1 << chunkBits
    private static let firstLength = 8
    private static let cacheLine = 64
    private static let largePage = 1 << 21
    /// The stride in bytes: the distance from the start of one connection's memory to the start of the next one's.
    static let stride = roundedUp(MemoryLayout<Conversation>.stride, to: cacheLine)

    init() {}

    deinit {
        for chunk in chunks {
            for place in 0..<chunk.count { Self.pointer(chunk.base, place).deinitialize(count: 1) }
            chunk.base.deallocate()
        }
    }

    private static func chunk(of capacity: Int) -> Chunk {
        let size = capacity * stride
        // A short list uses no large page, because the system would have to clear the entire page.
        guard capacity == chunkLength else {
            return Chunk(base: .allocate(byteCount: size, alignment: cacheLine), capacity: capacity)
        }
        // With small pages, analyzing a capture with thousands of connections takes 10% more CPU time, because the
        // system clears and maps each page when it is first touched.
        let whole = roundedUp(size, to: largePage)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: whole, alignment: largePage)
        probe_prefer_large_pages(memory, whole)
        return Chunk(base: memory, capacity: capacity)
    }

    private static func roundedUp(_ count: Int, to unit: Int) -> Int { (count + unit - 1) / unit * unit }

    /// A pointer to the first byte of each chunk.
    var bases: [UnsafeMutableRawPointer] { chunks.map(\.base) }

    @inline(__always)
    static func pointer(_ base: UnsafeMutableRawPointer, _ place: Int) -> UnsafeMutablePointer<Conversation> {
        (base + place &* stride).assumingMemoryBound(to: Conversation.self)
    }

    /// Appends a connection.
    ///
    /// - Returns: the slot of the connection (`chunk << chunkBits + place`), and whether `bases` has changed.
    func append(_ conversation: consuming Conversation) -> (slot: Int, hasNewBase: Bool) {
        let hasNewBase = chunks.last.map { $0.count == $0.capacity } ?? true
        if hasNewBase { makeRoom() }
        let last = chunks.count - 1
        let place = chunks[last].count
        (chunks[last].base + place * Self.stride).initializeMemory(as: Conversation.self, to: consume conversation)
        chunks[last].count += 1
        return (last << Self.chunkBits + place, hasNewBase)
    }

    /// Makes room for another connection. The first chunk begins small, because most lists stay small, and grows to the
    /// full size of a chunk. After that, further chunks are added.
    private func makeRoom() {
        guard let last = chunks.last, last.capacity < Self.chunkLength else {
            chunks.append(Self.chunk(of: chunks.isEmpty ? Self.firstLength : Self.chunkLength))
            return
        }
        chunks[chunks.count - 1] = Self.copy(last, capacity: min(last.capacity * 4, Self.chunkLength)) {
            $0.initialize(to: $1.move())
        }
        last.base.deallocate()
    }

    /// Moves all chunks of `other` to this memory, after its own chunks. `other` is empty afterwards.
    func take(_ other: ConversationMemory) {
        chunks += other.chunks
        other.chunks = []
    }

    func copy() -> ConversationMemory {
        let copy = ConversationMemory()
        for chunk in chunks {
            copy.chunks.append(Self.copy(chunk, capacity: chunk.capacity) { $0.initialize(to: $1.pointee) })
        }
        return copy
    }

    private static func copy(
        _ chunk: Chunk, capacity: Int,
        _ body: (UnsafeMutablePointer<Conversation>, UnsafeMutablePointer<Conversation>) -> Void
    ) -> Chunk {
        var new = Self.chunk(of: capacity)
        for place in 0..<chunk.count { body(pointer(new.base, place), pointer(chunk.base, place)) }
        new.count = chunk.count
        return new
    }
}
