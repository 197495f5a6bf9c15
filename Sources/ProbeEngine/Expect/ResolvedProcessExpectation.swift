import ProbeBase
import ProbeRegex
import ProbeScenario

/// The expectation of an `expect` step for a program, with all its values computed.
enum ResolvedProcessExpectation {
    enum Exit {
        case any
        case status(Int)
        case signal(ProcessSignal)

        var description: String {
            switch self {
            case .any: "exit"
            case .status(let code): "status \(code)"
            case .signal(let signal): "signal \(signal.name)"
            }
        }
    }

    /// The program listens.
    ///
    /// - Parameter port: the first port passed to the program; `nil` for any port.
    case listening(port: UInt16?)
    case output(ByteRegex)
    case noOutput(ByteRegex, for: Duration)
    case exit(Exit)
    case resource(ResolvedResourceExpectation)

    /// The expected event, as a noun phrase.
    var description: String {
        switch self {
        case .listening(let port): "it to listen" + (port.map { " on port \($0)" } ?? "")
        case .output(let regex): "output /\(regex.source)/"
        case .noOutput(let regex, _): "no output /\(regex.source)/"
        case .exit: "its exit"
        case .resource(let expectation): expectation.description
        }
    }

    /// Returns the name by which a message about timing refers to the expected event of the program `name`.
    func eventName(of name: String) -> String {
        switch self {
        case .listening: "\(name)'s listening"
        case .output(let regex): "the output /\(regex.source)/"
        case .exit: "\(name)'s exit"
        case .resource(let expectation): expectation.eventName
        case .noOutput: description
        }
    }

    var isExit: Bool { if case .exit = self { true } else { false } }
}
