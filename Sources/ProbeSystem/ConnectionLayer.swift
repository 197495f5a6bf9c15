package import ProbeBase

/// A layer between a connection's application bytes and the bytes on the network, such as TLS.
///
/// The methods are called on the reactor's thread, as soon as bytes or a FIN have arrived.
package protocol ConnectionLayer: AnyObject {
    /// Processes bytes from the network. Passes the application bytes that they carry to `append`, and sends any bytes
    /// that the protocol requires in response.
    func receive(_ bytes: UnsafeRawBufferPointer, at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void)

    /// Processes a FIN: no more bytes will arrive.
    func receiveEnd(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void)

    /// The number of received bytes that the layer still holds and that can no longer be read.
    var held: Int { get }

    /// Whether the peer is expected to respond when this side ends the connection. If the socket were closed before the
    /// response arrived, the kernel would answer the response with an RST.
    var awaitsAnswer: Bool { get }
}
