/// A hash table with open addressing that finds a connection by its two endpoints, in either order.
///
/// Each entry has eight bytes: the position of a connection and the upper half of its hash (`ConnectionHash`). The
/// caller compares the endpoints. The table holds at most 2^31 connections.
struct ConnectionIndex: Sendable {
    private struct Entry: Sendable {
        /// The upper half of the connection's hash.
        var tag: UInt32 = 0
        /// The position of the connection; -1 for a free entry.
        var position: Int32 = -1
    }

    private var entries = [Entry](repeating: Entry(), count: 64)
    private var count = 0

    // MARK: Entries

    /// Returns the position that has the given hash and that `isMatch` accepts.
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

    /// Inserts a new position. `hashes` returns the hash of any position inserted before; these hashes are needed when
    /// the table grows.
    mutating func insert(_ position: Int, hash: UInt64, hashes: (Int) -> UInt64) {
        // The table is at most half full, so a search rarely examines more than one entry.
        if count &* 2 >= entries.count { grow(hashes) }
        place(position, hash)
        count += 1
    }

    /// Replaces `old`, which was found under the given hash, with `new`.
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
