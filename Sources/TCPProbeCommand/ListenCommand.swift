import ArgumentParser
import ProbeDesk
import ProbeSystem

struct ListenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Wait for a client and send it steps, interactively or from a pipe.",
        discussion: """
            Like `connect`, but at the server's end: the first client that connects is accepted, and each line is a step on its
            connection, or text that is sent as a line. `accept` accepts the next client; `accept as D` also names its connection, so
            that steps can refer to it: `D send line "220"`.

            EXAMPLES:
              tcpprobe listen 2525
              tcpprobe listen [::1]:0 --framing u32
              tcpprobe listen 4433 --tls --cert a.pem --key a.key
            """)

    @Argument(
        help: ArgumentHelp(
            "Address to listen on: a port on 127.0.0.1, 0 for a free port, or an address with a port.",
            valueName: "address")
    )
    var address: String

    @Option(
        help: ArgumentHelp(
            "Certificate (PEM), in the current folder or one of its subfolders; default: a certificate for localhost, issued by an authority that is created for the session. Implies --tls.",
            valueName: "file"), completion: .file())
    var cert: String?

    @Option(
        help: ArgumentHelp(
            "Private key (PEM) of the certificate; default: the key in the file given by --cert.", valueName: "file"),
        completion: .file())
    var key: String?

    @OptionGroup var options: DeskOptions

    func validate() throws {
        if key != nil, cert == nil { throw ValidationError("--key requires --cert") }
    }

    func run() throws {
        let place = try ProxyAddress.listening(address, try options.targets.targets())
        var own: [String] = []
        if let cert {
            own.append("cert \(SessionScript.literal(cert))" + (key.map { " key \(SessionScript.literal($0))" } ?? ""))
        }
        // If the port is 0, the script omits the port, and the server uses a free port.
        let text = place.port == 0 ? String("\(place)".dropLast(2)) : "\(place)"
        try options.run(
            .server(address: text, options: options.tlsOptions(own, implied: !own.isEmpty)),
            title: "session with a client of \(place.port == 0 ? "this server" : "\(place)")")
    }
}
