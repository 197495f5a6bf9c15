import ProbeBase

/// Checks, as far as possible before the run, that each value has the type that its context requires and is within
/// bounds.
final class ValueChecker {
    let names: NameScope
    var context: ParseContext { names.context }
    /// Whether the value being checked is in a `process` line, where `${dir}` is allowed.
    var isInProcessLine = false

    /// The addresses that the script may use; `nil` allows any address.
    private let targets: AllowedTargets?

    init(_ names: NameScope, allowing targets: AllowedTargets? = nil) {
        self.names = names
        self.targets = targets
    }

    func report(_ folded: ConstantFolder.Folded) {
        if case .wrong(let error) = folded { names.report(.evaluation(error.reason), at: error.span) }
    }

    /// Requires a value of any type except a regex, and returns the type.
    @discardableResult
    func requireNoRegex(_ value: Expression) -> ValueType {
        let type = infer(value)
        if type == .regex { names.report(.mayBeRegex(context.sources.shown(value)), at: value.span) }
        return type
    }

    // MARK: Required types

    /// Requires bytes, and returns what is known about them.
    @discardableResult
    func requireBytes(_ expression: Expression) -> ConstantFolder.Folded {
        switch infer(expression) {
        case .integer: names.report(.integerAsBytes(context.sources.shown(expression)), at: expression.span)
        case .regex: names.report(.mayBeRegex(context.sources.shown(expression)), at: expression.span)
        case .bytes, .pieces, .any:
            let folded = names.constants.fold(expression)
            report(folded)
            return folded
        }
        return .unknown
    }

    /// Requires an integer within these bounds.
    func requireInteger(_ expression: Expression, _ what: String = "", _ low: Int = Int.min, _ high: Int = Int.max) {
        switch infer(expression) {
        case .bytes, .pieces:
            names.report(.bytesAsInteger(context.sources.shown(expression)), at: expression.span)
        case .regex: names.report(.mayBeRegex(context.sources.shown(expression)), at: expression.span)
        case .integer, .any:
            let folded = names.constants.fold(expression)
            report(folded)
            if case .unsigned(let value) = folded {
                names.report(.evaluation(.tooLargeInteger(value)), at: expression.span)
                return
            }
            guard case .integer(let value) = folded else {
                if low > Int.min || high < Int.max {
                    context.scenario.integerRanges[expression.span] = IntegerRange(what: what, values: low...high)
                }
                return
            }
            if value < low || value > high {
                names.report(.outOfRange(what, value, low, high), at: expression.span)
            }
        }
    }

    /// Requires bytes, or a table cell that contains a regex.
    func requirePattern(_ pattern: Pattern, allowsEmpty: Bool = true) {
        switch pattern {
        case .any: break
        case .regex(let literal): check(literal)
        case .value(let expression):
            let type = infer(expression)
            if type == .integer {
                names.report(.integerAsBytes(context.sources.shown(expression)), at: expression.span)
            }
            let folded = names.constants.fold(expression)
            report(folded)
            if !allowsEmpty, folded.length == 0 { names.report(.emptyExpected, at: expression.span) }
        }
    }

    func check(_ address: AddressExpression, for purpose: AllowedTargets.Purpose) {
        if let unix = address.unix {
            if case .path(let path) = unix { requireBytes(path) }
            return
        }
        if address.hostName != nil { return checkPort(of: address) }
        // If the port can't be computed before the run, it is checked during the run, once its value is known.
        var port: UInt16? = address.port == nil ? 0 : nil
        if let expression = address.port {
            requireInteger(expression, "the port", 1, 65_535)
            if case .integer(let value) = names.constants.fold(expression) { port = UInt16(exactly: value) }
        }
        if let refusal = targets?.refusal(of: address.host, port: port, for: purpose) {
            names.report(.targetNotAllowed, refusal.text, hint: refusal.hint, at: address.span)
        }
    }

    /// Checks the port of an actor on a link. Every port is available, because the link's network is private.
    func checkPort(of address: AddressExpression) {
        if let port = address.port { requireInteger(port, "the port", 1, 65_535) }
    }

    func check(_ option: SocketOption) {
        switch option {
        case .receiveBuffer(let size): requireInteger(size, "the buffer size", 1, 1 << 30)
        case .sendBuffer(let size): requireInteger(size, "the buffer size", 1, 1 << 30)
        case .noDelay, .keepAlive, .keepAliveEvery: break
        }
    }

    /// Requires the bounds of a range, with the lower bound first.
    func requireRange(_ first: Expression, _ last: Expression) {
        requireInteger(first)
        requireInteger(last)
        if case .integer(let low) = names.constants.fold(first), case .integer(let high) = names.constants.fold(last),
            low > high
        {
            names.report(.emptyRange(low, high), at: first.span.joined(with: last.span))
        }
    }
}

extension Diagnostic.Message {
    static func emptyRange(_ first: Int, _ last: Int) -> Self {
        Self(
            .emptyRange, "the range \(first)..\(last) is empty, so nothing would run",
            hint: "write the smaller number first; a range such as `1..13` includes both ends")
    }

    static func outOfRange(_ what: String, _ value: Int, _ low: Int, _ high: Int) -> Self {
        Self(
            .outOfRange,
            high == Int.max
                ? "\(what) must be at least \(low), not \(value)"
                : "\(what) must be between \(low) and \(high), not \(value)")
    }

    static func evaluation(_ reason: EvaluationError.Reason) -> Self {
        Self(reason.id, reason.text, hint: reason.hint)
    }
}

/// Checks the values of actions, expectations and wire statements.
extension ValueChecker {
    /// Checks one value.
    ///
    /// - Parameter step: the step; `nil` if its actor is unknown.
    func check(_ value: ValueCheck, _ step: Step?) {
        switch value {
        case .integer(let value, let what, let range): requireInteger(value, what, range.lowerBound, range.upperBound)
        case .bytes(let value): requireBytes(value)
        case .nonEmptyBytes(let value):
            if requireBytes(value).length == 0 { names.report(.emptyExpected, at: value.span) }
        case .name(let value, let what, let range):
            if let length = requireBytes(value).length, !range.contains(length) {
                names.report(
                    length == 0 ? .emptyValue : .outOfRange,
                    "\(what) must be \(range.lowerBound) to \(range.upperBound) bytes long, not \(length)",
                    hint: length == 0 ? "remove the option if it has no value" : nil, at: value.span)
            }
        case .expectedBytes(let value): requireExpected(value)
        case .unframedBytes(let value):
            if context.scenario.framing != .none {
                names.report(
                    .unknownExpectation, "a subject delivers lines or messages, not bytes",
                    hint: "use `expect line \"text\"` or `expect message \"text\"`; bytes require `framing none`",
                    at: value.span)
            }
        case .delimiter(let value):
            if requireBytes(value).length == 0 {
                names.report(
                    .emptyValue, "the delimiter is empty", hint: "write, for example, `expect until \"\\0\" as x`",
                    at: value.span)
            }
        case .pattern(let pattern, let allowsEmpty): requirePattern(pattern, allowsEmpty: allowsEmpty)
        case .regex(let literal): check(literal)
        case .reason(let reason, let choices, let what): check(reason, choices, what, step)
        case .address(let address): check(address, for: .connecting)
        case .option(let option): check(option)
        case .send(let statement, let kind): check(statement, kind)
        case .offsets(let offsets): checkOffsets(offsets, of: nil)
        }
    }

    private func requireExpected(_ value: Expression) {
        if case .integer = value.kind {
            names.report(.countAsBytes(context.sources.shown(value)), at: value.span)
        } else if requireBytes(value).length == 0 {
            names.report(.emptyExpected, at: value.span)
        }
    }

    private func check(_ reason: String, _ choices: [String], _ what: String, _ step: Step?) {
        guard !choices.contains(reason), let step else { return }
        var place = context.sources.clause(reason, of: step)
        place.end = min(place.end, place.start + reason.utf8.count)
        names.report(.unknownWord(reason, what: what, choices: choices), at: place)
    }

    // MARK: Sends

    private func check(_ statement: SendStatement, _ kind: ActorKind) {
        var total: Int? = 0
        for piece in statement.pieces {
            let length = requireBytes(piece).length
            total = length.flatMap { length in total.map { $0 + length } }
            if length == 0, statement.pieces.count > 1, statement.mode != .line {
                names.report(.emptySend, at: piece.span)
            }
        }
        let all = statement.pieces[0].span.joined(with: statement.pieces[statement.pieces.count - 1].span)
        if statement.mode == .bytes, total == 0, statement.pieces.count == 1, kind != .subject {
            names.report(.emptySend, at: all)
        }
        if statement.mode == .urgent, let total, total != 1 {
            names.report(
                .outOfRange, "exactly 1 byte can be sent out-of-band, not \(total)",
                hint: "write `send urgent \"!\"`, and send other bytes normally before it", at: all)
        }
        if statement.mode == .line {
            total = names.constants.framing?.terminator.flatMap { terminator in total.map { $0 + terminator.count } }
        }
        if let length = statement.recordLength { requireInteger(length, "the size of a record", 1, 16_384) }
        // With TLS, offsets count bytes on the wire, so the length of the plaintext does not limit them.
        if names.sendsRecords, statement.mode != .plaintext { total = nil }
        switch statement.cut {
        case .at(let offsets): checkOffsets(offsets, of: total)
        case .random(let seed): requireInteger(seed)
        case .inPieces(let size): requireInteger(size, "the size of a piece", 1, Int.max)
        case nil: break
        }
        checkMode(statement, kind, all)
    }

    /// Checks the mode of a `send`: a subject can send only whole messages, and a process is sent the given bytes
    /// unchanged.
    private func checkMode(_ statement: SendStatement, _ kind: ActorKind, _ place: SourceSpan) {
        guard kind == .subject || kind == .process else { return }
        let isCut =
            statement.pieces.count > 1 || statement.cut != nil || statement.pace != nil || statement.recordLength != nil
            || statement.carriesFIN
        if kind == .subject, isCut || [.urgent, .plaintext].contains(statement.mode) {
            names.report(
                .unknownVerb,
                "a subject sends whole lines and messages, which can't be cut, paced or sent as urgent data",
                hint: "write `T send line \"text\"`; only servers and clients can cut and pace bytes", at: place)
        }
        if kind == .process, isCut || statement.mode != .bytes {
            names.report(
                .unknownVerb, "bytes are written to a process unchanged: they can't be cut, paced or sent as a line",
                hint: "write `P send \"text\\n\"`", at: place)
        }
    }

    private func checkOffsets(_ offsets: [Expression], of total: Int?) {
        var last = 0
        for offset in offsets {
            requireInteger(offset)
            guard case .integer(let value) = names.constants.fold(offset) else {
                last = Int.min
                continue
            }
            if value < 1 || total.map({ value >= $0 }) ?? false {
                names.report(.cutPastEnd(offset: value, length: total), at: offset.span)
            } else if last > 0, value <= last {
                names.report(
                    .cutPastEnd, "offset \(value) is not greater than the previous offset \(last)",
                    hint: "write each offset once, in ascending order", at: offset.span)
            }
            last = value
        }
    }
}

extension Diagnostic.Message {
    static func countAsBytes(_ text: String) -> Self {
        Self(
            .wrongType, "expected bytes, but `\(text)` is a number",
            hint: "write `expect \(text) bytes` for that many bytes, or `expect \"\(text)\"` for the text")
    }

    static let emptyExpected = Self(
        .emptyValue, "the expected value is empty, so this step would always pass",
        hint: "write `expect nothing for 200ms` for silence, or `expect line \"\"` for an empty line")

    static let emptySend = Self(
        .emptyValue, "there is nothing to send", hint: "remove this step, or write `send line \"\"` for an empty line")

    static func cutPastEnd(offset: Int, length: Int?) -> Self {
        guard let length else {
            return Self(.cutPastEnd, "offset \(offset) cuts nothing off", hint: "start offsets at 1")
        }
        return Self(
            .cutPastEnd, "offset \(offset) cuts nothing off a value of \(counted(length, "byte"))",
            hint: length > 1
                ? "use an offset from 1 to \(length - 1)"
                : "use a longer value: only a value of two or more bytes can be cut")
    }
}

/// Checks the two sides of a `check`.
extension ValueChecker {
    func check(_ left: Expression, _ comparison: Step.CheckOperator, _ right: Step.CheckOperand) {
        let first = requireNoRegex(left)
        report(names.constants.fold(left))
        switch right {
        case .regex(let literal):
            check(literal)
            if first == .integer { names.report(.integerAsBytes(context.sources.shown(left)), at: left.span) }
            names.bindGroups(of: literal)
        case .value(let value):
            let second = infer(value)
            report(names.constants.fold(value))
            checkOperands(left, first, comparison, value, second)
        }
    }

    private func checkOperands(
        _ left: Expression, _ first: ValueType, _ comparison: Step.CheckOperator, _ right: Expression,
        _ second: ValueType
    ) {
        switch comparison {
        case .matches:
            if second != .regex, second != .any {
                names.report(
                    .wrongType, "expected a regex, but `\(context.sources.shown(right))` is not one",
                    hint: "write `check x matches /…/`, or use a table cell that contains a regex", at: right.span)
            }
            if first == .integer { names.report(.integerAsBytes(context.sources.shown(left)), at: left.span) }
        case .contains, .lacks:
            for (type, part) in [(first, left), (second, right)] {
                if type == .integer {
                    names.report(.integerAsBytes(context.sources.shown(part)), at: part.span)
                }
                if type == .regex, part == right {
                    names.report(.mayBeRegex(context.sources.shown(part)), at: part.span)
                }
            }
            if names.constants.fold(right).length == 0 { names.report(.emptyExpected, at: right.span) }
        case .compare(let comparison):
            if second == .regex { names.report(.mayBeRegex(context.sources.shown(right)), at: right.span) }
            let isMixed =
                (first == .integer && (second == .bytes || second == .pieces))
                || (second == .integer && (first == .bytes || first == .pieces))
            if isMixed {
                names.report(
                    .mixedTypes, "a number is compared with bytes, but a number and bytes are never equal",
                    hint: "write `\"${n}\"` for the decimal text of a number, or `int(…)` to read text as a number",
                    at: left.span.joined(with: right.span))
            } else if comparison != .equal, comparison != .notEqual, first == .bytes || second == .bytes {
                names.report(
                    .wrongType, "bytes can be compared only with `==`, `!=`, `contains` and `lacks`",
                    hint: "compare lengths with `len(x) < 10`, and decimal texts with `int(x) < 10`",
                    at: left.span.joined(with: right.span))
            }
        }
    }
}

extension Diagnostic.Message {
    static func integerAsBytes(_ text: String) -> Self {
        Self(.wrongType, "expected bytes, but `\(text)` is a number", hint: bytesHint(text))
    }

    private static func bytesHint(_ text: String) -> String {
        if text.utf8.allSatisfy(\.isDigit) {
            return "write the number as text, `\"\(text)\"`, or as a byte, "
                + "`u8(\(text))`"
        }
        if text.utf8.allSatisfy({ $0.isWordCharacter || $0 == UInt8(ascii: "-") }) {
            return "write `\"${\(text)}\"` for the number's decimal text, or `u8(…)` or `u16(…)` for its bytes"
        }
        return "use `u8(…)` or `u16(…)` for the number's bytes, or `let n = \(text)` and then `\"${n}\"` for its "
            + "decimal text"
    }
}

extension ValueChecker {
    /// Returns the type of `pb(…)`, and reports errors inside it.
    func infer(_ value: ProtobufExpression) -> ValueType {
        switch value {
        case .message(let fields):
            for field in fields {
                requireInteger(field.number, "a field number", 1, ProtobufWriter.largestField)
                switch field.content {
                case .single(let scalar):
                    if scalar.format == nil { checkUnnamed(scalar.value) } else { check(scalar) }
                case .packed(let scalars): for scalar in scalars { check(scalar) }
                }
            }
            return .bytes
        case .field(let message, _):
            requireBytes(message)
            return .any
        case .number(let scalar):
            check(scalar)
            return .integer
        }
    }

    private func check(_ scalar: ProtobufExpression.Scalar) {
        switch scalar.format {
        case .sint, .int: requireInteger(scalar.value)
        case .fixed32: requireInteger(scalar.value, "a fixed32", 0, Int(UInt32.max))
        case .fixed64, nil: requireUnsigned(scalar.value, "a number")
        }
    }

    /// Requires bytes, or a number that is encoded as a varint.
    private func checkUnnamed(_ value: Expression) {
        if requireNoRegex(value) == .integer { requireUnsigned(value, "a varint") }
    }

    /// Requires an unsigned integer of at most 2^64 - 1. A script may contain such a number, but can't use it in
    /// arithmetic.
    private func requireUnsigned(_ value: Expression, _ what: String) {
        if case .unsigned = names.constants.fold(value) { return }
        requireInteger(value, what, 0)
    }
}

/// Checks the contents of strings and regexes.
extension ValueChecker {
    /// Checks the words of a `process` line.
    func check(_ command: ProcessCommand) {
        isInProcessLine = true
        for word in command.words {
            check(word.value)
            if word.value.contains(where: \.holdsDollar) { checkBraces(in: word.span) }
        }
        isInProcessLine = false
    }

    func check(_ pieces: [StringPiece]) {
        for piece in pieces {
            switch piece {
            case .text: break
            case .variable(let name):
                if name.value == "dir", isInProcessLine { continue }
                // `${ca}` is the file of the run's certificate authority, unless the script has a variable with this
                // name.
                if name.value == "ca", names.collected.variables["ca"] == nil {
                    context.scenario.namesAuthority = true
                    continue
                }
                if name.value == "dir" {
                    names.report(
                        .unknownVariable, "`${dir}` is allowed only in `process` lines",
                        hint: "use `file(\"name\")` to read a file from the script's folder", at: name.span)
                } else if names.lookUp(name, isInString: true) == .regex {
                    names.report(.mayBeRegex(name.value), at: name.span)
                }
            case .property(let actor, let property): checkProperty(actor, property)
            }
        }
    }

    /// Reports `$name` and `$S.port` in the text of a string or of a command's word, if the name has a value. In a
    /// command, `${S.port}` in single quotes is also reported.
    func checkBraces(in span: SourceSpan) {
        guard let bytes = context.sources.file(of: span)?.bytes else { return }
        var isRaw = false
        var index = span.start
        while index < min(span.end, bytes.count) {
            switch bytes[index] {
            case UInt8(ascii: "'") where isInProcessLine || index == span.start: isRaw.toggle()
            case UInt8(ascii: "\\") where !isRaw: index += 1
            case UInt8(ascii: "$") where isRaw && isInProcessLine && bytes[index...].starts(with: Self.opening):
                let start = index + Self.opening.count
                let length = bytes[start..<min(span.end, bytes.count)].prefix { $0 != UInt8(ascii: "}") }.count
                let name = bytes.text(start..<start + length)
                if isValue(name) {
                    let place = SourceSpan(file: span.file, start: index, end: min(start + length + 1, span.end))
                    names.report(
                        .missingBraces,
                        "`${\(name)}` in single quotes is passed to the program literally: no value is inserted, and a shell doesn't know the name",
                        hint:
                            "end the single quotes before it and reopen them after it: `'…'${\(name)}'…'`, or use double quotes: `\"…${\(name)}…\"`",
                        at: place)
                }
                index = start + length
            case UInt8(ascii: "$") where !isRaw && index + 1 < bytes.count && bytes[index + 1].isWordStart:
                let end = min(bytes.endOfWord(from: index + 1), span.end)
                let name = bytes.text(index + 1..<end)
                let place = SourceSpan(file: span.file, start: index, end: end)
                if let known = braced(name, at: end, in: bytes) {
                    names.report(
                        .missingBraces, "`$\(known)` is used literally; only `${\(known)}` inserts a value",
                        hint: "write `${\(known)}`, or `\\$` for a literal `$`", at: place)
                }
                index = end - 1
            default: break
            }
            index += 1
        }
    }

    private static let opening = Array("${".utf8)

    /// Returns whether a name in braces has a value in the script: an actor's property, or a variable.
    private func isValue(_ text: String) -> Bool {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return names.state.variables[text] != nil || text == "dir" }
        guard let actor = names.state.actors[parts[0]] else { return false }
        if actor.kind == .process, ActorProperty.portNumber(parts[1]) != nil { return true }
        return ActorProperty.choices(of: actor.kind).contains(parts[1])
    }

    /// Returns the variable, or the property of an actor, that was probably intended by a name without braces.
    private func braced(_ name: String, at end: Int, in bytes: [UInt8]) -> String? {
        if let known = names.state.variables[name] { return known.type == .regex ? nil : name }
        if name == "dir", isInProcessLine { return name }
        let property = ".port"
        if names.state.actors[name] != nil, end + property.utf8.count <= bytes.count,
            bytes[end...].starts(with: property.utf8)
        {
            return name + property
        }
        let short = name.prefix { $0 != "-" }
        guard short.utf8.count < name.utf8.count, names.state.variables[String(short)] != nil else { return nil }
        return String(short)
    }

    func check(_ literal: RegexLiteral) {
        check(literal.pieces)
    }

    /// Checks an interpolated property, such as `${S.port}`.
    private func checkProperty(_ name: Name, _ property: Name) {
        names.use(name.value)
        guard let known = names.state.actors[name.value] else {
            if names.place.isInHeader, names.collected.acceptedActors.contains(name.value) {
                names.reportUnbound(name)
            } else if names.state.variables[name.value] != nil, !names.isDoubtful(name.value) {
                names.report(.variableAsActor(name.value), at: name.span)
            } else if !names.isDoubtful(name.value),
                context.actorKinds[name.value] == nil || !names.place.isOrderUnknown
            {
                _ = names.actor(name)
            }
            return
        }
        if known.kind == .process {
            if let number = ActorProperty.portNumber(property.value) {
                names.usePorts(number, of: name.value)
            } else if property.value != "address" {
                names.report(
                    .unknownProperty(actor: name.value, property: property.value, ActorProperty.choices(of: .process)),
                    at: property.span)
            }
            return
        }
        let properties = ActorProperty.choices(of: known.kind)
        guard properties.contains(property.value) else {
            names.report(
                .unknownProperty(actor: name.value, property: property.value, properties),
                at: property.span)
            return
        }
        if known.kind == .crowd {
            if names.targets[name.value] != nil {
                names.report(
                    .unknownProperty,
                    "the members of `\(name.value)` are clients, each with its own address and port",
                    hint: "use a crowd that listens, such as `crowd V = 100 servers`", at: name.span)
            }
            return
        }
        let isBound =
            known.kind == .server || known.kind == .proxy || known.link != .none || known.lifecycle != .idle
            || known.connections > 0
        if !isBound, !names.place.isOrderUnknown, !names.place.isInHeader, !names.isDoubtful(name.value) {
            names.report(.notConnected(name.value, kind: known.kind), at: name.span)
        }
    }
}

extension StringPiece {
    /// Whether the piece is text that contains a `$`.
    var holdsDollar: Bool {
        guard case .text(let text) = self else { return false }
        return text.contains(UInt8(ascii: "$"))
    }
}

extension Diagnostic.Message {
    static func unknownProperty(actor: String, property: String, _ properties: [String]) -> Self {
        Self(
            .unknownProperty, "`\(actor)` has no property `\(property)`",
            hint: "its properties are " + properties.joined(separator: ", "))
    }
}

extension ValueChecker {
    /// Returns the type of an expression, and reports errors inside it.
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
                .mixedTypes, "a number and bytes can't be added",
                hint: "write `\"${n}\"` for the decimal text of a number, or `int(…)` to read text as a number",
                at: span)
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
                    .wrongType, "`\(sign)` requires numbers, but this operand is of type bytes",
                    hint: "use `int(…)` to read decimal text as a number", at: part.span)
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
                    .argumentCount, "`\(name.value)(…)` has no argument `\(label.value)`",
                    hint: "write, for example, `\(Function(rawValue: name.value)?.example ?? name.value)`",
                    at: label.span)
            }
        }
        func takes(_ count: Int, _ what: String) -> Bool {
            if arguments.count == count { return true }
            names.report(
                .argumentCount, "`\(name.value)(…)` takes \(what)", hint: "write, for example, `\(function.example)`",
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
                    .argumentCount, "`random(…)` takes a size and a seed, so that each run sends the same bytes",
                    hint: "write, for example, `random(64KiB, seed 7)`", at: expression.span)
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
                        "\(Escaped.quoted(context.sources.shown(arguments[0].value))) is not a length prefix",
                        hint: "use `u8`, `u16`, `u32`, `u64` or `varint`, followed by a value: `sized(u16, \"text\")`",
                        at: arguments[0].value.span)
                }
            }
        default:
            names.report(
                .cutsMisplaced, "`cuts(…)` stands for every way to cut a value, and is allowed only in `each`",
                hint: "write `each piece = cuts(V)` in the header, and `send piece` in this step", at: expression.span)
        }
        return .bytes
    }

    /// Requires that numeric arguments are within their ranges, and that the other arguments are bytes.
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
            .wrongType, "expected a number, but `\(text)` is bytes",
            hint: "use `int(…)` to read decimal text as a number, or `len(…)` to count bytes")
    }

    static func mayBeRegex(_ text: String) -> Self {
        Self(
            .wrongType, "expected a value, but `\(text)` may be a regex",
            hint: "use a regex from a table only after `expect line`, `expect message` or `matches`")
    }

    static func outsideFolder(_ path: String) -> Self {
        Self(
            .outsideFolder, "\(Escaped.quoted(path)) is outside the script's folder",
            hint: "copy the file into the script's folder or one of its subfolders")
    }
}
