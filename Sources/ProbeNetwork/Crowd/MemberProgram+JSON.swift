package import ProbeBase

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
