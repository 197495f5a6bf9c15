/// Finds a connection by its two endpoints, whichever is the source: a hash table with open addressing.
///
/// It holds positions and halves of hashes (`ConnectionHash`), eight bytes an entry; the caller compares the endpoints. At most
/// 2^31 connections.
struct ConnectionIndex: Sendable {
    private struct Entry: Sendable {
        /// The upper half of the hash.
        var tag: UInt32 = 0
        /// The position; -1 for a free entry.
        var position: Int32 = -1
    }

    private var entries = [Entry](repeating: Entry(), count: 64)
    private var count = 0

    // MARK: Entries

    /// Returns the position with this hash that `isMatch` accepts.
    @inline(__always)
    func position(of hash: UInt64, where isMatch: (Int) -> Bool) -> Int? {
        let mask = entries.count &- 1
        let tag = UInt32(truncatingIfNeeded: hash >> 32)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while entries[slot].position >= 0 {
            if entries[slot].tag == tag, isMatch(Int(entries[slot].position)) { return Int(entries[slot].position) }
            slot = (slot &+ 1) & mask
        }
        return nil
    }

    /// Inserts a new position. `hashes` returns the hash of any earlier position, for when the table grows.
    mutating func insert(_ position: Int, hash: UInt64, hashes: (Int) -> UInt64) {
        // At most half full: one entry is looked at, and rarely a second one.
        if count &* 2 >= entries.count { grow(hashes) }
        place(position, hash)
        count += 1
    }

    /// Replaces `old`, which was found under this hash, by `new`.
    mutating func replace(_ old: Int, by new: Int, hash: UInt64) {
        let mask = entries.count &- 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while entries[slot].position >= 0 {
            if Int(entries[slot].position) == old {
                entries[slot].position = Int32(truncatingIfNeeded: new)
                return
            }
            slot = (slot &+ 1) & mask
        }
    }

    private mutating func grow(_ hashes: (Int) -> UInt64) {
        let old = entries
        entries = [Entry](repeating: Entry(), count: old.count * 2)
        for entry in old where entry.position >= 0 { place(Int(entry.position), hashes(Int(entry.position))) }
    }

    private mutating func place(_ position: Int, _ hash: UInt64) {
        let mask = entries.count &- 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while entries[slot].position >= 0 { slot = (slot &+ 1) & mask }
        entries[slot] = Entry(
            tag: UInt32(truncatingIfNeeded: hash >> 32), position: Int32(truncatingIfNeeded: position))
    }
}
