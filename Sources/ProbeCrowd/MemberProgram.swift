package import ProbeBase

/// The script of a crowd's members, as a flat list of instructions with all values computed.
package struct MemberProgram: Sendable {
    package enum Instruction: Sendable {
        /// Connects. Fails unless the connection is established within the given time, including the TLS handshake if
        /// the crowd uses TLS.
        case connect(within: Duration)
        /// Sends the pieces one after another, with a pause between them.
        case send(pieces: [[UInt8]], pause: Duration)
        /// Sends the same bytes repeatedly until the crowd ends: first immediately, then at the given interval.
        case sendEndlessly([UInt8], every: Duration)
        /// Waits for input. Fails unless the input arrives within the given time.
        case expect(Wait, within: Duration)
        case wait(Duration)
        case close
        case reset
        case stopReading
        /// From now on, limits reading to the given number of bytes per interval.
        case read(count: Int, every: Duration)
        /// Permits bytes on this connection that no statement consumes.
        case acceptRest
        /// Jumps back to an earlier instruction (`repeat`).
        case jump(to: Int)
    }

    package enum Wait: Sendable {
        /// Waits for a line that passes the test; its terminator is not part of the tested text.
        case line(LineTest)
        /// Waits for the given number of bytes.
        case count(Int)
        /// Waits for bytes up to and including the delimiter.
        case until([UInt8])
        case eof
    }

    package enum LineTest: Sendable {
        case any
        case equal([UInt8])
        /// A regex of the scenario language, as written between slashes, and its flags.
        case regex(String, flags: String)
    }

    package var instructions: [Instruction]
    /// The terminator of the lines that members expect.
    package var terminator: [UInt8]
    /// The time after which a send fails if the peer accepts no bytes. A member that doesn't read never fails for this
    /// reason.
    package var patience: Duration

    package init(instructions: [Instruction], terminator: [UInt8], patience: Duration = .seconds(5)) {
        (self.instructions, self.terminator, self.patience) = (instructions, terminator, patience)
    }

    /// For each instruction, and for the end of the script, the number of waits of each kind from that point on. Within
    /// a `repeat`, waits are counted to the end of the round.
    var waitsAhead: [[MemberWait: Int]] {
        var result = Array(repeating: [MemberWait: Int](), count: instructions.count + 1)
        for (place, instruction) in instructions.enumerated().reversed() {
            if case .jump = instruction { continue }
            result[place] = result[place + 1]
            if let wait = instruction.wait { result[place][wait, default: 0] += 1 }
        }
        return result
    }

    /// For each instruction, whether it or an instruction that may follow it examines received bytes.
    var looksAhead: [Bool] {
        ahead { instruction in
            switch instruction {
            case .expect: true
            case .sendEndlessly: false
            case .connect, .send, .wait, .close, .reset, .stopReading, .read, .acceptRest, .jump: nil
            }
        }
    }

    /// For each instruction, whether it or an instruction that may follow it requires the current connection.
    var needsConnectionAhead: [Bool] {
        ahead { instruction in
            switch instruction {
            case .send, .sendEndlessly, .expect, .read: true
            case .connect: false
            case .wait, .close, .reset, .stopReading, .acceptRest, .jump: nil
            }
        }
    }

    /// Returns, for each instruction, the decision of the first instruction, at or after it, that makes a decision.
    ///
    /// - Parameter decide: returns the decision of an instruction, or `nil` to leave the decision to the instructions
    ///   that follow.
    private func ahead(_ decide: (Instruction) -> Bool?) -> [Bool] {
        var result = Array(repeating: false, count: instructions.count)
        var changed = true
        while changed {
            changed = false
            for (place, instruction) in instructions.enumerated().reversed() where !result[place] {
                let next = if case .jump(let target) = instruction { target } else { place + 1 }
                result[place] = decide(instruction) ?? (next < result.count && result[next])
                changed = changed || result[place]
            }
        }
        return result
    }
}

extension MemberWait {
    package init(_ wait: MemberProgram.Wait) {
        self =
            switch wait {
            case .line: .line
            case .count: .bytes
            case .until: .until
            case .eof: .eof
            }
    }
}

extension MemberProgram: JSONConvertible {
    package static let codec = JSONCodec<MemberProgram>("an object", encode: fields.encode) {
        (value, _) throws(JSONContentError) in
        let program = try fields.decode(value)
        for instruction in program.instructions {
            if case .jump(let target) = instruction, !program.instructions.indices.contains(target) { return nil }
        }
        return program
    }

    private static let fields = JSONCodec.object(
        MemberProgram(instructions: [], terminator: []),
        [
            .required("terminator", \.terminator, .bytes), .required("patience", \.patience, .nanoseconds),
            .required("instructions", \.instructions, .list(of: Instruction.codec)),
        ])
}

extension MemberProgram.Instruction {
    fileprivate static let codec = JSONCodec<Self>("an instruction", encode: encode, decode: decode)

    private static func encode(_ instruction: Self) -> JSONValue {
        func object(_ name: String, _ members: JSONValue.Member...) -> JSONValue {
            .object([("do", .string(name))] + members)
        }
        func time(_ duration: Duration) -> JSONValue { JSONCodec.nanoseconds.encode(duration) }
        return switch instruction {
        case .connect(let within): object("connect", ("within", time(within)))
        case .send(let pieces, let pause):
            object("send", ("pieces", .array(pieces.map { .latin1($0) })), ("pause", time(pause)))
        case .sendEndlessly(let bytes, let interval):
            object("sendEndlessly", ("bytes", .latin1(bytes)), ("every", time(interval)))
        case .expect(let wait, let within):
            object("expect", ("what", MemberProgram.Wait.codec.encode(wait)), ("within", time(within)))
        case .wait(let duration): object("wait", ("for", time(duration)))
        case .close: object("close")
        case .reset: object("reset")
        case .stopReading: object("stopReading")
        case .acceptRest: object("acceptRest")
        case .read(let count, let interval): object("read", ("count", .integer(count)), ("every", time(interval)))
        case .jump(let target): object("jump", ("to", .integer(target)))
        }
    }

    private static func decode(_ value: JSONValue, _: String) throws(JSONContentError) -> Self? {
        func time(_ name: String) throws(JSONContentError) -> Duration { try value.required(name, .nanoseconds) }
        switch value["do"]?.text {
        case "connect": return .connect(within: try time("within"))
        case "send": return .send(pieces: try value.required("pieces", .list(of: .bytes)), pause: try time("pause"))
        case "sendEndlessly": return .sendEndlessly(try value.required("bytes", .bytes), every: try time("every"))
        case "expect":
            return .expect(try value.required("what", MemberProgram.Wait.codec), within: try time("within"))
        case "wait": return .wait(try time("for"))
        case "close": return .close
        case "reset": return .reset
        case "stopReading": return .stopReading
        case "acceptRest": return .acceptRest
        case "read": return .read(count: try value.required("count", .integer), every: try time("every"))
        case "jump": return .jump(to: try value.required("to", .integer))
        default: return nil
        }
    }
}

extension MemberProgram.Wait {
    fileprivate static let codec = JSONCodec<Self>("a wait") { wait in
        switch wait {
        case .line(.any): .object([("line", .null)])
        case .line(.equal(let bytes)): .object([("line", .latin1(bytes))])
        case .line(.regex(let text, let flags)): .object([("regex", .string(text)), ("flags", .string(flags))])
        case .count(let count): .object([("count", .integer(count))])
        case .until(let delimiter): .object([("until", .latin1(delimiter))])
        case .eof: .object([("eof", .boolean(true))])
        }
    } decode: { (value, _) throws(JSONContentError) in
        if let line = value["line"], line.isNull { return .line(.any) }
        if let bytes = try value.optional("line", .bytes) { return .line(.equal(bytes)) }
        if let text = try value.optional("regex", .text) {
            return .line(.regex(text, flags: try value.required("flags", .text)))
        }
        if let count = try value.optional("count", JSONCodec<Int>.integer) { return .count(count) }
        if let delimiter = try value.optional("until", .bytes) { return .until(delimiter) }
        return value["eof"] == nil ? nil : .eof
    }
}

extension JSONCodec<Duration> {
    fileprivate static let nanoseconds = JSONCodec("a whole number", encode: { .integer(Int($0.nanoseconds)) }) {
        value, _ in value.integer.map { .nanoseconds(Int64($0)) }
    }
}
