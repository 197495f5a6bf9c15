import ProbeBase

extension ValueChecker {
    /// The type of an expression; what is wrong inside is reported.
    func infer(_ expression: Expression) -> ValueType {
        switch expression.kind {
        case .string(let pieces):
            check(pieces)
            if pieces.contains(where: \.holdsDollar) { checkBraces(in: expression.span) }
            return .bytes
        case .integer, .unsigned: return .integer
        case .hex: return .bytes
        case .webSocket(let value):
            checkWebSocket(value)
            return .bytes
        case .protobuf(let value): return infer(value)
        case .variable(let name): return names.lookUp(Name(name, expression.span))
        case .parenthesized(let inner):
            let type = infer(inner)
            return type == .pieces ? .bytes : type
        case .call(let name, let arguments): return inferCall(name, arguments, expression)
        case .add(let left, let right): return inferSum(left, right, expression.span)
        case .subtract(let left, let right): return inferArithmetic("-", left, right)
        case .divide(let left, let right): return inferArithmetic("/", left, right)
        case .multiply(let left, let right):
            let type = infer(left)
            requireIntegerType(right)
            switch type {
            case .integer: return .integer
            case .any: return .any
            case .regex:
                names.report(.mayBeRegex(context.sources.shown(left)), at: left.span)
                return .any
            case .bytes, .pieces: return .bytes
            }
        }
    }

    private func requireIntegerType(_ expression: Expression) {
        switch infer(expression) {
        case .bytes, .pieces:
            names.report(.bytesAsInteger(context.sources.shown(expression)), at: expression.span)
        case .regex: names.report(.mayBeRegex(context.sources.shown(expression)), at: expression.span)
        case .integer, .any: break
        }
    }

    private func inferSum(_ left: Expression, _ right: Expression, _ span: SourceSpan) -> ValueType {
        let first = infer(left)
        let second = infer(right)
        for (type, part) in [(first, left), (second, right)] where type == .regex {
            names.report(.mayBeRegex(context.sources.shown(part)), at: part.span)
            return .any
        }
        switch (first, second) {
        case (.integer, .integer): return .integer
        case (.integer, .bytes), (.integer, .pieces), (.bytes, .integer), (.pieces, .integer):
            names.report(
                .mixedTypes, "a number and bytes are added here",
                hint: "write \"${n}\" for the decimal text of a number, int(…) for the number in a text", at: span)
            return .any
        case (.any, .any), (.any, .integer), (.integer, .any): return .any
        default: return .bytes
        }
    }

    private func inferArithmetic(_ sign: String, _ left: Expression, _ right: Expression) -> ValueType {
        for part in [left, right] {
            switch infer(part) {
            case .bytes, .pieces, .regex:
                names.report(
                    .wrongType, "`\(sign)` is for numbers, and this is bytes",
                    hint: "int(…) reads decimal text as a number", at: part.span)
            case .integer, .any: break
            }
        }
        return .integer
    }

    // MARK: Calls

    private func inferCall(_ name: Name, _ arguments: [Expression.Argument], _ expression: Expression) -> ValueType {
        guard let function = Function(rawValue: name.value) else { return .any }
        for argument in arguments {
            if let label = argument.label, function != .random || label.value != "seed" {
                names.report(
                    .argumentCount, "\(name.value)(…) has no argument `\(label.value)`",
                    hint: "for example \(Function(rawValue: name.value)?.example ?? name.value)", at: label.span)
            }
        }
        func takes(_ count: Int, _ what: String) -> Bool {
            if arguments.count == count { return true }
            names.report(
                .argumentCount, "\(name.value)(…) takes \(what)", hint: "for example \(function.example)",
                at: expression.span)
            return false
        }
        if function.integerFormat != nil {
            if takes(1, "one number") { requireIntegerType(arguments[0].value) }
            return .bytes
        }
        switch function {
        case .base64, .line:
            if takes(1, "one value") { requireBytesType(arguments[0].value) }
        case .len, .int:
            if takes(1, "one value") {
                let type = infer(arguments[0].value)
                if type == .regex {
                    names.report(
                        .mayBeRegex(context.sources.shown(arguments[0].value)), at: arguments[0].value.span)
                }
                if function == .len, type == .integer {
                    names.report(
                        .integerAsBytes(context.sources.shown(arguments[0].value)), at: arguments[0].value.span)
                }
            }
            return .integer
        case .lines:
            if arguments.isEmpty { _ = takes(1, "at least one value") }
            for argument in arguments { requireBytesType(argument.value) }
        case .file: if takes(1, "one path") { checkPath(arguments[0].value) }
        case .random:
            guard arguments.count == 2, arguments[1].label?.value == "seed" else {
                names.report(
                    .argumentCount, "random(…) takes a size and a seed, so that each run sends the same",
                    hint: "for example random(64KiB, seed 7)", at: expression.span)
                return .bytes
            }
            for argument in arguments { requireIntegerType(argument.value) }
        case .sized:
            if takes(2, "a length prefix and a value") {
                if case .variable(let word) = arguments[0].value.kind, IntegerFormat(rawValue: word) != nil {
                    requireBytesType(arguments[1].value)
                } else {
                    names.report(
                        .argumentCount,
                        "\(Escaped.quoted(context.sources.shown(arguments[0].value))) is no length prefix",
                        hint: "sized takes u8, u16, u32, u64 or varint, and a value: sized(u16, \"text\")",
                        at: arguments[0].value.span)
                }
            }
        default:
            names.report(
                .cutsMisplaced, "cuts(…) is every way to cut a value: it stands in `each` alone",
                hint: "write each piece = cuts(V) in the header, and send piece here", at: expression.span)
        }
        return .bytes
    }

    /// Numbers within their ranges, bytes where bytes stand.
    private func checkWebSocket(_ value: WebSocketExpression) {
        var payloads = value.arguments[...]
        switch value.kind {
        case .close: if let code = payloads.popFirst() { requireInteger(code, "a close code", 0, 65_535) }
        case .frame: if let opcode = payloads.popFirst() { requireInteger(opcode, "an opcode", 0, 15) }
        case .text, .binary, .ping, .pong, .accept: break
        }
        for payload in payloads { requireBytesType(payload) }
        if let reserved = value.reserved { requireInteger(reserved, "rsv", 0, 7) }
        if let opcode = value.opcode { requireInteger(opcode, "an opcode", 0, 15) }
        if let length = value.length { requireInteger(length, "a stated length", 0, Int.max) }
        if let form = value.lengthForm { requireIntegerType(form) }
        if case .key(let key) = value.mask { requireBytesType(key) }
    }

    private func requireBytesType(_ expression: Expression) {
        switch infer(expression) {
        case .integer: names.report(.integerAsBytes(context.sources.shown(expression)), at: expression.span)
        case .regex: names.report(.mayBeRegex(context.sources.shown(expression)), at: expression.span)
        case .bytes, .pieces, .any: break
        }
    }

    private func checkPath(_ path: Expression) {
        requireBytesType(path)
        guard case .string(let pieces) = path.kind, pieces.count == 1, case .text(let bytes) = pieces[0] else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        if !ScriptPath.staysInside(text) { names.report(.outsideFolder(text), at: path.span) }
    }
}

extension Diagnostic.Message {
    static func bytesAsInteger(_ text: String) -> Self {
        Self(
            .wrongType, "\(text) is bytes, and a number is meant",
            hint: "int(…) reads decimal text as a number, len(…) counts bytes")
    }

    static func mayBeRegex(_ text: String) -> Self {
        Self(
            .wrongType, "\(text) may be a regex, and a value is meant",
            hint: "a regex of a table stands behind expect line, expect message and matches")
    }

    static func outsideFolder(_ path: String) -> Self {
        Self(
            .outsideFolder, "\(Escaped.quoted(path)) is outside the script's folder",
            hint: "copy the file next to the script, or below it")
    }
}
