package import ProbeBase

/// A layer between a connection's bytes and those of the network: TLS.
///
/// Called on the reactor's thread, as soon as something has arrived.
package protocol ConnectionLayer: AnyObject {
    /// Processes bytes from the network. Passes the bytes that they carry to `append`, and sends what they make
    /// necessary.
    func receive(_ bytes: UnsafeRawBufferPointer, at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void)

    /// Processes a FIN: no more bytes will arrive.
    func receiveEnd(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void)

    /// The number of bytes that were received and can no longer be read.
    var held: Int { get }

    /// Whether the peer will answer the end of this side: a socket that is closed before that would respond to the
    /// answer with an RST.
    var awaitsAnswer: Bool { get }
}
