import CBytes

/// Where the connections of a list stand: they never move, and each begins with a cache line.
///
/// Arrays would do, but for where their headers come to lie: all at the same place of a page, so that they drive each other out of the
/// cache, and every access to an element looks into one.
final class ConversationMemory: @unchecked Sendable {
    // Nothing else refers to the list that changes it (`ConversationList.makeUnique`); many may read.

    private struct Chunk {
        let base: UnsafeMutableRawPointer
        /// Connections that are there.
        var count = 0
    }

    private var chunks: [Chunk] = []

    // So many that a chunk has pages of its own, of which the untouched ones cost nothing, and nearly fills a large one.
    static let chunkBits = 11
    static let chunkLength = 1 << chunkBits
    private static let cacheLine = 64
    private static let largePage = 1 << 21
    /// Bytes from one connection to the next.
    static let stride = roundedUp(MemoryLayout<Conversation>.stride, to: cacheLine)

    init() {}

    deinit {
        for chunk in chunks {
            for place in 0..<chunk.count { Self.pointer(chunk.base, place).deinitialize(count: 1) }
            chunk.base.deallocate()
        }
    }

    /// - Parameter isFirst: a list of few connections touches no large page, which would be cleared as a whole.
    private static func allocate(isFirst: Bool) -> UnsafeMutableRawPointer {
        let size = chunkLength * stride
        if isFirst { return .allocate(byteCount: size, alignment: cacheLine) }
        let whole = roundedUp(size, to: largePage)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: whole, alignment: largePage)
        probe_prefer_large_pages(memory, whole)
        return memory
    }

    private static func roundedUp(_ count: Int, to unit: Int) -> Int { (count + unit - 1) / unit * unit }

    /// The first byte of each chunk.
    var bases: [UnsafeMutableRawPointer] { chunks.map(\.base) }

    @inline(__always)
    static func pointer(_ base: UnsafeMutableRawPointer, _ place: Int) -> UnsafeMutablePointer<Conversation> {
        (base + place &* stride).assumingMemoryBound(to: Conversation.self)
    }

    /// - Returns: chunk and place in it, as one number: `chunk << chunkBits + place`.
    func append(_ conversation: consuming Conversation) -> Int {
        if chunks.last.map({ $0.count == Self.chunkLength }) ?? true {
            chunks.append(Chunk(base: Self.allocate(isFirst: chunks.isEmpty)))
        }
        let last = chunks.count - 1
        let place = chunks[last].count
        (chunks[last].base + place * Self.stride).initializeMemory(as: Conversation.self, to: conversation)
        chunks[last].count += 1
        return last << Self.chunkBits + place
    }

    /// Takes over all that another one holds, which is empty then; its chunks stand behind these.
    func take(_ other: ConversationMemory) {
        chunks += other.chunks
        other.chunks = []
    }

    func copy() -> ConversationMemory {
        let copy = ConversationMemory()
        for chunk in chunks {
            var new = Chunk(base: Self.allocate(isFirst: copy.chunks.isEmpty))
            for place in 0..<chunk.count {
                (new.base + place * Self.stride).initializeMemory(
                    as: Conversation.self, to: Self.pointer(chunk.base, place).pointee)
            }
            new.count = chunk.count
            copy.chunks.append(new)
        }
        return copy
    }
}
