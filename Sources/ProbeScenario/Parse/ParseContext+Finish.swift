extension ParseContext {
    /// The checks that need all files, and the values of `--set`.
    func finish(settings: [String: [UInt8]]) {
        let start = SourceSpan(file: 0, start: 0, end: 0)
        guard let firstStatement else {
            if !diagnostics.hasErrors { diagnostics.add(.structure(.emptyScript), at: start) }
            return
        }
        if let titleStatement {
            if titleStatement != firstStatement {
                let note = Diagnostic.Note("the title is here", span: titleStatement)
                diagnostics.add(.structure(.scenarioNotFirst), at: firstStatement, notes: [note])
            }
        } else {
            diagnostics.add(.structure(.missingScenario), at: firstStatement)
        }
        if scenario.steps.isEmpty, !diagnostics.hasErrors {
            diagnostics.add(.structure(.noSteps), at: scenario.title.span)
        }
        apply(settings)
    }

    private func apply(_ settings: [String: [UInt8]]) {
        let names = scenario.constants.map(\.name.value)
        for (name, bytes) in settings.sorted(by: { $0.key < $1.key }) {
            guard let index = names.firstIndex(of: name) else {
                diagnostics.add(.structure(.unknownSetting(name, names)), at: scenario.title.span)
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
