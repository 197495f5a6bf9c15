import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeSystem

/// The sinks of a server in the script: processes that accept the connections of crowds in place of the server. An
/// `accept` step never accepts these connections.
struct CrowdSinks {
    /// The state of a server's sinks.
    struct State {
        /// The number of sinks; 0 if no crowd connects to the server.
        var places = 0
        /// How the server distinguishes the connections of crowds from other connections.
        var steering: Listener.Steering?
        /// The number of members of all crowds that connect to the server.
        var members = 0
        var workers: [CrowdWorkerProcess] = []
        /// The sinks that no longer listen. They keep their connections until the case ends or the server reboots.
        var earlier: [CrowdWorkerProcess] = []
        /// Whether a crowd has started. From then on, the sinks listen whenever the server listens.
        var hasCrowdStarted = false
    }

    let context: CaseContext

    /// Directs the connections of crowds away from the server itself. Must be called as soon as the server listens.
    func steer(_ listener: Listener, of server: ServerActor) throws(SystemError) {
        if let steering = server.sinks.steering { try listener.steer(steering, places: server.sinks.places) }
    }

    /// Starts the sinks of a server if the server is listening. Otherwise, the sinks start when the server listens.
    func begin(at server: ServerActor) async throws(Finding) {
        server.sinks.hasCrowdStarted = true
        guard server.listener != nil, let endpoint = server.address?.endpoint else { return }
        let launch = CrowdLaunch(context: context)
        let what = "the crowd that connects to \(server.name)"
        guard server.sinks.workers.isEmpty else {
            // Another crowd that starts at the same time has already started the sinks. Wait until all of them listen,
            // because the group of sockets that share the port is incomplete until then.
            try await launch.wait(for: server.sinks.workers, of: what, toBe: "ready", \.isReady)
            return
        }
        for place in 0..<server.sinks.places {
            let order = CrowdOrder(
                role: .sink(at: endpoint, place: place, places: server.sinks.places), first: place,
                step: server.sinks.places, count: server.sinks.members,
                program: MemberProgram(instructions: [.acceptRest], terminator: [10]))
            server.sinks.workers.append(try launch.launch(order, for: server.name, of: what, at: nil))
        }
        try await launch.wait(for: server.sinks.workers, of: what, toBe: "ready", \.isReady)
        for worker in server.sinks.workers { worker.begin(at: .now) }
    }

    /// Starts the sinks again after the server has resumed listening, if a crowd has started.
    func beginAgain(at server: ServerActor) async throws(Finding) {
        if server.sinks.hasCrowdStarted { try await begin(at: server) }
    }

    /// Makes the sinks stop listening together with the server. Existing connections of crowds stay open.
    func stopListening(at server: ServerActor) async throws(Finding) {
        let workers = server.sinks.workers
        guard !workers.isEmpty else { return }
        server.sinks.earlier += workers
        server.sinks.workers = []
        for worker in workers {
            worker.stopListening()
            // A worker handles commands in order: once it has answered a question that follows the command to stop
            // listening, its listener is closed.
            _ = worker.ask(latencies: false)
        }
        try await CrowdLaunch(context: context).wait(
            for: workers, of: "the crowd that connects to \(server.name)", toBe: "done closing their listeners",
            \.hasAnsweredAll)
    }

    /// Ends the sinks when the server reboots, and thereby resets the crowds' connections to the server.
    func end(at server: ServerActor) async {
        server.sinks.earlier += server.sinks.workers
        server.sinks.workers = []
        let workers = server.sinks.earlier.filter { !$0.isDismissed }
        if !workers.isEmpty { await CrowdLaunch(context: context).end(workers) }
    }
}
