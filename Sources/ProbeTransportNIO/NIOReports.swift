import Glibc
import NIOCore
import ProbeTransport

/// Passes the events of one connection to the transport's handler. Confined to the connection's event loop.
final class NIOReports {
    let lifecycle: TransportLifecycle
    /// The handler, which is released with the last event, because it may hold the transport.
    private var handler: TransportHandler?
    private var unreported: CircularBuffer<TransportEvent> = []
    private var isReporting = false

    init(lifecycle: TransportLifecycle, handler: @escaping TransportHandler) {
        (self.lifecycle, self.handler) = (lifecycle, handler)
    }

    /// Reports one event at a time: if a handler calls an operation, its events are reported after the handler has
    /// returned.
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

    /// Reports the stop. If a stop was requested but has not been executed on the event loop yet, that is the reason.
    func end(_ reason: NIOFailure) {
        let reason = lifecycle.isOpen ? reason : NIOFailure(.stopped)
        report(.stopped(reason.reason, detail: reason.detail))
    }

    /// Stops reporting.
    func abandon() { handler = nil }
}

extension Channel {
    /// Closes the connection with an RST, by a linger time of 0. NIO drops unwritten bytes.
    func reset() {
        // On the event loop the option is set at once; it fails only on a closed channel.
        if let socket = self as? any SocketOptionProvider { _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)) }
        pipeline.syncOperations.closeAbruptly()
    }

    func setAutoRead(_ isOn: Bool) {
        // Fails only on a closed channel, which reads nothing.
        try? syncOptions?.setOption(.autoRead, value: isOn)
    }
}
