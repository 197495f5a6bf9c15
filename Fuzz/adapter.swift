import ProbeBase

@testable import ProbeTransport

/// Fuzzes the output of an adapter: its lines, JSON, messages, and the state of the protocol. The fuzzer is compiled
/// with ProbeBase and the files of ProbeTransport that perform no I/O.
///
/// The input is a series of commands for a harness and an adapter: cases begin and end, operations are requested, and
/// the adapter sends a valid message, a message in which some bytes are changed, or arbitrary bytes. A value that can
/// be parsed must be the same after it has been encoded and parsed again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAdapter(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var session = AdapterSession(input: Array(UnsafeBufferPointer(start: start, count: count)))
    session.run()
    return 0
}

private struct AdapterSession {
    private let input: [UInt8]
    private var position = 0
    private var state = AdapterProtocolState(budget: .init(events: 300, bytes: 100_000))
    private var lines = LineBuffer(limit: 5_000)
    /// Whether the adapter has violated the protocol, after which the session ends.
    private var hasFailed = false

    init(input: [UInt8]) { self.input = input }

    mutating func run() {
        while !hasFailed, position < input.count {
            switch next() % 8 {
            case 0: state.beginCase()
            case 1: check(requests: state.endCase())
            case 2, 3: request()
            case 4: say(honestMessage().encoded(), mutations: 0)
            case 5: say(honestMessage().encoded(), mutations: Int(next() % 4) + 1)
            case 6: say(take(Int(next())) + [10], mutations: 0)
            default: answer()
            }
        }
    }

    // MARK: The harness

    private mutating func request() {
        var configuration = TransportConfiguration(host: text(), port: UInt16(next()) << 8 | UInt16(next()))
        configuration.framing = Framing.allCases[Int(next()) % Framing.allCases.count]
        let operations: [SubjectOperation] =
            [
                .connect(configuration), .listen(configuration), .send(take(Int(next()))),
                .read(.until(take(3) + [1]), timeout: .milliseconds(Int(next()))), .stop,
            ] + PlainOperation.allCases.map(SubjectOperation.plain)
        let operation = operations[Int(next()) % operations.count]
        // The engine numbers connections from 1.
        guard let request = state.request(operation, on: Int(next()) + 1) else { return }
        check(requests: request.line)
    }

    /// Checks that an adapter can parse the requests that the harness writes.
    private func check(requests: [UInt8]) {
        for line in requests.split(separator: 10) {
            do throws(AdapterRequestError) {
                let request = try AdapterRequest(line: Array(line).span)
                demand(request.encoded() == line + [10], "a request changed when it was read back")
            } catch {
                fatalError("a request can't be read: \(error)")
            }
        }
    }

    // MARK: The adapter

    private mutating func honestMessage() -> AdapterMessage {
        let connection = Int(next())
        let bytes = take(Int(next()))
        let events: [SubjectReport.Event] = [
            .started, .line(bytes), .message(bytes), .data(bytes), .leftover(bytes), .sent(bytes.count),
            .stopped(
                StopReason.allCases[bytes.count % StopReason.allCases.count], detail: bytes.isEmpty ? nil : text()),
        ]
        switch next() % 8 {
        case 0: return .hello(AdapterHello(name: "fuzz", version: nil, capabilities: [.listen, .halfClose]))
        case 1: return .accept(connection: AdapterProtocolState.firstAccepted + connection, listener: Int(next()))
        case 2: return .event(connection: AdapterProtocolState.firstAccepted + connection, events[0])
        default: return .event(connection: connection, events[Int(next()) % events.count])
        }
    }

    /// Answers the oldest pending operation.
    private mutating func answer() {
        guard let first = state.pending.first else { return }
        let error = next() % 4 == 0 ? "invalid" : nil
        say(AdapterMessage.done(id: first.id, error: error, port: 4711).encoded(), mutations: 0)
    }

    private mutating func say(_ line: [UInt8], mutations: Int) {
        var bytes = line
        for _ in 0..<mutations { bytes[(Int(next()) << 8 | Int(next())) % bytes.count] = next() }
        var received: [[UInt8]] = []
        let cut = bytes.count * Int(next()) / 256
        do throws(LineBuffer.TooLong) {
            for part in [bytes[..<cut], bytes[cut...]] {
                try lines.append(part) { line in
                    received.append(line)
                    return true
                }
            }
        } catch {
            hasFailed = true
            return
        }
        for line in received where !hasFailed { hear(line) }
    }

    private mutating func hear(_ line: [UInt8]) {
        checkJSON(line)
        do throws(AdapterMessageError) {
            let message = try AdapterMessage(line: line.span)
            let again = message.encoded()
            demand(
                again.last == 10 && again.dropLast().allSatisfy { (0x20...0x7E).contains($0) }, "not a line of ASCII")
            let same = try AdapterMessage(line: Array(again.dropLast()).span)
            demand(same == message, "a message changed when it was read back")
            check(try state.receive(message))
        } catch {
            demand(!error.text.isEmpty, "a refusal has no reason")
            hasFailed = true
        }
    }

    private func check(_ outcome: AdapterProtocolState.Outcome) {
        switch outcome {
        case .report(let connection, _): demand(connection > 0, "a report concerns a connection of no case")
        case .late(_, let connection, _): demand(connection > 0, "a late report concerns a connection of no case")
        case .ready, .reply, .stale: break
        }
    }

    /// Checks that a value can be encoded in either character set and parsed again.
    private func checkJSON(_ line: [UInt8]) {
        // Most lines are not JSON and must be rejected, so `try?` is used.
        guard let value = try? JSONParser.parse(line.span) else { return }
        for characters in [JSONValue.Characters.ascii, .visible] {
            let text = value.encoded(characters)
            // The kind of error does not matter, so `try?` is used: the encoder must never produce invalid JSON.
            guard let again = try? JSONParser.parse(text.span) else { fatalError("the encoder's output can't be read") }
            demand(again.encoded(.ascii) == value.encoded(.ascii), "a value changed when it was read back")
        }
    }

    // MARK: Input

    private mutating func next() -> UInt8 {
        guard position < input.count else { return 0 }
        defer { position += 1 }
        return input[position]
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        let end = min(position + count, input.count)
        defer { position = end }
        return Array(input[min(position, end)..<end])
    }

    private mutating func text() -> String { String(decoding: take(Int(next() % 16)), as: UTF8.self) }
}

/// Like `precondition`, but the text is also printed in an optimized build.
private func demand(_ condition: Bool, _ text: String) {
    if !condition { fatalError(text) }
}
