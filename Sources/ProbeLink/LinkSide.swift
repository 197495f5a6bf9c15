/// One of the two sides of a link.
package enum LinkSide: Sendable, Hashable, CaseIterable {
    case left, right

    package var opposite: LinkSide { self == .left ? .right : .left }
}

/// A value for each of the two directions or sides.
struct LinkPair<Value: Sendable>: Sendable {
    private var left: Value
    private var right: Value

    init(_ left: Value, _ right: Value) { (self.left, self.right) = (left, right) }

    subscript(side: LinkSide) -> Value {
        get { side == .left ? left : right }
        _modify {
            if side == .left { yield &left } else { yield &right }
        }
    }
}

/// The reason why a link can't be created, or can't carry out a command.
package struct LinkError: Error, Sendable, Equatable {
    package let text: String

    package init(_ text: String) { self.text = text }
}
