import ProbeBase
import ProbeScenario

@testable import ProbeEditor

/// An editor server and the files that it can read.
struct EditorHarness {
    static let uri = "file:///scripts/a.scn"

    private(set) var server: EditorServer
    private var number = 0

    init(files: [String: String] = [:], capabilities: String = "{}", isInitialized: Bool = true) throws {
        server = EditorServer(version: "1.2.3", allowing: AllowedTargets()) { file throws(LoadError) in
            guard let text = files[file.shown] else { throw .notFound }
            return Array(text.utf8)
        }
        guard isInitialized else { return }
        _ = try request("initialize", "{\"capabilities\":\(capabilities)}")
    }

    /// Sends messages, each given as JSON text, and returns the server's responses and notifications.
    mutating func exchange(_ messages: [String]) throws -> [JSONValue] {
        for message in messages { try server.receive(MessageFraming.framed(Array(message.utf8)).span) }
        var framing = MessageFraming()
        framing.append(server.settle().span)
        var answers: [JSONValue] = []
        while let bytes = try framing.next() { answers.append(try JSONParser.parse(bytes.span)) }
        return answers
    }

    /// Returns the result of a request, or the whole message if it is an error.
    mutating func request(_ method: String, _ params: String = "null") throws -> JSONValue {
        number += 1
        let message = "{\"jsonrpc\":\"2.0\",\"id\":\(number),\"method\":\"\(method)\",\"params\":\(params)}"
        let answer = try exchange([message]).first { $0["id"]?.integer == number } ?? .null
        return answer["result"] ?? answer
    }

    /// Opens a document, or replaces its text, and returns the diagnostics that are published for the document.
    mutating func open(_ text: String, uri: String = Self.uri) throws -> [JSONValue] {
        let item: JSONValue = .object([
            ("uri", .string(uri)), ("version", .integer(1)), ("languageId", .string("scn")), ("text", .string(text)),
        ])
        let message: JSONValue = .object([
            ("jsonrpc", .string("2.0")), ("method", .string("textDocument/didOpen")),
            ("params", .object([("textDocument", item)])),
        ])
        let answers = try exchange([String(decoding: message.encoded(), as: UTF8.self)])
        let published = answers.first { $0["params"]?["uri"]?.text == uri }
        guard case .array(let diagnostics) = published?["params"]?["diagnostics"] else { return [] }
        return diagnostics
    }

    /// Sends a request about a position in an open document.
    mutating func ask(_ method: String, line: Int, character: Int, uri: String = Self.uri) throws -> JSONValue {
        try request(
            "textDocument/\(method)",
            "{\"textDocument\":{\"uri\":\"\(uri)\"},\"position\":{\"line\":\(line),\"character\":\(character)}}")
    }

    /// Returns the completions at the end of a text.
    mutating func completed(_ text: String) throws -> [String] {
        _ = try open(text)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let answer = try ask("completion", line: lines.count - 1, character: lines.last?.utf16.count ?? 0)
        guard case .array(let items) = answer["items"] else { return [] }
        return items.compactMap { $0["label"]?.text }
    }
}
