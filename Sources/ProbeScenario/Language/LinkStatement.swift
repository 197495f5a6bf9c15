package import ProbeBase

/// The declaration `link S <-> T`, in the header: two networks that are connected by a wire.
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

/// The address family of a server that listens on its side of a link: `on link`, `on [link6]`.
package enum LinkFamily: Sendable {
    case ipv4, ipv6
}

/// `link S -> T drop data 3`: a step that determines what happens to packets.
package struct LinkStep: Sendable {
    package var from: Name
    package var to: Name
    /// Whether the step applies to packets in both directions (`<->`).
    package var isBothWays: Bool
    package var action: LinkCommand<Parsed>

    package init(from: Name, to: Name, isBothWays: Bool, action: LinkCommand<Parsed>) {
        self.from = from
        self.to = to
        self.isBothWays = isBothWays
        self.action = action
    }
}

/// The stage of statements that have been parsed from a script.
package enum Parsed: StatementStage {
    package typealias Number = Expression
    package typealias Bytes = Expression
    package typealias Seed = Expression?
    package typealias Ordinals = PacketOrdinals
    package typealias HeaderFraming = Void
}

/// The numbers of the selected packets, and the place of this selection in the script.
package struct PacketOrdinals: Sendable {
    package enum Kind: Sendable {
        case one(Expression)
        case range(Expression, Expression)
        case all
    }

    package var kind: Kind
    package var span: SourceSpan

    package init(kind: Kind, span: SourceSpan) { (self.kind, self.span) = (kind, span) }

    package var isAll: Bool { if case .all = kind { true } else { false } }
}
