/// What the language will have and has not: the words are read, so that the message can say so.
package enum Feature: String, Sendable, CaseIterable {
    case crowd, link, requireLink, name

    /// As it is written in a script.
    package var title: String {
        switch self {
        case .requireLink: "`require link`"
        case .crowd, .link, .name: "`\(rawValue)`"
        }
    }
}

extension TokenCursor {
    func notBuilt(_ feature: Feature, at span: SourceSpan) {
        report(.structure(.notBuilt(feature)), at: span)
    }
}
