/// What a script says of names of hosts.
extension Scenario {
    /// Statements of the header and steps, wherever they stand.
    private var nameStatements: [NameStatement] {
        names + ([steps] + definitions.values.map(\.steps)).flatMap(Self.nameStatements)
    }

    private static func nameStatements(in steps: [Step]) -> [NameStatement] {
        steps.flatMap { step -> [NameStatement] in
            if case .name(let statement) = step.kind { return [statement] }
            return step.kind.blocks.flatMap { nameStatements(in: $0.steps) }
        }
    }

    /// The first statement that says what a name stands for: it takes a resolver that programs ask.
    package var firstName: SourceSpan? { nameStatements.first?.span }

    /// Whether programs in the networks of its links look names up by the run's own resolver.
    package var usesNames: Bool { firstName != nil }

    /// The actors that links and names name: what the script says of them holds only while they are there.
    package var actorsOfNetworks: Set<String> {
        var actors = Set(links.flatMap(\.names).map(\.value))
        for case .addresses(let addresses, _) in nameStatements.map(\.answer) {
            for case .actor(let name) in addresses { actors.insert(name.value) }
        }
        return actors
    }
}
