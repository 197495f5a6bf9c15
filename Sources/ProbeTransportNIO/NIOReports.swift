import Glibc
import NIOCore
import ProbeTransport

/// Passes the events of one connection to the transport's handler. Confined to the connection's event loop.
final class NIOReports {
    let lifecycle: TransportLifecycle
    /// The handler; `nil` after the last event. The handler is released after that event, because it may hold the
    /// transport.
    private var handler: TransportHandler?
    private var unreported: CircularBuffer<TransportEvent> = []
    private var isReporting = false

    init(lifecycle: TransportLifecycle, handler: @escaping TransportHandler) {
        (self.lifecycle, self.handler) = (lifecycle, handler)
    }

    /// Reports an event. If the handler calls an operation that causes further events, those events are reported after
    /// the handler has returned.
    func report(_ event: TransportEvent) {
        unreported.append(event)
        if isReporting { return }
        isReporting = true
        while let event = unreported.popFirst() {
            if case .stopped = event {
                lifecycle.end()
                let last = handler
                handler = nil
                last?(event)
            } else if lifecycle.isOpen {
                handler?(event)
            }
        }
        isReporting = false
    }

    /// Reports `stopped`. If a stop was requested but has not been executed on the event loop yet, the reason is
    /// `stopped`.
    func end(_ reason: NIOFailure) {
        let reason = lifecycle.isOpen ? reason : NIOFailure(.stopped)
        report(.stopped(reason.reason, detail: reason.detail))
    }

    /// Ends all reporting by releasing the handler.
    func abandon() { handler = nil }
}

extension Channel {
    /// Closes the connection with an RST by setting the linger time to 0. NIO drops unwritten bytes.
    func reset() {
        // On the event loop, SO_LINGER is set at once. Setting it fails only on a closed channel.
        if let socket = self as? any SocketOptionProvider { _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)) }
        pipeline.syncOperations.closeAbruptly()
    }

    func setAutoRead(_ isOn: Bool) {
        // `setOption` fails only on a closed channel, from which nothing is read.
        try? syncOptions?.setOption(.autoRead, value: isOn)
    }
}
