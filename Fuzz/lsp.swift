import ProbeBase
import ProbeScenario

@testable import ProbeEditor

/// Fuzzes the input of the language server: the stream of messages, JSON-RPC and the requests. The fuzzer is compiled
/// with ProbeBase, ProbeScenario and ProbeEditor.
///
/// The first byte selects the kind of input: a raw stream or lines. Each line becomes a message with a valid header,
/// and the messages follow the handshake and the opening of a document. The way in which the stream is cut must not
/// change the output of the server, which must consist of valid messages.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLSP(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let rest = Array(input.dropFirst())
    var stream = rest
    if first & 1 != 0 {
        stream = beginning.flatMap { MessageFraming.framed(Array($0.utf8)) }
        for (number, line) in rest.split(separator: 10).prefix(50).enumerated() {
            stream += MessageFraming.framed(message(Array(line), number))
        }
    }
    let whole = answers(to: stream, cutEvery: stream.count)
    let pieces = answers(to: stream, cutEvery: Int(first >> 1) + 1)
    if whole != pieces { fatalError("a cut changed the server's output") }
    readMessages(whole)
    return 0
}

private let document = "file:///scripts/a.scn"

private let beginning = [
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"capabilities\":{}}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":{\"uri\":\"\(document)\",\"version\":1,\"languageId\":\"scn\",\"text\":\"scenario \\\"a\\\"\\n\\nserver S\\nclient C -> S\\n\\nC connect\\nS accept\\nC send line \\\"é😀\\\"\\n\"}}}",
]

/// Returns the message that corresponds to a line of the input. A line that begins with a brace is itself the message.
///
/// In any other line, the first byte selects a request, the next four bytes are positions in the document, and the
/// remaining bytes are the new text of the document.
private func message(_ line: [UInt8], _ number: Int) -> [UInt8] {
    if line.first == UInt8(ascii: "{") { return line }
    let methods = [
        "hover", "completion", "definition", "documentSymbol", "formatting", "codeLens", "didChange", "didSave",
    ]
    let method = methods[Int(line.first ?? 0) % methods.count]
    func byte(_ index: Int) -> Int { index < line.count ? Int(line[index]) : 0 }
    func position(_ index: Int) -> JSONValue {
        .object([("line", .integer(byte(index) % 16)), ("character", .integer(byte(index + 1) % 64))])
    }
    var parameters: [JSONValue.Member] = [
        ("textDocument", .object([("uri", .string(document)), ("version", .integer(number + 2))])),
        ("position", position(1)),
    ]
    if method == "didChange" {
        let text = String(decoding: line.dropFirst(5).map { $0 == 0x7C ? 10 : $0 }, as: UTF8.self)
        var change: [JSONValue.Member] = [("text", .string(text))]
        if line.count % 4 != 0 { change.append(("range", .object([("start", position(1)), ("end", position(3))]))) }
        parameters.append(("contentChanges", .array([.object(change)])))
    }
    var members: [JSONValue.Member] = [("jsonrpc", .string("2.0")), ("method", .string("textDocument/\(method)"))]
    if !method.hasPrefix("did") { members.append(("id", .integer(number + 1))) }
    return JSONValue.object(members + [("params", .object(parameters))]).encoded()
}

/// Returns the server's output for a stream that is received in chunks of `size` bytes.
///
/// Each message is answered before the next one is received, regardless of the size of the chunks. Otherwise, the
/// server would omit answers that a later message makes unnecessary.
private func answers(to stream: [UInt8], cutEvery size: Int) -> [UInt8] {
    var server = EditorServer(version: "1", allowing: AllowedTargets()) { (_) throws(LoadError) in throw .notFound }
    var output: [UInt8] = []
    var framing = MessageFraming()
    for start in stride(from: 0, to: stream.count, by: max(1, size)) {
        framing.append(Array(stream[start..<min(start + max(1, size), stream.count)]).span)
        do throws(MessageFraming.Failure) {
            while let message = try framing.next() {
                try server.receive(MessageFraming.framed(message).span)
                output += server.settle()
                if server.exitCode != nil { return output }
            }
        } catch {
            return output
        }
    }
    return output
}

private func readMessages(_ output: [UInt8]) {
    var framing = MessageFraming()
    framing.append(output.span)
    do {
        while let message = try framing.next() {
            let value = try JSONParser.parse(message.span)
            if value["jsonrpc"]?.text != "2.0" { fatalError("a message is not JSON-RPC") }
        }
    } catch {
        fatalError("the server's output can't be read: \(error)")
    }
    if framing.isInside { fatalError("the server wrote an incomplete message") }
}
