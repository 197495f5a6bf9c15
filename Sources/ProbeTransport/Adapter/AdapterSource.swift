import ProbeBase
import Glibc
package import ProbeSystem
import Synchronization

/// Creates subjects from an adapter, a program that implements the adapter protocol on its stdin and stdout.
///
/// The program is started when a case first needs it, and serves one case after another. Each of several concurrent
/// cases has its own process. If a case does not end cleanly, its process is ended, and the next case gets a new
/// process.
package final class AdapterSource: SubjectSource {
    private struct State {
        var hasSentHello = false
        /// The reason why the program can't be started. Later cases report the same reason without trying again.
        var failure: SubjectFailure?
        /// The number of consecutive processes that ended or failed before they had answered an op.
        var endedAtStart = 0
        var givenUp: SubjectFailure?
        /// The idle processes, which can serve another case.
        var idle: [AdapterProcess] = []
        /// All processes that have not ended.
        var living: [ObjectIdentifier: AdapterProcess] = [:]
        var isShutDown = false
    }

    /// The maximum number of consecutive processes that end without having answered an op. When the maximum is reached,
    /// no further process is started.
    private static let maxFailedStarts = 3

    private let command: AdapterCommandLine
    /// The words of the command line that select this subject.
    package let option: [String]
    private let names: SubjectNames
    private let place: SubjectNames.Place
    private let limits: AdapterProcess.Limits
    private let state = Mutex(State())

    /// Creates a source for an adapter's command line.
    ///
    /// - Parameter names: the names of all subjects of the run, so that two subjects with the same name can be
    ///   distinguished.
    /// - Throws: an error that describes what is wrong with the command line.
    package convenience init(command: String, names: SubjectNames) throws(SubjectFailure) {
        try self.init(command: command, names: names, limits: AdapterProcess.Limits())
    }

    /// Creates a source for a transport that is part of this product and served by a separate program. The command line
    /// selects the transport by name.
    ///
    /// - Parameter words: the program's path and its arguments.
    /// - Throws: an error if the program was not found.
    package init(transport: String, words: [String], names: SubjectNames) throws(SubjectFailure) {
        guard let path = ExecutableSearch.find(words[0]) else {
            throw SubjectFailure("\(Escaped.foreignText(words[0].utf8, limit: 400)) was not found")
        }
        self.names = names
        place = names.reserve()
        option = ["--transport", transport]
        command = AdapterCommandLine(text: words.joined(separator: " "), words: words, path: path)
        limits = AdapterProcess.Limits()
        // The transport's name is known before the program sends it.
        names.introduce(place, as: transport)
    }

    init(command: String, names: SubjectNames, limits: AdapterProcess.Limits) throws(SubjectFailure) {
        self.names = names
        option = ["--adapter", command]
        let shown = Escaped.foreignText(command.utf8, limit: 120)
        let words: [String]
        do throws(CommandWords.Failure) {
            words = try CommandWords.split(command)
        } catch {
            switch error {
            case .empty: throw SubjectFailure("the adapter's command is empty")
            case .openQuote(let quote): throw SubjectFailure("the adapter's command has an unclosed \(quote): \(shown)")
            case .nul: throw SubjectFailure("the adapter's command contains a NUL")
            }
        }
        guard let path = ExecutableSearch.find(words[0]) else {
            let name = Escaped.foreignText(words[0].utf8, limit: 120)
            let isThere = words[0].contains("/") && access(words[0], F_OK) == 0
            throw SubjectFailure(
                "the adapter's command \(name) "
                    + (isThere ? "is not an executable file (use `chmod +x` to make it one)" : "was not found"))
        }
        self.command = AdapterCommandLine(text: command, words: words, path: path)
        self.limits = limits
        place = names.reserve()
    }

    /// The transport's name from the command line, the name that the program sent, or the command if the program has
    /// sent no name.
    package var name: String { names.name(at: place) ?? command.shown }

    package func introduce(_ done: @escaping @Sendable () -> Void) {
        start { [self] result in
            if case .success((let process, _)) = result { takeBack(process) }
            // If the program has sent no name, the command is used as its name, so that two programs without names can
            // be distinguished.
            names.introduce(place, as: command.shown)
            done()
        }
    }

    package var givenUp: SubjectFailure? { state.withLock { $0.givenUp } }

    package func makeDriver(
        isFresh: Bool, in place: ProgramPlace?, handler: @escaping @Sendable (SubjectReport) -> Void,
        ready: @escaping @Sendable (Result<any SubjectDriver, SubjectFailure>) -> Void
    ) {
        let begin = { @Sendable [self] (process: AdapterProcess, hello: AdapterHello) in
            process.beginCase(handler)
            ready(.success(AdapterDriver(process, hello: hello, source: place == nil ? self : nil)))
        }
        let startFresh = { @Sendable [self] in
            start(in: place) { result in
                switch result {
                case .success((let process, let hello)): begin(process, hello)
                case .failure(let failure): ready(.failure(failure))
                }
            }
        }
        // A process stays in the network in which it was started.
        if place != nil { return startFresh() }
        let idle = state.withLock { $0.idle.popLast() }
        if isFresh {
            // The fresh process replaces an idle one, so that the number of processes stays the same.
            idle?.end(.quit)
            return startFresh()
        }
        guard let idle else { return startFresh() }
        idle.prepare { result in
            switch result {
            case .success(let hello): begin(idle, hello)
            // The idle process failed between two cases. Its failure must not affect the new case.
            case .failure: startFresh()
            }
        }
    }

    private func start(
        in place: ProgramPlace? = nil,
        _ started: @escaping @Sendable (Result<(AdapterProcess, AdapterHello), SubjectFailure>) -> Void
    ) {
        if let failure = state.withLock({ $0.givenUp ?? $0.failure }) { return started(.failure(failure)) }
        let process: AdapterProcess
        do throws(SubjectFailure) {
            process = try AdapterProcess(command, limits: limits, in: place) { [weak self] in self?.note($0) }
        } catch {
            return started(.failure(error))
        }
        let isShutDown = state.withLock { state in
            state.living[ObjectIdentifier(process)] = process
            return state.isShutDown
        }
        process.whenEnded { [weak self, weak process] in
            guard let process else { return }
            self?.state.withLock { state in
                state.living[ObjectIdentifier(process)] = nil
                state.idle.removeAll { $0 === process }
            }
        }
        if isShutDown { process.end(.kill) }
        process.prepare { [self] result in
            if case .success(let hello) = result { names.introduce(self.place, as: hello.name) }
            let isTriedAgain = state.withLock { state in
                switch result {
                case .success: state.hasSentHello = true
                case .failure(let failure) where !state.hasSentHello && state.givenUp == nil:
                    // If the program started and then ended, another attempt may succeed. If the program could not be
                    // started at all, another attempt would fail too.
                    if state.endedAtStart > 0, !state.isShutDown { return true }
                    state.failure = failure
                case .failure: break
                }
                return false
            }
            if isTriedAgain { return start(in: place, started) }
            started(result.map { (process, $0) })
        }
    }

    private func note(_ beginning: AdapterProcess.StartOutcome) {
        state.withLock { state in
            switch beginning {
            case .served: state.endedAtStart = 0
            case .useless(let failure) where !state.hasSentHello: state.givenUp = failure
            case .useless(let failure), .ended(let failure):
                state.endedAtStart += 1
                if state.endedAtStart >= AdapterSource.maxFailedStarts, state.givenUp == nil {
                    state.givenUp = SubjectFailure(
                        "\(failure.summary), for the third time in a row before answering an op, so it is not "
                            + "started again",
                        details: failure.details)
                }
            }
        }
    }

    /// Keeps a process that has served a case without problems, so that it can serve another case.
    func takeBack(_ process: AdapterProcess) {
        let isKept = state.withLock { state in
            if !state.isShutDown { state.idle.append(process) }
            return !state.isShutDown
        }
        if !isKept { process.end(.quit) }
    }

    /// Ends all processes. Their stdin is closed, and they have a short time to exit before they are killed.
    package func shutDown() async {
        let living = state.withLock { state in
            state.isShutDown = true
            state.idle = []
            return Array(state.living.values)
        }
        for process in living { process.end(.quit) }
        for process in living {
            await withCheckedContinuation { continuation in
                process.whenEnded { continuation.resume() }
            }
        }
    }
}
