import ProbeBase

@testable import ProbeScenario

/// Creates complete scripts from the examples in the language table.
enum ExampleScript {
    /// The files that examples include and read.
    static let files = ["payload.bin": "x", "common.scn": "let who = \"bob\"\n"]

    /// The entries whose examples require a connection with TLS.
    private static let ofTLS =
        TLSAction.phrases.map(\.entry.spelling).filter { $0 != "start tls" } + ["notify", "truncated", "alert"]

    /// Returns the lines that precede an example, which depend on the kind of its actor.
    private static func frame(_ listed: ListedEntry) -> String {
        let pair = "server S\nclient C -> S\n"
        let connected = pair + "C connect\nS accept\n"
        switch listed.category {
        case .verb, .expectation:
            switch listed.kind {
            case .server: return "server S\n"
            case .client:
                return listed.entry.spelling == "connect to" ? "client C\n" : pair
            case .subject:
                let listens = listed.entry.spelling == "accept as"
                let isAboutWebSocket = [.webSocket, .pings].contains(listed.entry.capability)
                let unframed = listed.entry.spelling == "bytes" ? "framing none\n" : ""
                let framing = isAboutWebSocket ? "framing websocket\n" : unframed
                return framing
                    + (listens ? "subject T listens\n" : "server S\nsubject T -> S with reconnect 100ms..1s\n")
                    + "T start\n"
            case .process: return "process P = prog\n"
            case .proxy: return "server S\nproxy X -> S\n"
            case .crowd: return "server S\ncrowd W = 20 clients -> S\n"
            case .connection, .link, nil:
                let requiresTLS = ofTLS.contains { listed.entry.spelling.hasPrefix($0) }
                return requiresTLS ? "server S tls\nclient C -> S tls\nC connect\nS accept\n" : connected
            }
        case .header: return ""
        // The members connect to a program, because a server that the script declares can't serve a crowd.
        case .member: return "process P = prog\ncrowd W = 20 clients -> P\n"
        case .link: return pair + "link S <-> C\nC connect\nS accept\n"
        case .step where ["link", "name"].contains(listed.entry.spelling):
            return pair + "link S <-> C\nC connect\nS accept\n"
        case .step, .wire, .function: return connected
        }
    }

    /// Returns a script that contains the example.
    static func text(of listed: ListedEntry) -> String {
        var step = listed.example
        var head = "scenario \"example\"\n"
        let before = (listed.entry.preparation.map { $0 + "\n" } ?? "")
        switch listed.category {
        case .header:
            let isOnLink = listed.entry.spelling == "name"
            let rest =
                (isOnLink ? "link S <-> C\n" : "")
                + "server S\nclient C -> S\nC connect\nS accept\nC send \"a\"\nS expect \"a\"\n"
            return listed.entry.spelling == "scenario" ? "\(step)\n\(rest)" : "\(head)\(step)\n\(rest)"
        case .function where listed.entry.spelling == "cuts":
            head += "each piece = \(step)\n"
            step = "C send piece"
        case .function where ["int", "len"].contains(listed.entry.spelling): step = "check \(step) == 12"
        case .function: step = "C send \(step)"
        case .step, .verb, .expectation, .wire, .link, .member: break
        }
        let start =
            listed.kind == .process && listed.entry.preparation == nil && listed.entry.spelling == "start" ? "" : before
        return head + frame(listed) + start + step + "\n"
    }
}
