/// A listening socket whose connections are transports.
///
/// What a conformer guarantees: it listens from the moment it is made; each connection is reported as `accepted`, before any of
/// that connection's own events; `stopped` is reported once, and nothing after it. One that nobody holds any more closes
/// without a word. The connections live on their own, and each closes when nobody holds it.
public protocol TransportListener: AnyObject, Sendable {
    /// The port that it is bound to.
    var port: UInt16 { get }

    /// Listens no more, and reports `stopped(.stopped)`; connections that were accepted go on. The second call does nothing.
    func stop()
}

extension TransportFactory {
    /// `unsupported`, for a factory without the capability `listen`.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        throw .unsupported
    }
}
