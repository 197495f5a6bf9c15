import ProbeBase
import ProbeEvents
import ProbeNetwork
import ProbeScenario
import ProbeSystem

/// The links of one case: which actor is on which side of which link, and what steps have asked of them.
struct CaseLinks {
    /// A side of a link of the case.
    struct Place: Hashable {
        var index: Int
        var side: LinkSide
    }

    /// A fault that a step put on a link.
    struct Fault {
        var span: SourceSpan
        /// As it is written: `link S -> T drop data 3`.
        var text: String
        var link: Int
    }

    private(set) var links: [Link] = []
    /// What programs in their networks are told when they look a name up.
    let names = CaseNames()
    private var places: [String: Place] = [:]
    /// The addresses of its ends; they are known also when the links were given back.
    private var ends: [IPAddress: Place] = [:]
    /// A fault's number is its place here.
    private(set) var faults: [Fault] = []
    /// When a step last changed a link.
    private(set) var lastStep: MonotonicTime?
    /// How many of each link's records were taken.
    private var taken: [Int] = []

    var isEmpty: Bool { links.isEmpty }
    /// The case says what names stand for.
    private var usesNames = false
    /// The case has links, or had them: what passed is known also when they were given back.
    private(set) var wereOpened = false

    /// Where an actor of the header is; nil for one on loopback.
    func place(of name: String) -> Place? { places[name] }

    /// Whether an actor is on a link, or a connection that one has accepted.
    func has(_ name: String, in actors: ActorTable) -> Bool {
        if places[name] != nil { return true }
        switch actors[name] {
        case .connection(let actor):
            guard case .accepted(let server) = actor.role else { return false }
            return places[server] != nil
        case .subject(let subject): return subject.acceptedBy.map { places[$0] != nil } ?? false
        case .server, .process, .proxy, .proxied, .crowd, nil: return false
        }
    }

    /// The end that has an address; nil for an address at which nobody is.
    func place(of address: IPAddress) -> Place? { ends[address] }

    /// Who is in a network.
    func names(at place: Place) -> [String] { places.filter { $0.value == place }.keys.sorted() }

    func end(of name: String) -> LinkEnd? { places[name].map { end(at: $0) } }

    func end(at place: Place) -> LinkEnd {
        place.side == .left ? links[place.index].left : links[place.index].right
    }

    /// Whether an address is one of a link's.
    func contains(_ address: SocketAddress) -> Bool {
        links.contains { link in
            [link.left, link.right].contains { end in
                address.with(port: 0) == end.ipv4 || address.with(port: 0) == end.ipv6
            }
        }
    }

    // MARK: Beginning and end

    /// Takes a link for each declaration of the header.
    ///
    /// - Throws: why there is none.
    mutating func open(_ scenario: Scenario, from pool: LinkPool) throws(Finding) {
        usesNames = scenario.usesNames
        for declaration in scenario.links {
            do throws(LinkError) {
                links.append(try pool.take())
            } catch {
                throw Finding(.error, at: declaration.span, "there is no link: \(error.text)")
            }
            wereOpened = true
            taken.append(0)
            for side in LinkSide.allCases {
                let place = Place(index: links.count - 1, side: side)
                for address in [end(at: place).ipv4, end(at: place).ipv6] {
                    if let endpoint = address.endpoint { ends[endpoint.address] = place }
                }
            }
            for name in declaration.left { places[name.value] = Place(index: links.count - 1, side: .left) }
            for name in declaration.right { places[name.value] = Place(index: links.count - 1, side: .right) }
        }
    }

    /// Gives the links back when the case has ended, and with it all that was in their networks.
    mutating func release(to pool: LinkPool) {
        names.end()
        for link in links { pool.giveBack(link) }
        (links, taken) = ([], [])
    }

    // MARK: Faults

    /// The number of a fault that a step is about to put on a link.
    mutating func add(_ fault: Fault) -> Int {
        faults.append(fault)
        lastStep = .now
        return faults.count - 1
    }

    /// What the fault with a number has not done; `nil` if it did what it says.
    func shortfall(of number: Int) -> LinkShortfall? {
        guard links.indices.contains(faults[number].link) else { return nil }
        return links[faults[number].link].shortfalls.first { $0.id == number }
    }

    // MARK: Packets

    /// A packet that passed, and where.
    struct Passage {
        var link: Int
        var record: LinkRecord
    }

    /// What passed since the last time.
    mutating func pull() -> [Passage] {
        var passages: [Passage] = []
        for index in links.indices {
            let new = links[index].records(from: taken[index])
            taken[index] += new.count
            passages += new.map { Passage(link: index, record: $0) }
        }
        return links.count > 1 ? passages.sorted { $0.record.time < $1.record.time } : passages
    }

    /// When the threads of its links stood still.
    var standstills: [Standstills] { links.map(\.standstills) }

    /// Why packets of a link may be missing.
    var lossReason: String? {
        if links.contains(where: \.overflowed) { return "a link carried more than is kept of it (64 MiB)" }
        let lost = links.reduce(0) { $0 + $1.lostByHarness }
        if lost > 0 { return "the harness itself lost \(lost) packets of a link: the machine is overloaded" }
        return nil
    }
}

extension CaseLinks {
    /// Runs a body in the network of an actor: sockets that it makes are there.
    func inNetwork<T, E: Error>(of name: String, _ body: () throws(E) -> T) throws(E) -> T {
        guard let end = end(of: name) else { return try body() }
        return try end.namespace.run(body)
    }

    /// The network that an actor's program is started in; nil: that of the run.
    func programPlace(of name: String) -> ProgramPlace? {
        end(of: name).map { ProgramPlace(namespace: $0.namespace.descriptor, usesNames: usesNames) }
    }

    /// Where the subjects of a case are: they are served by one program.
    func subjectPlace(in scenario: Scenario) throws(Finding) -> ProgramPlace? {
        let subjects = scenario.actors.compactMap { actor -> String? in
            if case .subject = actor.kind { actor.name.value } else { nil }
        }
        let sides = Set(subjects.map { place(of: $0) })
        guard sides.count <= 1 else {
            throw Finding(
                .error, "the subjects of a case are served by one program: they have to be on one side of one link")
        }
        return subjects.first.flatMap { programPlace(of: $0) }
    }

    /// Waits until the links have read all that their ends sent so far.
    ///
    /// - Returns: whether they have.
    func catchUp() async -> Bool {
        var isComplete = true
        for index in links.indices { isComplete = await catchUp(index) && isComplete }
        return isComplete
    }

    func catchUp(_ index: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            links[index].fence(timeout: .seconds(2)) { continuation.resume(returning: $0) }
        }
    }
}
