package import ProbeBase

extension Evaluator {
    /// The most pieces that one send is cut into.
    package static let mostPieces = 1 << 20

    /// What a `send` writes, one array for each piece that leaves as its own segment: cut at `|`, where `cuts()` cut,
    /// `cut at`, or `in pieces of`. `send line` ends the last piece with the terminator of the framing (or puts the length
    /// before the first one). Pieces are never empty.
    package func pieces(of statement: SendStatement) throws(EvaluationError) -> [[UInt8]] {
        let result = try wholePieces(of: statement)
        guard let cut = statement.cut else { return result }
        return try pieces(of: result.whole, cut, span: statement.pieces[0].span)
    }

    /// The same of a connection with TLS: the places of the cuts are counted in what `seal` makes of the bytes.
    package func pieces(
        of statement: SendStatement, sealing seal: ([UInt8]) -> [UInt8]
    ) throws(EvaluationError) -> [[UInt8]] {
        let plain = try wholePieces(of: statement)
        let sealed = seal(plain.whole)
        if let cut = statement.cut { return try pieces(of: sealed, cut, span: statement.pieces[0].span) }
        var result: [[UInt8]] = []
        var start = 0
        for piece in plain.dropLast() where start + piece.count < sealed.count {
            result.append(Array(sealed[start..<(start + piece.count)]))
            start += piece.count
        }
        if start < sealed.count { result.append(Array(sealed[start...])) }
        return result
    }

    /// The pieces without the cuts of a clause.
    private func wholePieces(of statement: SendStatement) throws(EvaluationError) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for piece in statement.pieces {
            if statement.pieces.count == 1 {
                result = try pieces(of: piece)
            } else {
                result.append(try bytes(of: piece))
            }
        }
        var total = 0
        for piece in result {
            total += piece.count
            try checkSize(total, statement.pieces[0].span)
        }
        if statement.mode == .line { result = try line(result, span: statement.pieces[0].span) }
        result.removeAll(where: \.isEmpty)
        return result
    }

    private func line(_ pieces: [[UInt8]], span: SourceSpan) throws(EvaluationError) -> [[UInt8]] {
        let payload = pieces.whole
        if framing == .websocket {
            // The header leaves with the first piece.
            var rest = textMessage(payload)[...]
            let header = rest.count - payload.count
            var frames: [[UInt8]] = []
            for (index, piece) in pieces.enumerated() {
                let count = index == pieces.count - 1 ? rest.count : piece.count + (index == 0 ? header : 0)
                frames.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            return frames
        }
        let (before, behind) = try envelope(of: payload.count, span: span)
        guard pieces.count > 1 else { return [before + payload + behind] }
        var result = pieces
        result[0] = before + result[0]
        result[result.count - 1] += behind
        return result
    }

    /// Bytes, cut as a clause says.
    package func pieces(
        of whole: [UInt8], _ cut: Cut<Parsed>, span: SourceSpan
    ) throws(EvaluationError) -> [[UInt8]] {
        var offsets: [Int] = []
        switch cut {
        case .at(let expressions):
            for expression in expressions {
                let offset = try integer(of: expression)
                guard offset > (offsets.last ?? 0) else {
                    throw EvaluationError(.cutOutOfOrder(offset), span: expression.span)
                }
                guard offset < whole.count else {
                    throw EvaluationError(.cutPastEnd(offset: offset, length: whole.count), span: expression.span)
                }
                offsets.append(offset)
            }
        case .random(let seed):
            // Each place is a cut with a chance of one in two, and at least one is.
            var generator = SplitMix64(seed: try integer(of: seed) &+ seedOffset)
            guard whole.count > 1 else { return whole.isEmpty ? [] : [whole] }
            let most = min(whole.count - 1, Self.mostPieces / 4)
            let wanted = 1 + generator.below(min(most, 64))
            var places: Set<Int> = []
            for _ in 0..<wanted { places.insert(1 + generator.below(whole.count - 1)) }
            offsets = places.sorted()
        case .inPieces(let size):
            let step = try integer(of: size)
            guard step > 0 else { throw EvaluationError(.negativeCount(step), span: size.span) }
            guard whole.count / step < Self.mostPieces else {
                throw EvaluationError(.tooManyPieces(limit: Self.mostPieces), span: size.span)
            }
            offsets = Array(stride(from: step, to: max(step, whole.count), by: step))
        }
        var result: [[UInt8]] = []
        var start = 0
        for offset in offsets {
            result.append(Array(whole[start..<offset]))
            start = offset
        }
        if start < whole.count { result.append(Array(whole[start...])) }
        return result
    }

    /// The values of how bytes go on through a proxy.
    package func style(of style: ForwardStyle<Parsed>) throws(EvaluationError) -> ForwardStyle<Resolved> {
        ForwardStyle(
            cut: try style.cut.map { (cut) throws(EvaluationError) in try self.cut(cut) }, pace: style.pace,
            delay: style.delay, isJoined: style.isJoined)
    }

    private func cut(_ cut: Cut<Parsed>) throws(EvaluationError) -> Cut<Resolved> {
        switch cut {
        case .at(let expressions):
            var offsets: [Int] = []
            for expression in expressions { offsets.append(try integer(of: expression)) }
            return .at(offsets)
        case .random(let seed): return .random(seed: try integer(of: seed))
        case .inPieces(let size): return .inPieces(of: max(1, try integer(of: size)))
        }
    }
}
