package import ProbeBase

/// What stands between a connection's bytes and those of the network: TLS.
///
/// Called on the reactor's thread, as soon as something has come.
package protocol ConnectionLayer: AnyObject {
    /// Bytes of the network. `append` is given what they carry; what they make necessary to send is sent.
    func receive(_ bytes: UnsafeRawBufferPointer, at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void)

    /// FIN: no more will come.
    func receiveEnd(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void)

    /// Bytes that it was given and nobody can take any more.
    var held: Int { get }

    /// The peer is going to answer the end of this side: a socket that is closed before that would answer the answer with an RST.
    var awaitsAnswer: Bool { get }
}
