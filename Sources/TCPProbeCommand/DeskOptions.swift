import ArgumentParser
import Glibc
import ProbeBase
import ProbeCapture
import ProbeDesk
import ProbeEngine
import ProbeScenario
import ProbeSystem
import Synchronization

/// The options shared by `connect` and `listen`.
struct DeskOptions: ParsableArguments {
    @Flag(help: "Start with TLS.")
    var tls = false

    @Option(help: ArgumentHelp("Protocol for ALPN. May be repeated. Implies --tls.", valueName: "name"))
    var alpn: [String] = []

    @Option(
        help: ArgumentHelp(
            "Framing of lines or messages: crlf, lf, u32, netstring, none, or any other framing of the language except websocket.",
            valueName: "framing"))
    var framing = "crlf"

    @Option(
        help: ArgumentHelp(
            "With piped input, end the session when the peer has been silent for this time after the last step.",
            valueName: "time"))
    var linger = "1s"

    @Option(
        help: ArgumentHelp(
            "Maximum amount of received data that `save` writes out; each step counts as 64 additional bytes. For data beyond the limit, only the length is expected.",
            valueName: "size"))
    var limit = "4MiB"

    @OptionGroup var targets: TargetOptions

    func validate() throws {
        try Framing.validate(option: framing)
        if QuantityArgument.size(limit) == nil {
            throw ValidationError("--limit \(limit): expected a size above 0, such as 64KiB or 4MiB")
        }
        if QuantityArgument.time(linger) == nil {
            throw ValidationError("--linger \(linger): expected a time such as 500ms or 2s")
        }
    }

    /// Returns the TLS clause that follows an actor's declaration in a script. `own` contains the options that exist
    /// only for the actor's side.
    func tlsOptions(_ own: [String], implied: Bool) -> String {
        guard tls || implied || !alpn.isEmpty else { return "" }
        var words = ["tls"] + own
        if !alpn.isEmpty { words += ["alpn"] + alpn.map { SessionScript.literal($0) } }
        return " " + words.joined(separator: " ")
    }

    /// Runs an interactive session.
    func run(_ end: SessionScript.End, title: String) throws {
        let allowed = try targets.targets()
        let script = SessionScript(
            end, framing: Framing(rawValue: framing) ?? .crlf, title: title,
            limit: QuantityArgument.size(limit) ?? SessionScript.defaultLimit)
        let plan = try Self.plan(of: script, allowed)
        let session: RunSession
        do throws(RunSessionError) {
            session = try RunSession()
        } catch {
            throw Failure.machine("can't start the session: \(error.message)")
        }
        defer { session.endAndReport() }
        // The result can be ignored: only introducing a subject can fail, and a session has no subject.
        _ = session.begin()
        var configuration = RunConfiguration.forCommands(PortAllocator(seed: getpid()))
        configuration.allowedTargets = allowed
        let opening = CaptureOpening(ports: configuration.ports.range, bufferSize: Capture.defaultBufferSize)
        (configuration.capture, configuration.captureProblem) = opening.wait(executable: executablePath())
        let code = try Self.execute(
            plan, configuration, script, session, linger: QuantityArgument.time(linger) ?? .seconds(1))
        throw ExitCode(code)
    }

    /// Returns the plan for the session's header. The header depends on the command-line options.
    ///
    /// - Throws: `ExitCode` 2, after printing the problem, if the header is invalid.
    private static func plan(of script: SessionScript, _ allowed: AllowedTargets) throws -> Plan {
        do throws(SessionScript.Problem) {
            return try script.beginning(allowing: allowed, loader: FileAccess.load)
        } catch {
            Console.standardError.write(error.text)
            throw ExitCode(2)
        }
    }

    private static func execute(
        _ plan: Plan, _ configuration: RunConfiguration, _ script: SessionScript, _ session: RunSession,
        linger: Duration
    ) throws -> Int32 {
        let reader = LineReader(actor: script.actor, kind: script.kind)
        let reactor: Reactor
        do throws(RunSessionError) {
            reactor = try session.makeReactor()
        } catch {
            throw Failure.machine("can't start the session: \(error.message)")
        }
        let input: LineInput
        let thread: WorkerThread
        do throws(SystemError) {
            input = try LineInput(history: DeskHistory.path) { reader.completions(of: $0) }
            thread = try input.start()
        } catch {
            throw Failure.machine("can't start the session: \(error)")
        }
        if case .plain(let reason) = input.mode {
            Console.standardError.write("note: lines can't be edited: \(reason)\n")
        }
        let job = RunJob(
            plan: plan, casePlan: plan.cases[0], index: StepIndex(plan.scenario), id: "session", path: "session",
            folder: ScenarioFiles.folder(of: "session"))
        let desk = DeskSession(
            CaseRun(job, configuration: configuration, reactor: reactor), of: plan, configuration, script,
            reader: reader, input: input, output: Console.standardOutput, linger: linger)
        let result = Mutex<Int32>(0)
        try session.run(onSignal: { signal in desk.assumeIsolated { $0.interrupt(by: signal) } }) {
            let code = await desk.run()
            result.withLock { $0 = code }
        }
        thread.join()
        configuration.capture?.leaveClosingToKernel()
        return result.withLock { $0 }
    }
}

/// The file that stores the input lines of earlier sessions, in the user's state folder (XDG Base Directory
/// Specification).
private enum DeskHistory {
    static var path: String? {
        func value(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        guard let base = value("XDG_STATE_HOME") ?? value("HOME").map({ "\($0)/.local/state" }) else { return nil }
        let folder = "\(base)/tcpprobe"
        do throws(SystemError) {
            _ = try Folder(making: folder)
        } catch {
            return nil
        }
        return "\(folder)/history"
    }
}
