import ProbeBase

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
        guard action.isOf(known.kind) else {
            reportForeign(action, of: name, known.kind, step)
            return
        }
        checkValues(of: action, known.kind, step)
        follow(name, state.actors[name.value] ?? known, action, step)
    }

    /// An action that another kind of actor has.
    private func reportForeign(_ action: Action, of name: Name, _ kind: ActorKind, _ step: Step) {
        let verb = action.verb
        if verb != "expect" {
            if Verb.verbs(of: kind).contains(verb) {
                report(.name(.twoKinds(name.value, kind.rawValue)), at: name.span)
            } else {
                report(
                    .order(.verbNotOfKind(verb, actor: name.value, kind: ActorWord(kind: kind))),
                    at: verbSpan(name, verb))
            }
            checkValues(of: action)
            return
        }
        hasTest = true
        // A word that is no variable was meant to be an expectation.
        if case .connection(.expect(.bytes(let value))) = action, case .variable(let word) = value.kind,
            state.variables[word] == nil
        {
            if !context.doubtful.contains(word) {
                report(.syntax(.unknownExpectation(word, kind: ActorWord(kind: kind))), at: value.span)
            }
            return
        }
        let word = action.expectationWord ?? ""
        if Verb.expectations(of: kind).contains(where: { $0 == word || $0 == word + " for" }) {
            report(.name(.twoKinds(name.value, kind.rawValue)), at: name.span)
        } else {
            report(
                .order(.expectationNotOfKind(word, actor: name.value, kind: ActorWord(kind: kind))), at: step.focus)
        }
    }

    private func loosened(_ actor: ScriptState.Actor) -> ScriptState.Actor {
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
        guard let bytes = context.sources.file(of: name.span)?.bytes else { return name.span }
        var start = name.span.end
        while start < bytes.count, bytes[start] == UInt8(ascii: " ") || bytes[start] == UInt8(ascii: "\t") {
            start += 1
        }
        return SourceSpan(file: name.span.file, start: start, end: bytes.endOfWord(from: start))
    }

    // MARK: Timing

    private func checkTiming(of action: Action, _ timing: Timing, _ step: Step) {
        guard timing != Timing() else { return }
        let reasons = action.timingRefusals
        if timing.within != nil, let reason = reasons.within {
            report(.order(.withinNotHere(reason)), at: clause("within", step))
        }
        if timing.after != nil, let reason = reasons.after {
            report(.order(.afterNotHere(reason)), at: clause("after", step))
        }
    }

    /// Where `within` or `after` stands in the step: its last one is meant.
    func clause(_ word: String, _ step: Step) -> SourceSpan {
        guard let bytes = context.sources.file(of: step.span)?.bytes else { return step.span }
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

    /// - Parameters:
    ///   - kind: of the actor; nil where it is not known, or has no such action.
    ///   - step: nil where the kind is.
    private func checkValues(of action: Action, _ kind: ActorKind? = nil, _ step: Step? = nil) {
        if action.verb == "expect" {
            hasTest = true
            expectationWords = kind.map(Verb.expectations) ?? []
        }
        defer { expectationWords = nil }
        switch action {
        case .server(.accept), .server(.listen), .server(.stopListening), .server(.expect(.noConnection)): break
        case .client(.connect(let address, _)): if let address { check(address) }
        case .connection(let action): checkValues(of: action, step)
        case .subject(let action): checkValues(of: action, step)
        case .process(let action): checkValues(of: action)
        }
    }

    private func checkValues(of action: ConnectionAction, _ step: Step?) {
        switch action {
        case .send(let statement): checkSend(statement, .connection)
        case .expect(let expectation): check(expectation, step)
        case .readSlowly(let count, _): requireInteger(count, "the number of bytes", 1, Int.max)
        case .set(let option): check(option)
        case .close, .halfClose, .reset, .stopReading, .resumeReading, .ignoreRest, .framing: break
        }
    }

    private func checkValues(of action: SubjectAction, _ step: Step?) {
        switch action {
        case .send(let statement): checkSend(statement, .subject)
        case .expect(let expectation): check(expectation, step)
        case .read(.length(let count)): requireInteger(count, "the number of bytes", 1, Int.max)
        case .read(.until(let delimiter)): requireDelimiter(delimiter)
        case .read(.any), .start, .halfClose, .stopReading, .resumeReading, .stop: break
        }
    }

    private func checkValues(of action: ProcessAction) {
        switch action {
        case .send(let statement): checkSend(statement, .process)
        case .expect(let expectation): check(expectation)
        case .start, .signal, .stop: break
        }
    }

    func requireDelimiter(_ delimiter: Expression) {
        if requireBytes(delimiter).length == 0 { report(.value(.emptyDelimiter), at: delimiter.span) }
    }

    private func checkSend(_ statement: SendStatement, _ kind: ActorKind) {
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
        if statement.mode == .urgent, let total, total != 1 { report(.order(.urgentLength), at: all) }
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
    private func checkMode(_ statement: SendStatement, _ kind: ActorKind, _ place: SourceSpan) {
        guard kind == .subject || kind == .process else { return }
        let isCut = statement.pieces.count > 1 || statement.cut != nil || statement.pace != nil
        if kind == .subject, isCut || statement.mode == .urgent { report(.order(.subjectSendsWhole), at: place) }
        if kind == .process, isCut || statement.mode != .bytes { report(.order(.processInput), at: place) }
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
