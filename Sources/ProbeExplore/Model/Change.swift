import ProbeScenario

/// One change to how a stream travels. The bytes of the stream stay the same, so a correct program can't tell the
/// difference.
package enum Change: Hashable, Sendable {
    /// The send with this number leaves in two parts; the second one begins at the offset.
    case cut(send: Int, at: Int)
    /// Two neighbouring sends of one endpoint leave as one piece, at the place of the first.
    case join(first: Int, second: Int)
    /// With TLS, a send leaves in records of this number of plaintext bytes.
    case records(send: Int, size: Int)
    /// The FIN leaves with the last segment of a send. The step is either the half-close that follows, which is left
    /// out, or the close, which stays.
    case fin(send: Int, end: Int)
    /// An option of an endpoint, as if it were part of the declaration.
    case option(actor: String, SmallOption)
    /// An endpoint reads this number of bytes per millisecond, starting before the step that connects or accepts.
    case slowReading(actor: String, step: Int, bytes: Int)

    /// The number of the first step that the change affects; `nil` if it affects an endpoint.
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

        /// The option in the script's notation.
        package var text: String {
            switch self {
            case .receiveBuffer: "receive-buffer 2KiB"
            case .sendBuffer: "send-buffer 2KiB"
            case .noDelayOff: "nodelay off"
            }
        }

        /// Returns the option as the parser would produce it from ``text``.
        func option(at span: SourceSpan) -> SocketOption {
            switch self {
            case .receiveBuffer: .receiveBuffer(Expression(.integer(2048), span: span))
            case .sendBuffer: .sendBuffer(Expression(.integer(2048), span: span))
            case .noDelayOff: .noDelay(false)
            }
        }

        /// Returns whether an option of a script controls the same setting.
        func isSet(by option: SocketOption) -> Bool {
            switch (self, option) {
            case (.receiveBuffer, .receiveBuffer), (.sendBuffer, .sendBuffer), (.noDelayOff, .noDelay): true
            default: false
            }
        }
    }
}
