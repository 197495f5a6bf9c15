import ArgumentParser

@main
struct TCPProbe: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "tcpprobe", version: "0.1.0")
}
