extension Checker {
    /// One step of an actor.
    func act(_ name: Name, _ action: Action, _ timing: Timing, _ step: Step) {
        checkTiming(of: action, timing, step)
        guard let known = actor(name) else {
            checkValues(of: action)
            return
        }
        if isDoubtful(name.value) {
            state.set(name.value, loosened(known))
        }
        let word = Self.verb(of: action)
        guard Self.has(known.kind, action) else {
            report(
                .flow(.verbNotOfKind(word, actor: name.value, kind: ActorWord(kind: known.kind))),
                at: verbSpan(name, word))
            checkValues(of: action)
            return
        }
        if checkValues(of: action, kind: known.kind, step) {
            follow(name, state.actors[name.value] ?? known, action, step)
        }
    }

    private func loosened(_ actor: FlowState.Actor) -> FlowState.Actor {
        var actor = actor
        actor.link = .unknown
        actor.life = .unknown
        actor.isListening = nil
        actor.halfClosed = nil
        actor.mayHaveMore = true
        return actor
    }

    /// The verb stands behind the actor.
    private func verbSpan(_ name: Name, _ word: String) -> SourceSpan {
        guard let bytes = draft.sources.file(of: name.span)?.bytes else { return name.span }
        var start = name.span.end
        while start < bytes.count, bytes[start] == UInt8(ascii: " ") || bytes[start] == UInt8(ascii: "\t") {
            start += 1
        }
        return SourceSpan(file: name.span.file, start: start, end: bytes.endOfWord(from: start))
    }

    // MARK: Which verbs there are

    static func verb(of action: Action) -> String {
        switch action {
        case .accept: "accept"
        case .listen: "listen"
        case .stopListening: "stop listening"
        case .connect: "connect"
        case .send(let statement): statement.inBackground ? "start sending" : "send"
        case .expect: "expect"
        case .close: "close"
        case .closeWithoutNotify: "close without notify"
        case .halfClose: "half-close"
        case .reset: "reset"
        case .stopReading: "stop reading"
        case .resumeReading: "resume reading"
        case .readSlowly: "read … every"
        case .set: "set"
        case .ignoreRest: "ignore rest"
        case .framing: "framing"
        case .read: "read"
        case .start: "start"
        case .stop: "stop"
        case .signal: "signal"
        }
    }

    private static func has(_ kind: ActorKind, _ action: Action) -> Bool {
        switch action {
        case .accept, .listen, .stopListening: kind == .server
        case .connect: kind == .client
        case .close, .closeWithoutNotify, .reset, .readSlowly, .set, .ignoreRest, .framing: isConnection(kind)
        case .halfClose, .stopReading, .resumeReading: isConnection(kind) || kind == .subject
        case .send(let statement): isConnection(kind) || !statement.inBackground
        case .expect: true
        case .read: kind == .subject
        case .start, .stop: kind == .subject || kind == .process
        case .signal: kind == .process
        }
    }

    static func isConnection(_ kind: ActorKind) -> Bool { [.server, .client, .connection].contains(kind) }

    // MARK: Timing

    private func checkTiming(of action: Action, _ timing: Timing, _ step: Step) {
        guard timing != Timing() else { return }
        var reasons: (within: String?, after: String?) = (nil, nil)
        switch action {
        case .accept, .connect(_, .succeeds), .connect(_, .refused): break
        case .connect(_, .timesOut): reasons.after = "this one passes at its deadline, when no answer has come"
        case .expect(let expectation):
            switch expectation {
            case .nothing, .stalled, .noConnection:
                reasons = ("this one says how long with `for`", "this one waits for nothing")
            case .noOutput:
                reasons = ("this one looks at once, or says how long with `for`", "this one waits for nothing")
            case .memory, .descriptors: reasons = ("this one looks at once", "this one looks at once")
            case .error:
                let reason = "this one looks at what the operation before it has answered"
                reasons = (reason, reason)
            // Listed one by one, so that a new expectation has to say which it is: every clause is judged or refused.
            case .bytes, .line, .linesInAnyOrder, .untilLine, .count, .until, .anyBytes, .integer, .urgent, .message,
                .eof,
                .reset, .closed, .sent, .sendFailed, .started, .leftover, .data, .accept, .stopped, .listening, .output,
                .exit:
                break
            }
        case .read: reasons.after = "this one only asks"
        case .send: reasons = ("a send ends when the kernel has taken it all: `timeout` bounds it", "this one does not")
        default: reasons = ("`\(Self.verb(of: action))` does not", "this one does not")
        }
        if timing.within != nil, let reason = reasons.within {
            report(.flow(.withinNotHere(reason)), at: clause("within", step))
        }
        if timing.after != nil, let reason = reasons.after {
            report(.flow(.afterNotHere(reason)), at: clause("after", step))
        }
    }

    /// Where `within` or `after` stands in the step: its last one is meant.
    func clause(_ word: String, _ step: Step) -> SourceSpan {
        guard let bytes = draft.sources.file(of: step.span)?.bytes else { return step.span }
        let letters = Array(word.utf8)
        var start = min(step.span.end, bytes.count) - letters.count
        while start >= step.span.start {
            if bytes[start..<(start + letters.count)].elementsEqual(letters) {
                return SourceSpan(file: step.span.file, start: start, end: step.span.end)
            }
            start -= 1
        }
        return step.span
    }

    // MARK: Values

    /// Gives whether the actor can do such a thing at all.
    @discardableResult
    private func checkValues(of action: Action, kind: ActorKind? = nil, _ step: Step? = nil) -> Bool {
        switch action {
        case .connect(let address?, _): check(address)
        case .send(let statement): checkSend(statement, kind)
        case .expect(let expectation): return checkExpectation(expectation, kind, step)
        case .readSlowly(let count, _): requireInteger(count, "the number of bytes", 1, Int.max)
        case .set(let option): check(option)
        case .read(.length(let count)): requireInteger(count, "the number of bytes", 1, Int.max)
        case .read(.until(let delimiter)): requireDelimiter(delimiter)
        default: break
        }
        return true
    }

    func requireDelimiter(_ delimiter: Expression) {
        if requireBytes(delimiter).length == 0 { report(.value(.emptyDelimiter), at: delimiter.span) }
    }

    private func checkSend(_ statement: SendStatement, _ kind: ActorKind?) {
        var total: Int? = 0
        for piece in statement.pieces {
            let length = requireBytes(piece).length
            total = length.flatMap { length in total.map { $0 + length } }
            if length == 0, statement.pieces.count > 1, statement.mode != .line {
                report(.value(.emptySend), at: piece.span)
            }
        }
        let all = statement.pieces[0].span.joined(with: statement.pieces[statement.pieces.count - 1].span)
        if statement.mode == .bytes, total == 0, statement.pieces.count == 1, kind != .subject {
            report(.value(.emptySend), at: all)
        }
        if statement.mode == .urgent, let total, total != 1 { report(.flow(.urgentLength), at: all) }
        if statement.mode == .line {
            total = folder.framing?.terminator.flatMap { terminator in total.map { $0 + terminator.count } }
        }
        switch statement.cut {
        case .at(let offsets): checkOffsets(offsets, of: total)
        case .random(let seed): requireInteger(seed)
        case .inPieces(let size): requireInteger(size, "the size of a piece", 1, Int.max)
        case nil: break
        }
        checkMode(statement, kind, all)
    }

    /// A subject sends whole messages, a process is written to as it is.
    private func checkMode(_ statement: SendStatement, _ kind: ActorKind?, _ place: SourceSpan) {
        guard kind == .subject || kind == .process else { return }
        let isCut = statement.pieces.count > 1 || statement.cut != nil || statement.pace != nil
        if kind == .subject, isCut || statement.mode == .urgent { report(.flow(.subjectSendsWhole), at: place) }
        if kind == .process, isCut || statement.mode != .bytes { report(.flow(.processInput), at: place) }
    }

    private func checkOffsets(_ offsets: [Expression], of total: Int?) {
        var last = 0
        for offset in offsets {
            requireInteger(offset)
            guard case .integer(let value) = folder.fold(offset) else {
                last = Int.min
                continue
            }
            if value < 1 {
                report(.value(.cutPastEnd(offset: value, length: total ?? 0)), at: offset.span)
            } else if let total, value >= total {
                report(.value(.cutPastEnd(offset: value, length: total)), at: offset.span)
            } else if last > 0, value <= last {
                report(.value(.cutsOutOfOrder(value, after: last)), at: offset.span)
            }
            last = value
        }
    }
}
