import ArgumentParser
import ProbeDesk
import ProbeSystem

struct ListenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Wait for a client and talk to it by steps, at a prompt or from a pipe.",
        discussion: """
            As `connect`, at the other end: the first client that comes is accepted, and a line is a step of that connection, or text
            that is sent as a line. `accept` takes the next client, `accept as D` gives it a name, so that steps can say which is meant:
            `D send line "220"`.

            EXAMPLES:
              tcpprobe listen 2525
              tcpprobe listen [::1]:0 --framing u32
              tcpprobe listen 4433 --tls --cert a.pem --key a.key
            """)

    @Argument(
        help: ArgumentHelp(
            "Where it listens: a port of 127.0.0.1, 0 for a free one, or an address with a port.", valueName: "address")
    )
    var address: String

    @Option(
        help: ArgumentHelp(
            "The certificate (PEM), in this folder or below it; default: one for localhost by an authority of the session. Implies --tls.",
            valueName: "file"), completion: .file())
    var cert: String?

    @Option(
        help: ArgumentHelp("Its private key (PEM); default: it is in the file of --cert.", valueName: "file"),
        completion: .file())
    var key: String?

    @OptionGroup var options: DeskOptions

    func validate() throws {
        if key != nil, cert == nil { throw ValidationError("--key is for --cert") }
    }

    func run() throws {
        let place = try ProxyAddress.listening(address, try options.targets.targets())
        var own: [String] = []
        if let cert {
            own.append("cert \(SessionScript.literal(cert))" + (key.map { " key \(SessionScript.literal($0))" } ?? ""))
        }
        // Without a port, a free one is used.
        let text = place.port == 0 ? String("\(place)".dropLast(2)) : "\(place)"
        try options.run(
            .server(address: text, options: options.tlsOptions(own, implied: !own.isEmpty)),
            title: "what was said by a client of \(place.port == 0 ? "this server" : "\(place)")")
    }
}
