import Glibc
import ProbeEngine
import ProbeSystem

/// Programs that belong to this tool. What they need is not linked into it, so that it starts faster.
enum CompanionProgram {
    /// What starts a worker of a crowd; nil if the program is not there.
    static var crowd: [String]? { places(of: "tcpprobe-crowd").first { access($0, X_OK) == 0 }.map { [$0] } }

    /// The folder of this program, as after a build, and `libexec/tcpprobe`, as after `make install`.
    static func places(of file: String) -> [String] {
        let tool = executablePath()
        let folder = tool.lastIndex(of: "/").map { String(tool[..<$0]) } ?? "."
        let prefix = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ".."
        return ["\(folder)/\(file)", "\(prefix)/libexec/tcpprobe/\(file)"]
    }
}

extension RunConfiguration {
    static func ofThisTool(_ ports: PortAllocator) -> RunConfiguration {
        RunConfiguration(ports: ports, version: TCPProbe.version, crowdProgram: CompanionProgram.crowd)
    }
}
