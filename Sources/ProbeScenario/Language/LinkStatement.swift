/// `link S <-> T`, in the header: two networks, and a wire between them.
package struct LinkDeclaration: Sendable {
    package var left: [Name]
    package var right: [Name]
    package var span: SourceSpan

    package init(left: [Name], right: [Name], span: SourceSpan) {
        self.left = left
        self.right = right
        self.span = span
    }

    package var names: [Name] { left + right }
}

/// Which address of its side of a link a server has: `on link`, `on [link6]`.
package enum LinkFamily: Sendable {
    case ipv4, ipv6
}

/// `link S -> T drop data 3`: what becomes of packets.
package struct LinkStep: Sendable {
    package var from: Name
    package var to: Name
    /// `<->`: the packets of both are meant.
    package var isBothWays: Bool
    package var action: LinkAction

    package init(from: Name, to: Name, isBothWays: Bool, action: LinkAction) {
        self.from = from
        self.to = to
        self.isBothWays = isBothWays
        self.action = action
    }
}

/// Which packets of a direction, counted from the step on.
package struct PacketSelection: Sendable {
    package enum Ordinals: Sendable {
        case one(Expression)
        case range(Expression, Expression)
        case all
    }

    package var kind: PacketKind
    package var ordinals: Ordinals
    /// The next copy of it.
    package var isAgain: Bool
    package var span: SourceSpan

    package init(kind: PacketKind, ordinals: Ordinals, isAgain: Bool, span: SourceSpan) {
        self.kind = kind
        self.ordinals = ordinals
        self.isAgain = isAgain
        self.span = span
    }

    package var isAll: Bool { if case .all = ordinals { true } else { false } }
}

package enum PacketKind: String, Sendable, CaseIterable {
    case data, syn, synack, ack, fin, rst, any
}

/// What happens to the packets that a selection means.
package enum PacketFault: Sendable {
    case drop, duplicate, swap, breakChecksum, alter, hold
    case delay(Duration)
    case truncate(Expression)
}

package enum ResetPlace: Sendable {
    case now, outsideWindow
    case behind(PacketSelection)
}

package enum StrippedOption: String, Sendable, CaseIterable {
    case sack, wscale, timestamps, mss
}
