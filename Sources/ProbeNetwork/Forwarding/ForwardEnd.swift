/// How the bytes of a direction have ended.
package enum ForwardEnd: Sendable, Equatable {
    /// The peer's FIN, passed on.
    case fin
    /// The peer's RST, passed on.
    case reset
    /// Asked for: a FIN; what comes back is still passed on.
    case halfClose
    /// Asked for: a FIN, and nothing comes back.
    case close
}
