import ProbeBase
import ProbeEvents
import ProbeNetwork
import ProbeSystem

/// The processes beside a server of the script that take the connections of crowds: these reach no `accept`.
struct CrowdSinks {
    /// What a server has of them.
    struct State {
        /// How many there are to be; 0: no crowd connects to the server.
        var places = 0
        /// How the server tells the connections of crowds from others.
        var areTold: Listener.Steering?
        /// Of all crowds that connect to the server.
        var members = 0
        var workers: [CrowdWorkerProcess] = []
        /// Those that listened before, until the case ends or a reboot ends them: their connections stay as long.
        var earlier: [CrowdWorkerProcess] = []
        /// A crowd has begun: they listen whenever the server does.
        var areWanted = false
    }

    let context: CaseContext

    /// Connections of crowds do not go to the server itself from here on. To be called as soon as it listens.
    func steer(_ listener: Listener, of server: ServerActor) throws(SystemError) {
        if let steering = server.sinks.areTold { try listener.steer(steering, places: server.sinks.places) }
    }

    /// They listen where the server does. When it does not, they begin with it.
    func begin(at server: ServerActor) async throws(Finding) {
        server.sinks.areWanted = true
        guard server.listener != nil, let endpoint = server.address?.endpoint else { return }
        let launch = CrowdLaunch(context: context)
        let what = "the crowd that connects to \(server.name)"
        guard server.sinks.workers.isEmpty else {
            // Another crowd that starts at the same time has begun them: their group is not whole before all of them listen.
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

    /// The server has listened again: so do they, where a crowd has begun.
    func beginAgain(at server: ServerActor) async throws(Finding) {
        if server.sinks.areWanted { try await begin(at: server) }
    }

    /// The server does not listen any more: nor do they. Connections that crowds have stay.
    func stopListening(at server: ServerActor) async throws(Finding) {
        let workers = server.sinks.workers
        guard !workers.isEmpty else { return }
        server.sinks.earlier += workers
        server.sinks.workers = []
        for worker in workers {
            worker.stopListening()
            // It does one thing after the other: with this answer its listener is closed.
            _ = worker.ask(latencies: false)
        }
        try await CrowdLaunch(context: context).wait(
            for: workers, of: "the crowd that connects to \(server.name)", toBe: "closed to others", \.hasAnsweredAll)
    }

    /// The server is rebooted. Connections of crowds to it are reset.
    func end(at server: ServerActor) async {
        server.sinks.earlier += server.sinks.workers
        server.sinks.workers = []
        let workers = server.sinks.earlier.filter { !$0.isDismissed }
        if !workers.isEmpty { await CrowdLaunch(context: context).end(workers) }
    }
}
