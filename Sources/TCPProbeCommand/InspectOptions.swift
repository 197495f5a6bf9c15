import ArgumentParser
import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeInspect
import ProbeWire

/// The options that select packets and flows. The packet filter is shared with `watch`.
struct ConnectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Select flows with this address at either end. May be repeated.", valueName: "address"))
    var host: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Select flows with this port at either end. May be repeated.", valueName: "port"))
    var port: [UInt16] = []

    @Option(
        help: ArgumentHelp(
            "Select flows with this trait. May be repeated to select flows with any of the traits.",
            valueName: "what"))
    var with: [ConnectionTrait] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Select flows that began at this time or later: 14:03, 14:03:22.5, 2026-11-22T14:03:22 (append Z for UTC), or, in seconds after the first packet, +2.5.",
            valueName: "time"))
    var since: String?

    var criteria: ConnectionCriteria {
        get throws {
            guard let since else { return ConnectionCriteria(traits: with) }
            guard let time = StartTime(since) else {
                throw Failure.invalidUsage(
                    "--since \(Escaped.text(since)): expected a time such as 14:03:22, 2026-11-22T14:03:22 or +2.5")
            }
            return ConnectionCriteria(traits: with, since: time)
        }
    }

    func filter(number: Int?) throws -> ConnectionFilter {
        let addresses = try host.map { text in
            guard let address = IPAddress(text) else {
                throw Failure.invalidUsage(
                    "--host \(Escaped.text(text)): expected an address such as 127.0.0.1 or ::1")
            }
            return address
        }
        return ConnectionFilter(number: number, hosts: addresses, ports: port)
    }
}

/// The option that selects which end of a link is shown or judged, for the capture of a run.
struct SideOptions: ParsableArguments {
    enum Side: String, ExpressibleByArgument, CaseIterable { case left, right, both }

    @Option(
        help: ArgumentHelp(
            "End of a link at which packets are seen, as named in `link LEFT <-> RIGHT`. By default, each packet is shown as its receiver saw it, and a statement of --check judges what was sent or, with `arrived`, what was received.",
            valueName: "side"))
    var side: Side?

    @Flag(
        help:
            "With --check on a run's capture, judge the whole capture. By default, a `wire` line of the script is judged on the packets that the run had seen at that step."
    )
    var whole = false

    /// The link views to show; `nil` selects the default view.
    var views: [LinkView?] {
        switch side {
        case nil: [nil]
        case .left: [.at(.left)]
        case .right: [.at(.right)]
        case .both: [.at(.left), .at(.right)]
        }
    }

    func validate(isChecking: Bool, exclusive: [String], files: [String]) throws {
        if whole, !isChecking { throw ValidationError("--whole requires --check") }
        guard side == .both else { return }
        if let mode = exclusive.first {
            throw ValidationError("--side both and \(mode) are mutually exclusive; choose left or right")
        }
        if files.contains("-") {
            throw ValidationError("--side both requires a file that can be read twice, not a pipe")
        }
    }
}

/// The options that make `--follow` and `--html` decrypt TLS.
struct DecryptionOptions: ParsableArguments {
    @Flag(
        help:
            "With --follow or --html, show the decrypted TLS data. tshark decrypts it with the secrets in the capture; a run's captures contain the secrets."
    )
    var decrypt = false

    @Option(
        help: ArgumentHelp(
            "With --decrypt, a key log with the secrets, which many programs write to the file that SSLKEYLOGFILE names.",
            valueName: "file"),
        completion: .file())
    var keyLog: String?

    func validate(isFollowing: Bool, isInput: Bool) throws {
        if decrypt, !isFollowing { throw ValidationError("--decrypt requires --follow or --html") }
        if !decrypt, keyLog != nil { throw ValidationError("--key-log requires --decrypt") }
        if decrypt, isInput {
            throw ValidationError("--decrypt requires a file that can be read more than once, not a pipe")
        }
    }
}

extension PacketFilter {
    /// The filter as a predicate for the packets of a file.
    var predicate: PacketPredicate {
        { record, bytes in
            self.matches(bytes, linkType: record.linkType, originalLength: record.originalLength)
        }
    }
}

/// The option for a packet filter, which applies to files and to live captures.
struct PacketFilterOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Select packets that match a libpcap filter, as used by tcpdump: 'tcp port 80 and host 127.0.0.1'.",
            valueName: "filter"))
    var bpf: String?

    /// Compiles the filter.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message.
    func filter() throws -> PacketFilter? {
        guard let bpf else { return nil }
        do throws(CaptureError) {
            return try PacketFilter(bpf)
        } catch {
            var reason = "\(error)"
            if case .libpcap(let words) = error { reason = words }
            throw Failure.invalidUsage("--bpf \(Escaped.text(bpf)): \(Escaped.text(reason))")
        }
    }
}

/// The options that control how flows are shown.
struct ShowOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Columns of the table, or + and the columns to add: \(ConnectionColumn.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "names"),
        completion: .custom { _, _, word in ConnectionColumn.completions(of: word) })
    var columns: String?

    @Option(help: ArgumentHelp("Order of the flows; default: that of the capture.", valueName: "order"))
    var sort: ConnectionOrder?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Width of a line, in columns; default: that of the terminal. If the output is not a terminal, the table has one line per flow with untruncated values, for grep and awk, and everything else has lines of 120 columns.",
            valueName: "columns"))
    var width: Int?

    @Flag(help: "With --follow, show the seconds since the flow began.")
    var times = false

    @Flag(help: "With --follow, show the bytes in hexadecimal.")
    var hex = false

    @Flag(help: "With --follow, show lines as plain text, without quotes and line terminators.")
    var text = false

    @Flag(help: "Don't decode packets inside GRE, ERSPAN, VXLAN, Geneve and IP-in-IP tunnels.")
    var noTunnels = false

    @Flag(help: "Write one JSON object per line.")
    var json = false

    func validate() throws {
        if let width, !(40...10_000).contains(width) {
            throw ValidationError("--width \(width): expected a number from 40 to 10000")
        }
        if hex && text { throw ValidationError("--hex and --text are mutually exclusive") }
        if json, times || hex || text {
            throw ValidationError("--json and \(hex ? "--hex" : text ? "--text" : "--times") are mutually exclusive")
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
                "--columns: unknown column \(Escaped.text(error.name)): expected one of "
                    + ConnectionColumn.allCases.map(\.rawValue).joined(separator: ", "))
        }
    }
}

extension ConnectionOrder: ExpressibleByArgument {}

extension ConnectionTrait: ExpressibleByArgument {
    /// Creates a trait from its name, which may also be in the singular or in upper case, such as `RST` or
    /// `retransmission`.
    package init?(argument: String) {
        let word = argument.lowercased()
        guard let trait = ConnectionTrait(rawValue: word) ?? ConnectionTrait(rawValue: word + "s") else { return nil }
        self = trait
    }
}
