package import ProbeBase
import ProbeWire

/// The notes that a run writes into a capture about its names and its `wire` steps. With these notes, `inspect --check`
/// judges a line of the script as the run did: for the same connection, and with the packets that the run had captured
/// when it judged the line.
///
/// Each note is a comment in the capture file and contains one JSON object. Any program may have written the file, so
/// unreadable notes are skipped.
package struct CaptureNotes: Sendable, Equatable {
    /// A name that referred to one end of a connection, and was later used for a newer connection.
    package struct EarlierName: Sendable, Equatable {
        package var name: String
        package var side: ConversationSide

        package init(name: String, side: ConversationSide) { (self.name, self.side) = (name, side) }
    }

    /// A connection, and the names of the actors at its two ends.
    package struct Connection: Sendable, Equatable {
        package var client: SocketEndpoint
        package var server: SocketEndpoint
        /// The sequence number of the connection's SYN, which distinguishes the connection from others between the same
        /// endpoints.
        package var sequence: UInt32
        /// The names that are known to refer to the connection's client.
        package var clientNames: [String] = []
        package var serverNames: [String] = []
        /// The names that may refer to the connection's client or to the client of another connection.
        package var clientCandidates: [String] = []
        package var serverCandidates: [String] = []
        /// The names that referred to an end of the connection, but refer to a newer connection at the end of the case.
        package var earlierNames: [EarlierName] = []
        /// The reason why a failure on the connection can't be attributed to a particular actor; `nil` if there is no
        /// such reason.
        package var doubt: String?
        /// Whether the connection belonged to a failed attempt of a `retry`, to which no statement applies.
        package var isDiscarded = false

        package init(client: SocketEndpoint, server: SocketEndpoint, sequence: UInt32) {
            self.client = client
            self.server = server
            self.sequence = sequence
        }

        package func names(at side: ConversationSide) -> [String] { side == .client ? clientNames : serverNames }

        package func earlier(at side: ConversationSide) -> [String] {
            earlierNames.filter { $0.side == side }.map(\.name)
        }

        package func candidates(at side: ConversationSide) -> [String] {
            side == .client ? clientCandidates : serverCandidates
        }
    }

    /// The connections to which a statement applied when it was judged.
    package enum Target: Sendable, Equatable {
        /// One end of the connection with the given index in `connections`.
        case end(Int, ConversationSide)
        /// All connections except those with the given indices in `connections`.
        case every(except: [Int])
        /// No connection matched the names in the statement, for the given reason.
        case nothing(String)
        /// The statement could not be judged, for the given reason.
        case inconclusive(String)
    }

    /// The value of a name that occurs in a statement.
    package enum NamedValue: Sendable, Equatable {
        case integer(Int)
        case bytes([UInt8])
    }

    /// A `wire` step that has been judged.
    package struct Step: Sendable, Equatable {
        /// The step's location in the script, such as `crlf.scn:12`.
        package var place: String
        /// The step's text in the form that `normalized(_:)` returns.
        package var text: String
        /// The times of the last judged packets on loopback and on links, in nanoseconds since 1970; 0 if no packet was
        /// judged.
        package var lastOnLoopback: UInt64
        package var lastOnLinks: UInt64
        package var target: Target
        package var values: [String: NamedValue] = [:]

        package init(place: String, text: String, lastOnLoopback: UInt64, lastOnLinks: UInt64, target: Target) {
            self.place = place
            self.text = text
            self.lastOnLoopback = lastOnLoopback
            self.lastOnLinks = lastOnLinks
            self.target = target
        }
    }

    package var connections: [Connection] = []
    package var steps: [Step] = []
    /// The framing of the case's script; `nil` if there are no notes.
    package var framing: Framing?
    /// The actors of the case.
    package var actors: [String] = []
    /// The actors that refer to all connections from or to an endpoint rather than to a single connection.
    package var places: [String] = []

    package init() {}

    /// All names that statements may use.
    package var names: Set<String> {
        Set(actors).union(
            connections.flatMap {
                $0.clientNames + $0.serverNames + $0.clientCandidates + $0.serverCandidates
            })
    }

    /// Returns the steps whose normalized text equals that of the given statement.
    package func steps(like text: String) -> [Step] {
        if steps.isEmpty { return [] }
        let text = Self.normalized(text)
        return steps.filter { $0.text == text }
    }

    /// Returns a statement in the form in which statements are compared: without the word `wire`, and with single
    /// spaces.
    package static func normalized(_ text: String) -> String {
        let words = text.split { $0 == " " || $0 == "\t" || $0.isNewline }
        return (words.first == "wire" ? words.dropFirst() : words[...]).joined(separator: " ")
    }
}

// MARK: As comments

extension CaptureNotes {
    private static let maxConnections = 10_000
    private static let maxSteps = 1_000
    /// The maximum length of a pcapng option, in bytes.
    private static let longestComment = 65_535

    /// The fields of the note about the case itself.
    private static let head: [JSONField<CaptureNotes>] = [
        .optional("framing", \.framing, framing), .list("actors", \.actors, .texts), .list("places", \.places, .texts),
    ]

    private static let framing = JSONCodec<Framing>(
        "a framing", encode: { .string($0.rawValue) },
        decode: { value, _ in value.text.flatMap(Framing.init(rawValue:)) })

    /// The notes as comments for a capture file. Notes that exceed the limits are omitted.
    package var comments: [String] {
        if framing == nil { return [] }
        let all: [[JSONValue.Member]] =
            [Self.head.members(of: self)] + connections.prefix(Self.maxConnections).map { [("connection", $0.json)] }
            + steps.suffix(Self.maxSteps).map { [("step", $0.json)] }
        return all.compactMap { members in
            let bytes = JSONValue.object(members).encoded()
            return bytes.count <= Self.longestComment ? String(decoding: bytes, as: UTF8.self) : nil
        }
    }

    package init(comments: [String]) {
        var isNumbered = true
        for comment in comments where comment.hasPrefix("{") {
            let bytes = Array(comment.utf8)
            // A comment that is not a JSON object with the expected members is ignored, because another program or a
            // person wrote it.
            guard let value = try? JSONParser.parse(bytes.span) else { continue }
            // A damaged note about the case is treated as missing.
            if value["framing"] != nil { try? Self.head.decode(value, into: &self) }
            if let note = value["connection"] {
                let connection = Connection(json: note)
                // Steps refer to connections by index, so the connections after an unreadable one can't be used.
                isNumbered = isNumbered && connection != nil
                if isNumbered, let connection { connections.append(connection) }
            }
            if let step = value["step"].flatMap(Step.init(json:)) { steps.append(step) }
        }
        let count = connections.count
        steps.removeAll { step in
            if case .end(let number, _) = step.target { number >= count } else { false }
        }
    }
}

extension CaptureNotes.Connection: JSONConvertible {
    package static let codec = JSONCodec.object(
        Self(client: noEndpoint, server: noEndpoint, sequence: 0),
        [
            .required("client", \.client, endpoint), .required("server", \.server, endpoint),
            .required("sequence", \.sequence, .integer),
            .list("clientNames", \.clientNames, .texts, writesEmpty: false),
            .list("serverNames", \.serverNames, .texts, writesEmpty: false),
            .list("clientCandidates", \.clientCandidates, .texts, writesEmpty: false),
            .list("serverCandidates", \.serverCandidates, .texts, writesEmpty: false),
            .list("clientEarlier", \.clientEarlier, .texts, writesEmpty: false),
            .list("serverEarlier", \.serverEarlier, .texts, writesEmpty: false), .optional("doubt", \.doubt, .text),
            .mark("discarded", \.isDiscarded),
        ])

    private static let noEndpoint = SocketEndpoint(address: .loopbackV4, port: 0)

    private static let endpoint = JSONCodec<SocketEndpoint>(
        "an address with a port", encode: { .string($0.description) },
        decode: { value, _ in value.text.flatMap { SocketEndpoint($0) } })

    private var clientEarlier: [String] {
        get { earlier(at: .client) }
        set { earlierNames = newValue.map { .init(name: $0, side: .client) } }
    }

    /// The earlier names of the server's end, which are decoded after the earlier names of the client's end.
    private var serverEarlier: [String] {
        get { earlier(at: .server) }
        set { earlierNames += newValue.map { .init(name: $0, side: .server) } }
    }
}

extension CaptureNotes.Step: JSONConvertible {
    package static let codec = JSONCodec.object(
        Self(place: "", text: "", lastOnLoopback: 0, lastOnLinks: 0, target: .every(except: [])),
        [
            .required("at", \.place, .text), .required("text", \.text, .text),
            .required("loopback", \.lastOnLoopback, .integer), .required("links", \.lastOnLinks, .integer),
            .part(\.target, target), .defaulted("values", \.values, values, isOmitted: \.isEmpty),
        ])

    private static let target = JSONCodec<CaptureNotes.Target>("a target") { target in
        switch target {
        case .end(let number, let side):
            .object([("connection", .integer(number)), ("from", .string(side == .client ? "client" : "server"))])
        case .every(let except): .object([("except", .array(except.map(JSONValue.integer)))])
        case .nothing(let text): .object([("nothing", .string(text))])
        case .inconclusive(let text): .object([("inconclusive", .string(text))])
        }
    } decode: { (value, _) throws(JSONContentError) in
        if let number = try value.optional("connection", JSONCodec<Int>.integer(in: 0...Int.max)) {
            return .end(number, try value.required("from", .text) == "client" ? .client : .server)
        }
        if let except = try value.optional("except", .list(of: JSONCodec<Int>.integer)) {
            return .every(except: except)
        }
        if let text = try value.optional("nothing", .text) { return .nothing(text) }
        return try value.optional("inconclusive", .text).map { .inconclusive($0) }
    }

    /// The codec of a step's values, which are encoded in the order of their names.
    private static let values = JSONCodec<[String: CaptureNotes.NamedValue]>("an object") { values in
        .object(
            values.sorted { $0.key < $1.key }.map { name, value in
                switch value {
                case .integer(let number): (name, .integer(number))
                case .bytes(let bytes): (name, .latin1(bytes))
                }
            })
    } decode: { value, _ in
        guard case .object(let members) = value else { return nil }
        var values: [String: CaptureNotes.NamedValue] = [:]
        for (name, value) in members {
            values[name] = value.integer.map { .integer($0) } ?? value.latin1.map { .bytes($0) }
        }
        return values
    }
}
