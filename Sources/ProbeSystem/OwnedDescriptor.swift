import Glibc

/// A file descriptor with one owner. It is closed exactly once, when the owner is released.
package struct OwnedDescriptor: ~Copyable {
    package let raw: Int32

    /// Takes over an open descriptor.
    package init(_ raw: Int32) {
        self.raw = raw
    }

    deinit {
        close(raw)
    }

    /// Returns the descriptor; the caller must close it.
    package consuming func release() -> Int32 {
        let raw = raw
        discard self
        return raw
    }
}
