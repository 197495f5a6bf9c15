import Glibc

/// A file descriptor with one owner: closed when the owner goes, never twice.
package struct OwnedDescriptor: ~Copyable {
    package let raw: Int32

    /// Takes over an open descriptor.
    package init(_ raw: Int32) {
        self.raw = raw
    }

    deinit {
        close(raw)
    }

    /// The descriptor, which the caller closes from now on.
    package consuming func release() -> Int32 {
        let raw = raw
        discard self
        return raw
    }
}
