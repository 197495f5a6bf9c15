import ProbeBase

/// The parts of a scenario with a client `C`, a server `S`, and a link between them.
struct ReproductionScript {
    private let title: String
    /// The end of the link at which the finding shows.
    var end = ConversationSide.client
    /// What follows the declarations of the two actors, such as `with receive-buffer 16KiB`.
    var options: [ConversationSide: String] = [:]
    /// Further clients, which are on the client's side of the link.
    var furtherClients: [String] = []
    /// The deadline of each step, in seconds.
    var deadline = 10
    private(set) var steps: [String] = []
    /// The time that the steps wait in all.
    var milliseconds = 0

    init(_ title: String) { self.title = title }

    /// The name of an actor.
    static func name(_ side: ConversationSide) -> String { side == .client ? "C" : "S" }

    /// The direction of the packets that a side sends, as a link's step names it.
    static func direction(from side: ConversationSide) -> String { "\(name(side)) -> \(name(side.opposite))" }

    // MARK: Steps

    mutating func add(_ steps: String...) { self.steps += steps }

    mutating func add(_ steps: [String]) { self.steps += steps }

    /// Adds a fault or a state of the link in the direction of the packets that `sender` sends.
    mutating func addFault(from sender: ConversationSide, _ fault: String) {
        steps.append("link \(Self.direction(from: sender)) \(fault)")
    }

    mutating func connect() { add("C connect", "S accept") }

    /// Adds a request and an answer, each of one line.
    mutating func exchange(pausing pause: (side: ConversationSide, milliseconds: Int)? = nil) {
        if let pause, pause.side == .client { wait(pause.milliseconds) }
        deliver("line \"request\"", from: .client)
        if let pause, pause.side == .server { wait(pause.milliseconds) }
        deliver("line \"answer\"", from: .server)
    }

    /// Adds the sending of a value that the other side expects.
    ///
    /// - Parameter pacing: the clauses of the `send`, such as `in pieces of 4B every 2ms`.
    mutating func deliver(_ value: String, from sender: ConversationSide, _ pacing: String = "") {
        add(
            "\(Self.name(sender)) send \(value)\(pacing.isEmpty ? "" : " \(pacing)")",
            "\(Self.name(sender.opposite)) expect \(value)")
    }

    /// Adds a transfer that fills the connection.
    mutating func transfer(_ size: String, from sender: ConversationSide) {
        let (own, other) = (Self.name(sender), Self.name(sender.opposite))
        add("\(own) start sending \"x\" * \(size)", "\(other) expect \"x\" * \(size)", "\(own) expect sent")
    }

    mutating func wait(_ milliseconds: Int) {
        self.milliseconds += milliseconds
        add("wait \(milliseconds)ms")
    }

    /// Adds a close by one side, and then by the other.
    mutating func close(first side: ConversationSide = .client) {
        let (own, other) = (Self.name(side), Self.name(side.opposite))
        add("\(own) close", "\(other) expect eof", "\(other) close")
    }

    // MARK: Text

    func text(origin: String, sentence: String, _ place: FindingSide) -> String {
        var lines = ["scenario \"\(title)\"", "about \"\(Self.quoted("Recreates \(origin): \(sentence)"))\""]
        lines.append("timeout \(deadline)s")
        // By default, a case may take 60 s.
        if milliseconds > 30_000 { lines.append("case-timeout 120s") }
        lines.append("")
        lines += Self.advice(place)
        lines.append("")
        lines.append("server S\(option(.server))")
        lines.append("client C -> S\(option(.client))")
        lines += furtherClients.map { "client \($0) -> S" }
        lines.append("link \((["C"] + furtherClients).joined(separator: ", ")) <-> S")
        lines.append("")
        lines += steps
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns comments that say how to replace an endpoint by a program.
    private static func advice(_ place: FindingSide) -> [String] {
        let server = [
            "# `process P = my-server --port ${P.port}`, with `link C <-> P` and `client C -> P`. Begin the steps with",
            "# `P start` and `P expect listening`, and remove the steps of S.",
        ]
        let client = [
            "# `process P = my-client ${S.address} ${S.port}`, with `link P <-> S` and `P start` instead of `C connect`,",
            "# or by `subject T -> S`, with `link T <-> S` and `T start`, for a transport. Remove the steps of C.",
        ]
        return switch place {
        case .client: ["# C causes the condition. To see how a server copes with it, replace S by"] + server
        case .server: ["# S causes the condition. To see how a client copes with it, replace C by"] + client
        default:
            ["# The link causes the condition. To see how a server copes with it, replace S by"] + server
                + ["# To see how a client copes with it, replace C by"] + client
        }
    }

    private func option(_ side: ConversationSide) -> String { options[side].map { " \($0)" } ?? "" }

    /// Returns text for a string of the language.
    private static func quoted(_ text: String) -> String {
        Escaped.bytes(Array(text.utf8)).replacing("${", with: "$ {")
    }
}
