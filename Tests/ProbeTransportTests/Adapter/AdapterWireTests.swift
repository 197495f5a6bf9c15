import ProbeBase
import Testing

@testable import ProbeTransport

struct AdapterWireTests {
    private static let operations: [SubjectOperation] =
        [
            .connect(
                TransportConfiguration(
                    host: "::1", port: 65535, framing: .u16, maxLine: 7, connectTimeout: .milliseconds(500),
                    idleTimeout: .seconds(2), allowsHalfClose: true, highWater: 65536)),
            .connect(TransportConfiguration(host: "a", port: 1, framing: .delimiter([0, 255, 69]))),
            .connect(TransportConfiguration(host: "a", port: 1, framing: .netstring)),
            .connect(secured), .startTLS(TransportTLS(authorities: "/tmp/é/ca.pem", name: "chat.test")),
            .startTLS(
                TransportTLS(authorities: "ca.pem", name: "::1", protocols: [[105, 109], [255]], version: .tls13)),
            .connect(ofOwnEnd), .connect(onUnixSocket), .listen(onUnixSocket),
            .listen(TransportConfiguration(host: "127.0.0.1", port: 0)), .send((0...255).map { UInt8($0) }, as: nil),
            .send([], as: .text), .send([0xFF], as: .binary), .ping([]), .ping([0, 255]), .close(code: nil, reason: []),
            .close(code: 1000, reason: []), .close(code: 65_535, reason: Array("é".utf8)), .connect(forPath),
            .connect(ofProtobuf), .connect(ofHeartbeat),
            .stop, .framing(.u16, behind: nil), .framing(.none, behind: 1), .framing(.delimiter([69, 0]), behind: 3),
            .read(.length(10), timeout: .milliseconds(20)),
            .read(.until([13, 10]), timeout: nil),
            .read(.any, timeout: nil),
        ] + PlainOperation.allCases.map(SubjectOperation.plain)

    private static var ofOwnEnd: TransportConfiguration {
        var configuration = TransportConfiguration(host: "a", port: 1)
        (configuration.localHost, configuration.localPort) = ("127.0.0.2", 5000)
        (configuration.interface, configuration.preference) = ("lo", .ipv6)
        return configuration
    }

    private static var forPath: TransportConfiguration {
        var configuration = TransportConfiguration(host: "a", port: 1, framing: .websocket)
        configuration.requestPath = "/chat?x=1"
        return configuration
    }

    private static var ofProtobuf: TransportConfiguration {
        var configuration = TransportConfiguration(host: "a", port: 1, framing: .varint)
        configuration.parsesProtobuf = true
        return configuration
    }

    private static var ofHeartbeat: TransportConfiguration {
        var configuration = TransportConfiguration(host: "a", port: 1)
        configuration.heartbeat = TransportHeartbeat(
            interval: .milliseconds(200), message: [0x50, 0xff], timeout: .seconds(1), answer: [])
        configuration.reconnect = TransportReconnect(shortest: .milliseconds(100), longest: .seconds(1))
        return configuration
    }

    private static var secured: TransportConfiguration {
        var configuration = TransportConfiguration(host: "a", port: 1)
        configuration.tls = TransportTLS(authorities: "ca.pem", name: "localhost", version: .tls12)
        return configuration
    }

    private static var onUnixSocket: TransportConfiguration {
        var configuration = TransportConfiguration(host: "", port: 0)
        configuration.path = "/tmp/é/S"
        return configuration
    }

    @Test(arguments: operations)
    func opsRoundTrip(operation: SubjectOperation) throws {
        let sent = AdapterRequest(id: 3, connection: 7, operation: operation)
        let line = sent.encoded()
        let read = try AdapterRequest.read(line)
        #expect(read.id == 3)
        #expect(read.connection == 7)
        #expect("\(read.operation)" == "\(operation)")
    }

    @Test func shortTimeoutIsRoundedUp() throws {
        let line = AdapterRequest(id: 1, connection: 1, operation: .read(.any, timeout: .nanoseconds(1))).encoded()
        #expect(String(decoding: line, as: UTF8.self).contains("\"timeout-ms\":1}"))
    }

    private static let wrongOps: [(String, Int?, String)] = [
        ("x", nil, "not JSON"), ("{}", nil, "without an id"), (#"{"op":"stop","id":4}"#, 4, "without a conn"),
        (#"{"op":"fly","id":4,"conn":1}"#, 4, "unsupported"),
        (#"{"op":"send","id":4,"conn":1,"data":"€"}"#, 4, "invalid"),
        (#"{"op":"send","id":4,"conn":1,"data":"a","kind":"line"}"#, 4, "invalid"),
        (#"{"op":"ping","id":4,"conn":1,"data":"€"}"#, 4, "invalid"),
        (#"{"op":"close","id":4,"conn":1,"code":65536}"#, 4, "invalid"),
        (#"{"op":"close","id":4,"conn":1,"code":"1000"}"#, 4, "invalid"),
        (#"{"op":"close","id":4,"conn":1,"code":1000,"reason":7}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"request-path":"chat"}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":65536}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"port":1}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"framing":"x"}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"high-water":0}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"allow-half-close":1}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"framing":"delimiter"}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"framing":"delimiter","delimiter":""}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"discard-too-long":"yes"}"#, 4, "invalid"),
        (#"{"op":"framing","id":4,"conn":1}"#, 4, "invalid"),
        (#"{"op":"framing","id":4,"conn":1,"framing":"x"}"#, 4, "invalid"),
        (#"{"op":"framing","id":4,"conn":1,"framing":"delimiter"}"#, 4, "invalid"),
        (#"{"op":"framing","id":4,"conn":1,"framing":"delimiter","delimiter":""}"#, 4, "invalid"),
        (#"{"op":"framing","id":4,"conn":1,"framing":"u16","behind":0}"#, 4, "invalid"),
        (#"{"op":"framing","id":4,"conn":1,"framing":"u16","behind":"x"}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"reads":"yes"}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"path":""}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"local":1}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"local-port":5}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"local":"::1","local-port":0}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"interface":2}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"prefer":"ipv5"}"#, 4, "invalid"),
        (#"{"op":"start-tls","id":4,"conn":1}"#, 4, "invalid"),
        (#"{"op":"start-tls","id":4,"conn":1,"tls":{"ca":"a"}}"#, 4, "invalid"),
        (#"{"op":"start-tls","id":4,"conn":1,"tls":{"ca":"a","name":""}}"#, 4, "invalid"),
        (#"{"op":"start-tls","id":4,"conn":1,"tls":{"ca":"a","name":"b","alpn":"imap"}}"#, 4, "invalid"),
        (#"{"op":"start-tls","id":4,"conn":1,"tls":{"ca":"a","name":"b","alpn":[""]}}"#, 4, "invalid"),
        (#"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"tls":true}"#, 4, "invalid"),
        (
            #"{"op":"connect","id":4,"conn":1,"host":"a","port":1,"tls":{"ca":"a","name":"b","version":1.3}}"#, 4,
            "invalid"
        ),
        (#"{"op":"read","id":4,"conn":1}"#, 4, "invalid"),
        (#"{"op":"read","id":4,"conn":1,"length":-1}"#, 4, "invalid"),
        (#"{"op":"read","id":4,"conn":1,"until":""}"#, 4, "invalid"),
    ]

    @Test(arguments: wrongOps)
    func invalidOpsAreRefused(line: String, id: Int?, text: String) {
        let error = #expect(throws: AdapterRequestError.self) { try AdapterRequest.read(Array(line.utf8)) }
        #expect(error?.id == id)
        #expect(error?.text.contains(text) == true)
    }

    private static let messages: [AdapterMessage] = [
        .hello(AdapterHello(name: "é \"x\"", version: "1", capabilities: Set(TransportCapability.allCases))),
        .hello(AdapterHello(name: "a", version: nil, capabilities: [.reads, .frames])),
        .hello(AdapterHello(name: "a", version: nil, capabilities: [])), .done(id: 1, error: nil, port: nil),
        .hello(AdapterHello(name: "a", version: nil, capabilities: [])),
        .hello(
            AdapterHello(
                name: "a", version: nil, capabilities: [.send], framings: [.crlf, .u16, .anyDelimiter], minor: 0)),
        .done(id: 1, error: nil, port: nil),
        .done(id: 2, error: "not-started", port: nil), .done(id: 3, error: nil, port: 80),
        .accept(connection: 1_000_000, listener: 1), .event(connection: 1, .started),
        .event(connection: 1, .line((0...255).map { UInt8($0) })), .event(connection: 1, .message([], kind: nil)),
        .event(connection: 1, .message([0xC3], kind: .text)), .event(connection: 1, .message([], kind: .binary)),
        .event(connection: 1, .ping([])), .event(connection: 1, .pong([255])),
        .event(connection: 1, .stopped(.closed(code: nil), detail: nil)),
        .event(connection: 1, .stopped(.closed(code: 4999), detail: "bye")),
        .event(connection: 1, .data([0])), .event(connection: 1, .leftover([255])), .event(connection: 1, .sent(0)),
        .event(connection: 1, .halfClosed), .event(connection: 1, .discarded), .event(connection: 1, .full),
        .event(connection: 2, .drained), .event(connection: 1, .lost(.eof, dropped: 0, detail: nil)),
        .event(connection: 1, .lost(.closed(code: 1001), dropped: 1 << 40, detail: "x\ny")),
        .event(connection: 1, .attemptFailed(.refused, detail: "no")),
        .event(connection: 1, .secured(.tls12, protocol: nil)),
        .event(connection: 1, .secured(.tls13, protocol: [105, 255])),
        .event(connection: 1, .stopped(.tlsTruncated, detail: nil)),
        .event(connection: 1, .stopped(.tooLong, detail: nil)), .event(connection: 1, .stopped(.eof, detail: "x\ny")),
    ]

    @Test func absentProtocolHasThreeSpellings() throws {
        let secured = AdapterMessage.event(connection: 1, .secured(.tls13, protocol: nil))
        for more in ["", #","alpn":"""#, #","alpn":null"#] {
            let line = #"{"ev":"secured","conn":1,"version":"1.3"\#(more)}"#
            #expect(try AdapterMessage.read(Array(line.utf8)) == secured, "\(line)")
        }
    }

    private static let assumed: [(String, Set<TransportCapability>)] = [
        (#"["lines"],"lacks":[]"#, [.lines, .watches, .frames, .pings]),
        (#"["lines"]"#, [.lines, .watches, .frames, .pings]),
        (#"["reads"],"lacks":["watches"]"#, [.reads, .frames, .pings]),
        (#"[],"lacks":["frames","watches","pings"]"#, []),
        // `websocket` is a capability here, not a framing, so no framings are declared.
        (#"["websocket"],"lacks":["pings"]"#, [.webSocket, .watches, .frames]),
    ]

    @Test(arguments: assumed)
    func assumedCapabilitiesCanBeDenied(words: String, capabilities: Set<TransportCapability>) throws {
        let line = #"{"ev":"hello","proto":1,"name":"a","can":\#(words)}"#
        let hello = AdapterHello(name: "a", version: nil, capabilities: capabilities, minor: 0)
        #expect(try AdapterMessage.read(Array(line.utf8)) == .hello(hello))
    }

    /// APIs report a close frame without a code in three ways: no code, 1005, or null.
    @Test(arguments: ["", #","code":1005"#, #","code":null"#])
    func closeMayHaveNoCode(code: String) throws {
        let line = #"{"ev":"stop","conn":1,"reason":"closed"\#(code)}"#
        let stop = AdapterMessage.event(connection: 1, .stopped(.closed(code: nil), detail: nil))
        #expect(try AdapterMessage.read(Array(line.utf8)) == stop)
    }

    @Test(arguments: messages)
    func messagesRoundTrip(message: AdapterMessage) throws {
        #expect(try AdapterMessage.read(message.encoded()) == message)
    }

    @Test func helloOfAnyMinorVersionIsAccepted() throws {
        func hello(_ fields: String) throws -> AdapterHello? {
            let line = #"{"ev":"hello","proto":1,"name":"a",\#(fields)}"#
            guard case .hello(let hello) = try AdapterMessage.read(Array(line.utf8)) else { return nil }
            return hello
        }
        let old = try hello(#""can":["send","lines"]"#)
        #expect(
            old?.minor == 0 && old?.framings == nil && old?.capabilities == [.send, .lines, .watches, .frames, .pings])
        let framed = try hello(#""minor":1,"can":["send","crlf","delimiter"],"lacks":["frames"]"#)
        #expect(framed?.framings == [.crlf, .anyDelimiter] && framed?.capabilities == [.send, .watches, .pings])
        // Unknown words that a later protocol version defines are ignored.
        let later = try hello(#""minor":5,"can":["send","fly"],"lacks":["swim","watches"]"#)
        #expect(later?.minor == 5 && later?.capabilities == [.send, .frames, .pings])
    }

    @Test(arguments: [(0, false), (1, true)])
    func readsIsSentFromVersion1Dot1(minor: Int, isTold: Bool) throws {
        var state = AdapterProtocolState()
        _ = try state.receive(.hello(AdapterHello(name: "a", version: nil, capabilities: [.reads], minor: minor)))
        var configuration = TransportConfiguration(host: "127.0.0.1", port: 1)
        configuration.reads = true
        for (number, operation) in [SubjectOperation.connect(configuration), .listen(configuration)].enumerated() {
            let request = state.request(operation, on: number + 1)
            let line = try #require(request).line
            #expect(String(decoding: line, as: UTF8.self).contains(#""reads":true"#) == isTold)
        }
    }

    private static let wrongMessages: [(String, String)] = [
        ("Listening…", "not JSON"), ("[]", "an array instead of an object"), ("{}", "without `ev`"),
        (#"{"ev":"boom","conn":1}"#, "unknown event"), (#"{"ev":"line","data":"x"}"#, "without the number `conn`"),
        (#"{"ev":"line","conn":"1","data":"x"}"#, "without the number `conn`"),
        (#"{"ev":"line","conn":1}"#, "without `data`"),
        (#"{"ev":"line","conn":1,"data":"€"}"#, "U+0000 to U+00FF"),
        (#"{"ev":"sent","conn":1,"bytes":-1}"#, "-1 bytes"),
        (#"{"ev":"sent","conn":1,"bytes":9223372036854775807}"#, "bytes"),
        (#"{"ev":"secured","conn":1}"#, "without a valid `version`; valid versions: 1.2 1.3"),
        (#"{"ev":"secured","conn":1,"version":"1.1"}"#, "without a valid `version`"),
        (#"{"ev":"secured","conn":1,"version":"1.3","alpn":["imap"]}"#, "U+0000 to U+00FF"),
        (#"{"ev":"stop","conn":1}"#, "without a `reason`"),
        (#"{"ev":"lost","conn":1}"#, "without a `reason`"),
        (#"{"ev":"lost","conn":1,"reason":"boom"}"#, "unknown `reason`"),
        (#"{"ev":"lost","conn":1,"reason":"eof","dropped":-1}"#, "-1 bytes dropped"),
        (#"{"ev":"lost","conn":1,"reason":"eof","dropped":"x"}"#, "without the number `dropped`"),
        (#"{"ev":"attempt-failed","conn":1}"#, "without a `reason`"),
        (#"{"ev":"stop","conn":1,"reason":"closed","code":"1000"}"#, "an invalid `code`"),
        (#"{"ev":"stop","conn":1,"reason":"closed","code":65536}"#, "an invalid `code`"),
        (#"{"ev":"message","conn":1,"data":"x","kind":"line"}"#, "neither `text` nor `binary`"),
        (#"{"ev":"message","conn":1,"data":"x","kind":7}"#, "`message` with"),
        (#"{"ev":"ping","conn":1}"#, "without `data`"), (#"{"ev":"pong","conn":1,"data":1}"#, "U+0000 to U+00FF"),
        (#"{"ev":"stop","conn":1,"reason":"x"}"#, "unknown `reason`; known reasons: eof reset"),
        (#"{"ev":"done"}"#, "without the number `id`"),
        (#"{"ev":"done","id":1,"port":65536}"#, "`port`"), (#"{"ev":"done","id":1,"error":1}"#, "a number as `error`"),
        (#"{"ev":"hello","name":"a","can":[]}"#, "without `proto`"),
        (#"{"ev":"hello","proto":2,"name":"a","can":[]}"#, "protocol 2"),
        (#"{"ev":"hello","proto":1,"can":[]}"#, "`name`"),
        (#"{"ev":"hello","proto":1,"name":"\u001b","can":[]}"#, "`name`"),
        (#"{"ev":"hello","proto":1,"name":"a"}"#, "a `can` list"),
        (#"{"ev":"hello","proto":1,"name":"a","can":[1]}"#, "a number in it"),
        (#"{"ev":"hello","proto":1,"name":"a","can":["fly"]}"#, "capability"),
        (#"{"ev":"hello","proto":1,"name":"a","can":["frames"]}"#, "`can` with `frames`, which is assumed"),
        (#"{"ev":"hello","proto":1,"name":"a","can":[],"lacks":["lines"]}"#, "`lacks` with `lines`"),
        (#"{"ev":"hello","proto":1,"name":"a","can":[],"lacks":["fly"]}"#, "`lacks` with an unknown capability"),
        (#"{"ev":"hello","proto":1,"name":"a","can":[],"lacks":"watches"}"#, "a string as `lacks`"),
        (#"{"ev":"hello","proto":1,"minor":1,"name":"a","can":["fly"]}"#, "capability"),
        (#"{"ev":"hello","proto":1,"minor":"x","name":"a","can":[]}"#, "`minor`"),
    ]

    @Test(arguments: wrongMessages)
    func invalidMessagesAreRefused(line: String, text: String) {
        let error = #expect(throws: AdapterMessageError.self) { try AdapterMessage.read(Array(line.utf8)) }
        #expect(error?.text.contains(text) == true, "\(error?.text ?? "")")
    }

    @Test(arguments: [
        ("python3 a.py", ["python3", "a.py"]), ("  a\tb\n", ["a", "b"]), ("a 'b c' \"d e\"", ["a", "b c", "d e"]),
        (#"a\ b "\"\\\$\x" '\'"#, ["a b", #""\$\x"#, #"\"#]), ("a '' \"\"", ["a", "", ""]), ("a'b'\"c\"d", ["abcd"]),
        ("a $HOME *", ["a", "$HOME", "*"]),
    ])
    func commandsAreSplit(command: String, words: [String]) throws {
        #expect(try CommandWords.split(command) == words)
    }

    @Test(arguments: [
        ("", CommandWords.Failure.empty), ("  ", .empty), ("''", .empty), ("a 'b", .openQuote("'")),
        ("a \"b\\\"", .openQuote("\"")),
        ("a\0b", .nul),
    ])
    func invalidCommandsAreRefused(command: String, failure: CommandWords.Failure) {
        #expect(throws: failure) { try CommandWords.split(command) }
    }

    @Test func linesAreSplitAndBounded() throws {
        var buffer = LineBuffer(limit: 4)
        var lines: [[UInt8]] = []
        for byte in Array("ab\n\nabcd\nx".utf8) {
            try buffer.append([byte]) { line in
                lines.append(line)
                return true
            }
        }
        #expect(lines == [Array("ab".utf8), [], Array("abcd".utf8)])
        #expect(buffer.rest == [120])
        #expect(throws: LineBuffer.TooLong.self) { try buffer.append(Array("yyyy".utf8)[...]) { _ in true } }
    }

    @Test func stderrKeepsItsLastLines() {
        var tail = StderrTail()
        for number in 0..<100 { _ = tail.append(Array("line \(number)\n".utf8)[...]) }
        _ = tail.append([UInt8](repeating: 120, count: 1 << 20)[...])
        _ = tail.finish()
        #expect(tail.lines.count == 8)
        #expect(tail.lines[6] == Array("line 99".utf8))
        #expect(tail.lines[7].count < 2100)
        #expect(tail.finish().isEmpty)
    }
}

extension AdapterRequest {
    /// Parses a request, with or without its line feed.
    static func read(_ line: [UInt8]) throws(AdapterRequestError) -> AdapterRequest {
        try AdapterRequest(line: line.span)
    }
}

extension AdapterMessage {
    /// Parses a message, with or without its line feed.
    static func read(_ line: [UInt8]) throws(AdapterMessageError) -> AdapterMessage {
        try AdapterMessage(line: line.span)
    }
}
