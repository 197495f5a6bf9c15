import ArgumentParser
import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeInspect
import ProbeWire

/// The options that select packets and flows. `watch` shares the packet filter.
struct ConnectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only flows with this address at one end; may be repeated.", valueName: "address"))
    var host: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Only flows with this port at one end; may be repeated.", valueName: "port"))
    var port: [UInt16] = []

    @Option(
        help: ArgumentHelp(
            "Only flows with a reset, a retransmission, …; may be repeated: one of them is enough.",
            valueName: "what"))
    var with: [ConnectionTrait] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only flows that began then or later: 14:03, 14:03:22.5, 2026-11-22T14:03:22 (Z for UTC), or seconds behind the first: +2.5.",
            valueName: "time"))
    var since: String?

    var criteria: ConnectionCriteria {
        get throws {
            guard let since else { return ConnectionCriteria(traits: with) }
            guard let time = StartTime(since) else {
                throw Failure.wrongUse(
                    "--since \(Escaped.text(since)): this is no time; such as 14:03:22, 2026-11-22T14:03:22 or +2.5")
            }
            return ConnectionCriteria(traits: with, since: time)
        }
    }

    func filter(number: Int?) throws -> ConnectionFilter {
        let addresses = try host.map { text in
            guard let address = IPAddress(text) else {
                throw Failure.wrongUse(
                    "--host \(Escaped.text(text)): this is no address; such as 127.0.0.1 or ::1")
            }
            return address
        }
        return ConnectionFilter(number: number, hosts: addresses, ports: port)
    }
}

/// The option that selects which end of a link in a run's capture is shown or judged.
struct SideOptions: ParsableArguments {
    enum Side: String, ExpressibleByArgument, CaseIterable { case left, right, both }

    @Option(
        help: ArgumentHelp(
            "The end of a link, as `link LEFT <-> RIGHT` names them, at which packets are seen. By default each is seen by its receiver; a statement of --check is about what was sent, with `arrived` about what was received.",
            valueName: "side"))
    var side: Side?

    @Flag(
        help:
            "With --check on a run's capture: judge all of it. By default a `wire` line of the script is judged on the packets that the run had seen at that step."
    )
    var whole = false

    /// The views to show; `nil` is the default view.
    var views: [LinkView?] {
        switch side {
        case nil: [nil]
        case .left: [.at(.left)]
        case .right: [.at(.right)]
        case .both: [.at(.left), .at(.right)]
        }
    }

    func validate(isChecking: Bool, exclusive: [String], files: [String]) throws {
        if whole, !isChecking { throw ValidationError("--whole is for --check") }
        guard side == .both else { return }
        if let mode = exclusive.first {
            throw ValidationError("--side both and \(mode) exclude each other: choose left or right")
        }
        if files.contains("-") { throw ValidationError("--side both needs a file that can be read twice, no pipe") }
    }
}

/// The options that make `--follow` and `--html` decrypt TLS.
struct DecryptionOptions: ParsableArguments {
    @Flag(
        help:
            "With --follow or --html, show what TLS has encrypted. tshark decrypts it, with the secrets in the capture; a run's captures hold them."
    )
    var decrypt = false

    @Option(
        help: ArgumentHelp(
            "With --decrypt, a file with the secrets, as SSLKEYLOGFILE names it for many programs.", valueName: "file"),
        completion: .file())
    var keyLog: String?

    func validate(isFollowing: Bool, isInput: Bool) throws {
        if decrypt, !isFollowing { throw ValidationError("--decrypt is for --follow and --html") }
        if !decrypt, keyLog != nil { throw ValidationError("--key-log is for --decrypt") }
        if decrypt, isInput { throw ValidationError("--decrypt needs a file that can be read again, no pipe") }
    }
}

/// A packet filter, for files and live captures.
struct PacketFilterOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only packets that match a filter in libpcap's syntax, as of tcpdump: 'tcp port 80 and host 127.0.0.1'.",
            valueName: "filter"))
    var bpf: String?

    /// Compiles the filter.
    ///
    /// - Throws: the exit code of invalid usage, after printing the message.
    func filter() throws -> PacketFilter? {
        guard let bpf else { return nil }
        do throws(CaptureError) {
            return try PacketFilter(bpf)
        } catch {
            var reason = "\(error)"
            if case .libpcap(let words) = error { reason = words }
            throw Failure.wrongUse("--bpf \(Escaped.text(bpf)): \(Escaped.text(reason))")
        }
    }
}

/// The options that control how flows are shown.
struct ShowOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The table's columns, or + and those to add: \(ConnectionColumn.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "names"),
        completion: .custom { _, _, word in ConnectionColumn.completions(of: word) })
    var columns: String?

    @Option(help: ArgumentHelp("The order of the flows; without it that of the capture.", valueName: "order"))
    var sort: ConnectionOrder?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Columns of a line; default the terminal's. Without a terminal the table has one line for each flow, with whole values for grep and awk, and everything else has lines of 120.",
            valueName: "columns"))
    var width: Int?

    @Flag(help: "With --follow, the seconds since the flow began.")
    var times = false

    @Flag(help: "With --follow, the bytes in hexadecimal.")
    var hex = false

    @Flag(help: "With --follow, the lines as text: no quotes, no line ends.")
    var text = false

    @Flag(help: "Leave packets in GRE, ERSPAN, VXLAN, Geneve and IP-in-IP tunnels unread.")
    var noTunnels = false

    @Flag(help: "One JSON object a line.")
    var json = false

    func validate() throws {
        if let width, !(40...10_000).contains(width) {
            throw ValidationError("--width \(width): it must be 40 to 10000")
        }
        if hex && text { throw ValidationError("--hex and --text exclude each other") }
        if json, times || hex || text {
            throw ValidationError("--json and \(hex ? "--hex" : text ? "--text" : "--times") exclude each other")
        }
        _ = try names()
    }

    var form: FollowObserver.Form { hex ? .hex : text ? .text : .escaped }

    func names() throws -> [ConnectionColumn] {
        guard let columns else { return ConnectionColumn.standard }
        switch ConnectionColumn.list(columns) {
        case .success(let list): return list
        case .failure(let error):
            throw ValidationError(
                "--columns: there is no column \(Escaped.text(error.name)); there is: "
                    + ConnectionColumn.allCases.map(\.rawValue).joined(separator: ", "))
        }
    }
}

extension ConnectionOrder: ExpressibleByArgument {}

extension ConnectionTrait: ExpressibleByArgument {
    /// Creates a trait from its name, also in the singular and in capitals: `RST`, `retransmission`.
    package init?(argument: String) {
        let word = argument.lowercased()
        guard let trait = ConnectionTrait(rawValue: word) ?? ConnectionTrait(rawValue: word + "s") else { return nil }
        self = trait
    }
}
