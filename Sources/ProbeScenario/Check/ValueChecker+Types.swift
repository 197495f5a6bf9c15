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
                names.report(.value(.regexAsBytes(context.sources.shown(left))), at: left.span)
                return .any
            case .bytes, .pieces: return .bytes
            }
        }
    }

    private func requireIntegerType(_ expression: Expression) {
        switch infer(expression) {
        case .bytes, .pieces:
            names.report(.value(.bytesAsInteger(context.sources.shown(expression))), at: expression.span)
        case .regex: names.report(.value(.regexAsInteger(context.sources.shown(expression))), at: expression.span)
        case .integer, .any: break
        }
    }

    private func inferSum(_ left: Expression, _ right: Expression, _ span: SourceSpan) -> ValueType {
        let first = infer(left)
        let second = infer(right)
        for (type, part) in [(first, left), (second, right)] where type == .regex {
            names.report(.value(.regexAsBytes(context.sources.shown(part))), at: part.span)
            return .any
        }
        switch (first, second) {
        case (.integer, .integer): return .integer
        case (.integer, .bytes), (.integer, .pieces), (.bytes, .integer), (.pieces, .integer):
            names.report(.value(.mixedSum), at: span)
            return .any
        case (.any, .any), (.any, .integer), (.integer, .any): return .any
        default: return .bytes
        }
    }

    private func inferArithmetic(_ sign: String, _ left: Expression, _ right: Expression) -> ValueType {
        for part in [left, right] {
            switch infer(part) {
            case .bytes, .pieces, .regex: names.report(.value(.arithmeticOnBytes(sign)), at: part.span)
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
                names.report(.value(.unknownLabel(label.value, function: name.value)), at: label.span)
            }
        }
        func takes(_ count: Int, _ what: String) -> Bool {
            if arguments.count == count { return true }
            names.report(
                .value(.argumentCount(name.value, takes: what, example: function.example)), at: expression.span)
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
                        .value(.regexAsBytes(context.sources.shown(arguments[0].value))), at: arguments[0].value.span)
                }
                if function == .len, type == .integer {
                    names.report(
                        .value(.integerAsBytes(context.sources.shown(arguments[0].value))), at: arguments[0].value.span)
                }
            }
            return .integer
        case .lines:
            if arguments.isEmpty { _ = takes(1, "at least one value") }
            for argument in arguments { requireBytesType(argument.value) }
        case .file: if takes(1, "one path") { checkPath(arguments[0].value) }
        case .random:
            guard arguments.count == 2, arguments[1].label?.value == "seed" else {
                names.report(.value(.randomNeedsSeed), at: expression.span)
                return .bytes
            }
            for argument in arguments { requireIntegerType(argument.value) }
        case .sized:
            if takes(2, "a length prefix and a value") {
                if case .variable(let word) = arguments[0].value.kind, IntegerFormat(rawValue: word) != nil {
                    requireBytesType(arguments[1].value)
                } else {
                    names.report(
                        .value(.sizedFormat(context.sources.shown(arguments[0].value))), at: arguments[0].value.span)
                }
            }
        default: names.report(.value(.cutsOutsideEach), at: expression.span)
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
        case .integer: names.report(.value(.integerAsBytes(context.sources.shown(expression))), at: expression.span)
        case .regex: names.report(.value(.regexAsBytes(context.sources.shown(expression))), at: expression.span)
        case .bytes, .pieces, .any: break
        }
    }

    private func checkPath(_ path: Expression) {
        requireBytesType(path)
        guard case .string(let pieces) = path.kind, pieces.count == 1, case .text(let bytes) = pieces[0] else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        if !ScriptPath.staysInside(text) { names.report(.value(.outsideFolder(text)), at: path.span) }
    }
}
