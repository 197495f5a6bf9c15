import ProbeScenario

/// One change of how a stream travels. The bytes of the stream stay as they are, so a correct program can't tell the difference.
package enum Change: Hashable, Sendable {
    /// The send with this number leaves in two parts; the second one begins at the offset.
    case cut(send: Int, at: Int)
    /// Two neighbouring sends of one endpoint leave as one piece, at the place of the first.
    case join(first: Int, second: Int)
    /// With TLS: a send leaves in records of so many bytes of plaintext.
    case records(send: Int, size: Int)
    /// The FIN leaves with the last segment of a send; the step is the half-close behind it, which is left out, or the close, which stays.
    case fin(send: Int, end: Int)
    /// An option of an endpoint, as if its declaration had it.
    case option(actor: String, SmallOption)
    /// An endpoint reads so many bytes each millisecond, from before the step that connects or accepts.
    case slowReading(actor: String, step: Int, bytes: Int)

    /// The number of the step that it changes first; nil: it changes an endpoint.
    package var step: Int? {
        switch self {
        case .cut(let step, _), .join(let step, _), .records(let step, _), .fin(let step, _): step
        case .slowReading(_, let step, _): step
        case .option: nil
        }
    }

    /// Options that make the other side wait more often.
    package enum SmallOption: Hashable, Sendable, CaseIterable {
        case receiveBuffer, sendBuffer, noDelayOff

        /// As a script says it.
        package var text: String {
            switch self {
            case .receiveBuffer: "receive-buffer 2KiB"
            case .sendBuffer: "send-buffer 2KiB"
            case .noDelayOff: "nodelay off"
            }
        }

        /// The option as the parser makes it of the text.
        func option(at span: SourceSpan) -> SocketOption {
            switch self {
            case .receiveBuffer: .receiveBuffer(Expression(.integer(2048), span: span))
            case .sendBuffer: .sendBuffer(Expression(.integer(2048), span: span))
            case .noDelayOff: .noDelay(false)
            }
        }

        /// Whether an option of a script sets the same thing.
        func isSet(by option: SocketOption) -> Bool {
            switch (self, option) {
            case (.receiveBuffer, .receiveBuffer), (.sendBuffer, .sendBuffer), (.noDelayOff, .noDelay): true
            default: false
            }
        }
    }
}
