package import ProbeBase

extension MemberProgram {
    package var json: JSONValue {
        .object([
            ("terminator", .latin1(terminator)), ("patience", .nanoseconds(patience)),
            ("instructions", .array(instructions.map(\.json))),
        ])
    }

    /// Nil if it is none.
    package init?(json: JSONValue) {
        guard let terminator = json["terminator"]?.latin1, let patience = json["patience"]?.duration,
            case .array(let values)? = json["instructions"]
        else {
            return nil
        }
        let instructions = values.compactMap(Instruction.init(json:))
        guard instructions.count == values.count else { return nil }
        for instruction in instructions {
            if case .jump(let target) = instruction, !instructions.indices.contains(target) { return nil }
        }
        self.init(instructions: instructions, terminator: terminator, patience: patience)
    }
}

extension MemberProgram.Instruction {
    fileprivate var json: JSONValue {
        func object(_ name: String, _ members: JSONValue.Member...) -> JSONValue {
            .object([("do", .string(name))] + members)
        }
        return switch self {
        case .connect(let within): object("connect", ("within", .nanoseconds(within)))
        case .send(let pieces, let pause):
            object("send", ("pieces", .array(pieces.map { .latin1($0) })), ("pause", .nanoseconds(pause)))
        case .sendEndlessly(let bytes, let interval):
            object("sendEndlessly", ("bytes", .latin1(bytes)), ("every", .nanoseconds(interval)))
        case .expect(let wait, let within): object("expect", ("what", wait.json), ("within", .nanoseconds(within)))
        case .wait(let duration): object("wait", ("for", .nanoseconds(duration)))
        case .close: object("close")
        case .reset: object("reset")
        case .stopReading: object("stopReading")
        case .acceptRest: object("acceptRest")
        case .read(let count, let interval):
            object("read", ("count", .integer(count)), ("every", .nanoseconds(interval)))
        case .jump(let target): object("jump", ("to", .integer(target)))
        }
    }

    fileprivate init?(json: JSONValue) {
        switch json["do"]?.text {
        case "connect":
            guard let within = json["within"]?.duration else { return nil }
            self = .connect(within: within)
        case "send":
            guard case .array(let values)? = json["pieces"], let pause = json["pause"]?.duration else { return nil }
            let pieces = values.compactMap(\.latin1)
            guard pieces.count == values.count else { return nil }
            self = .send(pieces: pieces, pause: pause)
        case "sendEndlessly":
            guard let bytes = json["bytes"]?.latin1, let interval = json["every"]?.duration else { return nil }
            self = .sendEndlessly(bytes, every: interval)
        case "expect":
            guard let wait = json["what"].flatMap(MemberProgram.Wait.init(json:)),
                let within = json["within"]?.duration
            else { return nil }
            self = .expect(wait, within: within)
        case "wait":
            guard let duration = json["for"]?.duration else { return nil }
            self = .wait(duration)
        case "close": self = .close
        case "reset": self = .reset
        case "stopReading": self = .stopReading
        case "acceptRest": self = .acceptRest
        case "read":
            guard let count = json["count"]?.integer, let interval = json["every"]?.duration else { return nil }
            self = .read(count: count, every: interval)
        case "jump":
            guard let target = json["to"]?.integer else { return nil }
            self = .jump(to: target)
        default: return nil
        }
    }
}

extension MemberProgram.Wait {
    fileprivate var json: JSONValue {
        switch self {
        case .line(.any): .object([("line", .null)])
        case .line(.equal(let bytes)): .object([("line", .latin1(bytes))])
        case .line(.regex(let text, let flags)): .object([("regex", .string(text)), ("flags", .string(flags))])
        case .count(let count): .object([("count", .integer(count))])
        case .until(let delimiter): .object([("until", .latin1(delimiter))])
        case .eof: .object([("eof", .boolean(true))])
        }
    }

    fileprivate init?(json: JSONValue) {
        if let line = json["line"] {
            if line.isNull {
                self = .line(.any)
            } else if let bytes = line.latin1 {
                self = .line(.equal(bytes))
            } else {
                return nil
            }
        } else if let text = json["regex"]?.text, let flags = json["flags"]?.text {
            self = .line(.regex(text, flags: flags))
        } else if let count = json["count"]?.integer {
            self = .count(count)
        } else if let delimiter = json["until"]?.latin1 {
            self = .until(delimiter)
        } else if json["eof"] != nil {
            self = .eof
        } else {
            return nil
        }
    }
}

extension JSONValue {
    fileprivate static func nanoseconds(_ duration: Duration) -> JSONValue { .integer(Int(duration.nanoseconds)) }

    fileprivate var duration: Duration? { integer.map { .nanoseconds(Int64($0)) } }
}
