/// What the language will have and has not: the words are read, so that the message can say so.
package enum Feature: String, Sendable, CaseIterable {
    case crowd

    /// As it is written in a script.
    package var title: String {
        "`\(rawValue)`"
    }
}

extension TokenCursor {
    func notBuilt(_ feature: Feature, at span: SourceSpan) {
        report(.structure(.notBuilt(feature)), at: span)
    }
}
