/// The known values of the names of a header, at one level of the case expansion. The first level contains what all
/// cases share, and each `each` adds a level.
struct PlanLevel {
    var values: [String: Value] = [:]
    /// The lengths of the `let` values that the run computes because they are large.
    var lengths: [String: Int] = [:]
}

/// The names of a header at one point in the expansion.
struct PlanScope: EvaluationScope {
    let levels: [PlanLevel]
    /// Large values that are kept in memory only temporarily.
    var large: [String: Value] = [:]
    let loader: FileLoader
    /// The deepest level from which a value was taken.
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
        // The level that the value depends on is unknown, so the deepest level is assumed.
        depth.deepest = levels.count
        return value
    }

    func property(_ property: String, of actor: String) -> [UInt8]? { nil }
    func contents(of file: ScriptFile) throws(LoadError) -> [UInt8] { try loader(file) }

    /// Returns the value of a name, or only the length of a large value; `nil` if the value is not known.
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
    /// Calls the closure for each variable in the expression, and with `nil` for each property of an actor.
    func visitNames(_ body: (String?) -> Void) {
        switch kind {
        case .integer, .unsigned, .hex: break
        case .variable(let name): body(name)
        case .parenthesized(let inner): inner.visitNames(body)
        case .protobuf(let value): for part in value.values { part.visitNames(body) }
        case .webSocket(let value): for part in value.values { part.visitNames(body) }
        case .call(let name, let arguments):
            // The prefix of `sized` is a keyword rather than a variable.
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
    /// The number of bytes that the value occupies in memory, excluding the fixed size of every value.
    package var size: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .pieces(let pieces): pieces.reduce(0) { $0 + $1.count }
        case .integer, .unsigned, .regex: 0
        }
    }
}
