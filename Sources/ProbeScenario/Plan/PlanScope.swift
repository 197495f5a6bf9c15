/// What is known of the names of a header while its cases are made, in levels: what all cases have in common, then what each
/// `each` adds.
struct PlanLevel {
    var values: [String: Value] = [:]
    /// The lengths of `let`s that are left to the run, since they are large.
    var lengths: [String: Int] = [:]
}

/// The names of a header at one place of the expansion.
struct PlanScope: EvaluationScope {
    let levels: [PlanLevel]
    /// Large values that are in memory for a moment.
    var large: [String: Value] = [:]
    let loader: FileLoader
    /// How deep the levels are that values were taken from.
    let depth = Depth()

    final class Depth {
        var deepest = 0
    }

    func value(of name: String) -> Value? {
        for (number, level) in levels.enumerated().reversed() {
            guard let value = level.values[name] else { continue }
            depth.deepest = max(depth.deepest, number)
            return value
        }
        guard let value = large[name] else { return nil }
        // Which level it was made of is not known.
        depth.deepest = levels.count
        return value
    }

    func property(_ property: String, of actor: String) -> [UInt8]? { nil }
    func contents(of file: ScriptFile) throws(LoadError) -> [UInt8] { try loader(file) }

    /// What a name holds, without the bytes of what is large.
    func folded(_ name: String) -> ConstantFolder.Folded? {
        for (number, level) in levels.enumerated().reversed() {
            if let length = level.lengths[name] {
                depth.deepest = max(depth.deepest, number)
                return .bytes(length: length, nil)
            }
            let value = level.values[name]
            if value != nil { depth.deepest = max(depth.deepest, number) }
            switch value {
            case .integer(let value): return .integer(value)
            case .unsigned(let value): return .unsigned(value)
            case .bytes(let bytes): return ConstantFolder.few(bytes)
            case .pieces(let pieces): return .bytes(length: pieces.reduce(0) { $0 + $1.count }, nil)
            case .regex: return .unknown
            case nil: continue
            }
        }
        return nil
    }
}

extension Expression {
    /// Calls the closure for each variable in it; with nil for a property of an actor.
    func visitNames(_ body: (String?) -> Void) {
        switch kind {
        case .integer, .unsigned, .hex: break
        case .variable(let name): body(name)
        case .parenthesized(let inner): inner.visitNames(body)
        case .protobuf(let value): for part in value.values { part.visitNames(body) }
        case .webSocket(let value): for part in value.values { part.visitNames(body) }
        case .call(let name, let arguments):
            // The prefix of `sized` is a word and no variable.
            let values = name.value == Function.sized.rawValue ? arguments.dropFirst() : arguments[...]
            for argument in values { argument.value.visitNames(body) }
        case .multiply(let left, let right), .add(let left, let right), .subtract(let left, let right),
            .divide(let left, let right):
            left.visitNames(body)
            right.visitNames(body)
        case .string(let pieces):
            for piece in pieces {
                switch piece {
                case .text: break
                case .variable(let name): body(name.value)
                case .property: body(nil)
                }
            }
        }
    }
}

extension Value {
    /// Bytes that it keeps in memory, without what every value takes.
    package var size: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .pieces(let pieces): pieces.reduce(0) { $0 + $1.count }
        case .integer, .unsigned, .regex: 0
        }
    }
}
