/// The ways in which one direction of a connection can end.
package enum ForwardEnd: Sendable, Equatable {
    /// The peer's FIN was forwarded.
    case fin
    /// The peer's RST was forwarded.
    case reset
    /// A step requested a FIN, after which bytes in the other direction are still forwarded.
    case halfClose
    /// A step requested a FIN, after which nothing is forwarded in the other direction.
    case close
}
