import ProbeScenario

/// A change to the way in which a stream is transmitted. The bytes of the stream are unchanged, so a correct program
/// behaves in the same way.
package enum Change: Hashable, Sendable {
    /// The send is divided into two parts; the second part begins at the offset.
    case cut(send: Int, at: Int)
    /// Two neighboring sends of an endpoint are sent as one piece, at the position of the first send.
    case join(first: Int, second: Int)
    /// The data of a send on a TLS connection is divided into records of `size` plaintext bytes.
    case records(send: Int, size: Int)
    /// The FIN is sent with the last segment of a send. `end` is the half-close after the send, which is removed; the
    /// close, which remains in the script; or the send itself if the script contains neither.
    case fin(send: Int, end: Int)
    /// The client half-closes its connection directly after its last send, instead of at the end of the script.
    case earlyEnd(send: Int)
    /// The option is set for an endpoint, as if it were part of the endpoint's declaration.
    case option(actor: String, SmallOption)
    /// An endpoint reads `bytes` bytes per millisecond. The slow reading begins before the step that connects or
    /// accepts.
    case slowReading(actor: String, step: Int, bytes: Int)

    /// The number of the first step that the change affects; `nil` if the change affects an endpoint.
    package var step: Int? {
        switch self {
        case .cut(let step, _), .join(let step, _), .records(let step, _), .fin(let step, _),
            .earlyEnd(let step):
            step
        case .slowReading(_, let step, _): step
        case .option: nil
        }
    }

    /// Socket options that cause the other side to wait more often.
    package enum SmallOption: Hashable, Sendable, CaseIterable {
        case receiveBuffer, sendBuffer, noDelayOff

        /// The option in a script's notation.
        package var text: String {
            switch self {
            case .receiveBuffer: "receive-buffer 2KiB"
            case .sendBuffer: "send-buffer 2KiB"
            case .noDelayOff: "nodelay off"
            }
        }

        /// Returns the option in the form that the parser creates from ``text``.
        func option(at span: SourceSpan) -> SocketOption {
            switch self {
            case .receiveBuffer: .receiveBuffer(Expression(.integer(2048), span: span))
            case .sendBuffer: .sendBuffer(Expression(.integer(2048), span: span))
            case .noDelayOff: .noDelay(false)
            }
        }

        /// Returns whether an option of the script controls the same setting as this option.
        func isSet(by option: SocketOption) -> Bool {
            switch (self, option) {
            case (.receiveBuffer, .receiveBuffer), (.sendBuffer, .sendBuffer), (.noDelayOff, .noDelay): true
            default: false
            }
        }
    }
}
