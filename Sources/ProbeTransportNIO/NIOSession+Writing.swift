import NIOCore
import NIOExtras
import ProbeTransport

/// Writing and closing.
extension NIOSession {
    /// How long writing may make no progress before the connection is closed.
    private static let patience = TimeAmount.seconds(1)

    func write(_ buffer: ByteBuffer, _ count: Int, to channel: any Channel) {
        unfinished += 1
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [self] result in
            unfinished -= 1
            switch result {
            case .success: deliver(.sent(count))
            case .failure(let error): noteFailure(error)
            }
            closeIfWritten()
        }
        channel.writeAndFlush(buffer, promise: written)
    }

    /// NIO's close drops what is not written. So the channel is closed when everything is written, or when nothing
    /// makes progress.
    func close(_ reason: NIOFailure) {
        phase = .closing(reason)
        // Messages that other threads have sent are still in the queue of the event loop.
        channel?.eventLoop.assumeIsolated().execute { [self] in closeIfWritten() }
        watchProgress(left: .max)
    }

    private func closeIfWritten() {
        guard case .closing = phase, unfinished == 0 else { return }
        channel?.close(promise: nil)
    }

    private func watchProgress(left before: Int) {
        guard case .closing = phase, let channel else { return }
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
            guard case .closing(let reason) = phase else { return }
            // Fails only on a closed channel, which has nothing to write.
            let left = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
            if left < before, left > 0 { return watchProgress(left: left) }
            if reason.reason == .eof, failure == nil {
                failure = NIOFailure(.timeout, "\(left) bytes unwritten, the peer does not read")
            }
            channel.close(promise: nil)
        }
    }

    /// Keeps the first error. Later ones are consequences, such as that of a write to a closed channel.
    func noteFailure(_ error: any Error) {
        if error is ChannelError { return }
        if failure == nil { failure = NIOFailure(error) }
    }
}
