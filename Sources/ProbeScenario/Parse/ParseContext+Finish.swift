extension ParseContext {
    /// The checks that need all files, and the values of `--set`.
    func finish(settings: [String: [UInt8]]) {
        let start = SourceSpan(file: 0, start: 0, end: 0)
        guard let firstStatement else {
            if !diagnostics.hasErrors {
                report(
                    .emptyScript, "the script is empty", hint: "a script starts with: scenario \"what it shows\"",
                    at: start)
            }
            return
        }
        if let titleStatement {
            if titleStatement != firstStatement {
                let note = Diagnostic.Note("the title is here", span: titleStatement)
                report(
                    .scenarioNotFirst, "a script starts with its title",
                    hint: "put scenario \"what it shows\" before this", at: firstStatement, notes: [note])
            }
        } else {
            report(
                .missingScenario, "the scenario has no title",
                hint: "the first statement is: scenario \"what it shows\"", at: firstStatement)
        }
        if scenario.steps.isEmpty, !diagnostics.hasErrors {
            report(
                .emptyScript, "the scenario has no steps: nothing would be tested",
                hint: "behind the actors comes what they do: S accept", at: scenario.title.span)
        }
        apply(settings)
    }

    private func apply(_ settings: [String: [UInt8]]) {
        let names = scenario.constants.map(\.name.value)
        for (name, bytes) in settings.sorted(by: { $0.key < $1.key }) {
            guard let index = names.firstIndex(of: name) else {
                report(.unknownSetting(name, names), at: scenario.title.span)
                continue
            }
            let old = scenario.constants[index].value
            if integerNames.contains(name), let number = Int(String(decoding: bytes, as: UTF8.self)) {
                scenario.constants[index].value = Expression(.integer(number), span: old.span)
            } else {
                scenario.constants[index].value = Expression(.string([.text(bytes)]), span: old.span)
            }
        }
    }
}

extension Diagnostic.Message {
    static func unknownSetting(_ name: String, _ names: [String]) -> Self {
        Self(
            .unknownSetting, "this scenario has no `let \(name)` that could be set",
            hint: names.isEmpty ? "write let \(name) = … before the first step" : didYouMean(name, names, "there are"))
    }
}
