/// The 64-bit FNV-1a hash (RFC 9923). Unlike Swift's own hashes, the FNV-1a hash of given bytes is the same on every
/// machine and in every version of tcpprobe.
///
/// Two texts with the same hash are easy to construct, so ``SHA256`` is used for names that must differ.
package struct FNV1a: Sendable {
    @usableFromInline var state: UInt64

    package var value: UInt64 { state }

    /// Creates a hash to which no bytes have been added.
    ///
    /// - Parameter salt: a number that selects a different hash of the same bytes.
    package init(salt: UInt64 = 0) { state = 0xcbf2_9ce4_8422_2325 ^ salt }

    /// Creates the hash of a text.
    package init(_ text: String) {
        self.init()
        add(text.utf8)
    }

    @inlinable
    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
}
