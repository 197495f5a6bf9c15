import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeRegex
import ProbeScenario

/// The script of a crowd's members, with all values computed.
struct CompiledCrowd {
    var program: MemberProgram
    /// The location in the script of the statement that each instruction was compiled from.
    var places: [SourceSpan] = []
}

/// Computes the current values of the expressions in a member's script, and compiles the script's statements to
/// instructions.
struct CrowdCompiler {
    let context: CaseContext

    func compile(_ script: CrowdScript) throws(Finding) -> CompiledCrowd {
        let terminator = context.scenario.framing.terminator ?? [UInt8(ascii: "\n")]
        var compiled = CompiledCrowd(
            program: MemberProgram(
                instructions: [], terminator: terminator, patience: context.scaled(context.scenario.timeout)))
        try append(script.statements, to: &compiled)
        return compiled
    }

    private func append(_ statements: [CrowdStatement], to compiled: inout CompiledCrowd) throws(Finding) {
        for statement in statements {
            if case .repeats(let inner) = statement.kind {
                let start = compiled.program.instructions.count
                try append(inner, to: &compiled)
                add(.jump(to: start), at: statement.span, to: &compiled)
            } else {
                let instruction: MemberProgram.Instruction
                do throws(Finding) {
                    instruction = try self.instruction(statement)
                } catch {
                    throw error.span == nil ? error.at(statement.span) : error
                }
                add(instruction, at: statement.span, to: &compiled)
            }
        }
    }

    private func add(
        _ instruction: MemberProgram.Instruction, at span: SourceSpan, to compiled: inout CompiledCrowd
    ) {
        compiled.program.instructions.append(instruction)
        compiled.places.append(span)
    }

    private func instruction(_ statement: CrowdStatement) throws(Finding) -> MemberProgram.Instruction {
        let patience = context.scaled(statement.within ?? context.scenario.timeout)
        switch statement.kind {
        case .connect: return .connect(within: patience)
        case .send(let send, let isEndless):
            let pieces = try context.evaluator(isClient: true).sentPieces(of: send)
            if isEndless, case .every(let interval)? = send.pace {
                return .sendEndlessly(pieces.whole, every: interval)
            }
            return Self.send(pieces, isCut: send.cut != nil || pieces.count > 1, send.pace)
        case .expect(let wait): return .expect(try self.wait(wait), within: patience)
        case .wait(let duration): return .wait(duration)
        case .close: return .close
        case .reset: return .reset
        case .stopReading: return .stopReading
        case .acceptRest: return .acceptRest
        case .read(let count, let interval):
            return .read(count: try context.integer(of: count), every: interval)
        case .repeats: throw Finding(.error, "a `repeat` is not a single instruction")
        }
    }

    /// Returns the instruction for a send. A send at a rate is divided into pieces with pauses between them. Each piece
    /// contains the bytes that the rate allows in 10 ms, but at least one byte.
    static func send(
        _ pieces: [[UInt8]], isCut: Bool, _ pace: Pace?
    ) -> MemberProgram.Instruction {
        switch pace {
        case nil: return .send(pieces: pieces, pause: .zero)
        case .every(let interval): return .send(pieces: pieces, pause: interval)
        case .rate(let rate):
            let rate = max(1, rate)
            let whole = pieces.whole
            guard !whole.isEmpty else { return .send(pieces: pieces, pause: .zero) }
            if isCut {
                // The script has already divided the bytes into pieces. Each pause is the time that a piece of average
                // length takes at the given rate.
                let average = Double(whole.count) / Double(pieces.count)
                return .send(pieces: pieces, pause: .nanoseconds(Int64(average / Double(rate) * 1e9)))
            }
            let length = max(1, rate / 100)
            let cut = stride(from: 0, to: whole.count, by: length).map { start in
                Array(whole[start..<min(start + length, whole.count)])
            }
            return .send(pieces: cut, pause: .nanoseconds(Int64(Double(length) / Double(rate) * 1e9)))
        }
    }

    private func wait(_ wait: CrowdWait) throws(Finding) -> MemberProgram.Wait {
        switch wait {
        case .line(let pattern): return .line(try test(pattern))
        case .count(let count): return .count(try context.integer(of: count))
        case .until(let delimiter):
            let bytes = try context.bytes(of: delimiter)
            if bytes.isEmpty { throw Finding(.error, at: delimiter.span, "the delimiter is empty") }
            return .until(bytes)
        case .eof: return .eof
        }
    }

    private func test(_ pattern: Pattern) throws(Finding) -> MemberProgram.LineTest {
        switch try context.text(of: pattern) {
        case .any: .any
        case .value(let bytes): .equal(bytes)
        case .regex(let regex): .regex(regex.source, flags: regex.ignoresCase ? "i" : "")
        }
    }
}
