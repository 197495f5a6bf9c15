/// How a direction has ended.
package enum ForwardEnd: Sendable, Equatable {
    /// The peer's FIN, forwarded.
    case fin
    /// The peer's RST, forwarded.
    case reset
    /// A FIN requested by a step; bytes in the other direction are still forwarded.
    case halfClose
    /// A FIN requested by a step; nothing is forwarded in the other direction any more.
    case close
}
