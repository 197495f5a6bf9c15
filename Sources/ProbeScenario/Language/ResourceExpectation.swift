package import ProbeBase

/// The resources used by a program and its descendants. The program is a `process`, or the program of a subject's
/// adapter.
package struct ResourceExpectation: Sendable {
    package enum Resource: String, Sendable, CaseIterable {
        case descriptors, threads, memory
        /// Processor time.
        case cpu
    }

    package enum Wanted: Sendable {
        case amount(Comparison, Expression)
        /// Compares processor time (``Resource/cpu``).
        case time(Comparison, Duration)
        /// Binds the current amount: `as n`.
        case any(as: Name)
    }

    package var resource: Resource
    package var wanted: Wanted
}

// MARK: The table

extension ResourceExpectation {
    /// Returns the phrases for a kind of program.
    ///
    /// - Parameters:
    ///   - whose: a phrase that describes the program in the reference.
    ///   - start: a noun phrase for the event from which the first step measures processor time.
    static func phrases(
        of whose: String, since start: String, after preparation: String?
    ) -> [Phrase<ExpectationParser, ResourceExpectation>] {
        Resource.allCases.map { resource in
            let name = resource.rawValue
            let example = "expect \(name) <= \(resource.sample)"
            let entry = LanguageEntry(
                name, [example, "expect \(name) as n"], resource.meaning(whose, since: start), example: example,
                after: preparation, timing: resource == .cpu ? .lookAtOnce : .amount)
            return Phrase(entry, when: { $0.isCompared || $0.isNamed }) { parser throws(Abandoned) in
                if let name = try parser.parseAs() {
                    return ResourceExpectation(resource: resource, wanted: .any(as: name))
                }
                if resource == .cpu {
                    let (comparison, time) = try parser.values.parseTimeComparison(
                        example, usual: .lessOrEqual)
                    return ResourceExpectation(resource: resource, wanted: .time(comparison, time))
                }
                let (comparison, value) = try parser.values.parseComparison(example)
                return ResourceExpectation(resource: resource, wanted: .amount(comparison, value))
            }
        }
    }

    var values: [ValueCheck] {
        if case .amount(_, let value) = wanted { [.integer(value, "the limit", 0...Int.max)] } else { [] }
    }

    var bindings: Bindings {
        if case .any(let name) = wanted { Bindings(name: name, type: .integer) } else { Bindings() }
    }
}

extension ResourceExpectation.Resource {
    fileprivate var sample: String {
        switch self {
        case .descriptors, .threads: "100"
        case .memory: "64MiB"
        case .cpu: "100ms"
        }
    }

    fileprivate func meaning(_ whose: String, since start: String) -> String {
        switch self {
        case .descriptors:
            "compares the total number of open descriptors in \(whose) with the given number. The step waits until the comparison is true; `as n` binds the current number"
        case .threads:
            "compares the total number of threads in \(whose) with the given number. The step waits until the comparison is true; `as n` binds the current number"
        case .memory:
            "compares the total resident memory of \(whose), in bytes, with the given size. The step waits until the comparison is true; `as n` binds the current value"
        case .cpu:
            "compares the total processor time used by \(whose) with the given time. The time is measured from the previous `cpu` step or, for the first `cpu` step, from \(start); `as n` binds the time in microseconds"
        }
    }
}
