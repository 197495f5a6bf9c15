import ProbeBase

/// The values of actions, expectations and wire statements.
extension ValueChecker {
    /// - Parameter step: nil where its actor is not known.
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
                    "\(what) has \(range.lowerBound) to \(range.upperBound) bytes, not \(length)",
                    hint: length == 0 ? "leave the option out where there is none" : nil, at: value.span)
            }
        case .expectedBytes(let value): requireExpected(value)
        case .unframedBytes(let value):
            if context.scenario.framing != .none {
                names.report(
                    .unknownExpectation, "a subject delivers lines or messages, not bytes",
                    hint: "write expect line \"text\" or expect message \"text\"; bytes are for framing none",
                    at: value.span)
            }
        case .delimiter(let value):
            if requireBytes(value).length == 0 {
                names.report(
                    .emptyValue, "the delimiter is empty", hint: "for example expect until \"\\0\" as x", at: value.span
                )
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
                .outOfRange, "one byte is sent out-of-band",
                hint: "write send urgent \"!\"; more go as ordinary bytes before it", at: all)
        }
        if statement.mode == .line {
            total = names.constants.framing?.terminator.flatMap { terminator in total.map { $0 + terminator.count } }
        }
        if let length = statement.recordLength { requireInteger(length, "the size of a record", 1, 16_384) }
        // With TLS offsets count the bytes on the wire.
        if names.sendsRecords, statement.mode != .plaintext { total = nil }
        switch statement.cut {
        case .at(let offsets): checkOffsets(offsets, of: total)
        case .random(let seed): requireInteger(seed)
        case .inPieces(let size): requireInteger(size, "the size of a piece", 1, Int.max)
        case nil: break
        }
        checkMode(statement, kind, all)
    }

    /// A subject sends whole messages, a process is written to as it is.
    private func checkMode(_ statement: SendStatement, _ kind: ActorKind, _ place: SourceSpan) {
        guard kind == .subject || kind == .process else { return }
        let isCut =
            statement.pieces.count > 1 || statement.cut != nil || statement.pace != nil || statement.recordLength != nil
            || statement.carriesFIN
        if kind == .subject, isCut || [.urgent, .plaintext].contains(statement.mode) {
            names.report(
                .unknownVerb, "a subject sends whole lines and messages: it is not cut, paced or urgent",
                hint: "cutting and pacing is for server and client; write T send line \"text\"", at: place)
        }
        if kind == .process, isCut || statement.mode != .bytes {
            names.report(.unknownVerb, "a process is written to as it is", hint: "write P send \"text\\n\"", at: place)
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
                    .cutPastEnd, "offset \(value) is not behind the offset \(last) before it",
                    hint: "write the offsets in rising order, each once", at: offset.span)
            }
            last = value
        }
    }
}

extension Diagnostic.Message {
    static func countAsBytes(_ text: String) -> Self {
        Self(
            .wrongType, "\(text) is a number, and bytes are expected",
            hint: "write expect \(text) bytes for so many, or expect \"\(text)\" for the text")
    }

    static let emptyExpected = Self(
        .emptyValue, "nothing is expected here: it would pass by itself",
        hint: "for silence write expect nothing for 200ms; for an empty line expect line \"\"")

    static let emptySend = Self(
        .emptyValue, "there is nothing to send", hint: "remove it; an empty line is send line \"\"")

    static func cutPastEnd(offset: Int, length: Int?) -> Self {
        guard let length else {
            return Self(.cutPastEnd, "offset \(offset) cuts nothing off", hint: "offsets begin at 1")
        }
        return Self(
            .cutPastEnd, "offset \(offset) cuts nothing off a value of \(counted(length, "byte"))",
            hint: length > 1 ? "offsets go from 1 to \(length - 1)" : "it is too short to be cut")
    }
}
