import ProbeBase
import Synchronization

/// The transport `async-socket`: an ``AsyncSocket`` as a ``Transport``. It delivers only what ``read(_:timeout:)``
/// requests.
///
/// A message is written with the framing's terminator or length; the received stream is divided only by the reads.
/// Reads and writes have separate tags, which count from 1. `maxLine` limits a read up to a delimiter. Unread bytes are
/// reported as `leftover` if the peer or an error ends the connection; ``stop()`` drops them.
final class AsyncSocketTransport: Transport {
    private struct Tags {
        var read = 0
        var write = 0
    }

    let socket: AsyncSocket
    private let encoder: Mutex<FrameEncoder>
    /// A lock that is held while an operation is queued, so that tags are assigned in the order in which operations are
    /// queued.
    private let tags = Mutex(Tags())

    init(
        _ state: BSDConnectionState, _ ends: ConnectionEnds, limit: Int, encoder: FrameEncoder,
        handler: @escaping TransportHandler
    ) {
        self.encoder = Mutex(encoder)
        socket = AsyncSocket(
            state, ends: ends, limit: limit
        ) { event in
            switch event {
            case .connected: handler(.started)
            case .read(let bytes, _): handler(.data(bytes))
            case .wrotePart(let count, _), .wrote(let count, _): handler(.sent(count))
            case .disconnected(let reason, let detail, let unread):
                if !unread.isEmpty, reason != .stopped { handler(.leftover(unread)) }
                handler(.stopped(reason, detail: detail))
            }
        }
    }

    func start() throws(TransportError) {
        try socket.connect()
    }

    func send(_ message: [UInt8]) throws(TransportError) {
        let frame: [UInt8]
        do {
            frame = try encoder.withLock { $0 }.encode(message)
        } catch {
            // An invalid message is reported only after the state has been checked, because `invalid` means that only
            // the message is at fault.
            try socket.requireWritable()
            throw .invalid
        }
        try tags.withLock { tags throws(TransportError) in
            try socket.write(frame, timeout: nil, tag: tags.write + 1)
            tags.write += 1
        }
    }

    func read(_ request: TransportRead, timeout: Duration?) throws(TransportError) {
        try tags.withLock { tags throws(TransportError) in
            try socket.read(request, timeout: timeout?.nanoseconds, tag: tags.read + 1)
            tags.read += 1
        }
    }

    /// Changes the framing of sent messages. The change does not affect the received stream, which is divided only by
    /// the reads.
    func setFraming(_ framing: TransportFraming) throws(TransportError) {
        guard framing != .websocket else { throw .unsupported }
        try socket.requireOpen()
        encoder.withLock { $0 = FrameEncoder(framing: framing) }
    }

    func stop() throws(TransportError) {
        socket.disconnectAfterWriting()
    }

    func reset() throws(TransportError) {
        try socket.disconnectWithReset()
    }
}
