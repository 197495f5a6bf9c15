import ProbeBase
import ProbeEvents
import ProbeLink
import ProbeScenario
import ProbeSystem

/// The links of one case: which actor is on which side of which link, and the faults that steps have requested.
struct CaseLinks {
    /// One side of one of the case's links.
    struct Place: Hashable {
        var index: Int
        var side: LinkSide
    }

    /// A fault that a step applied to a link.
    struct Fault {
        var span: SourceSpan
        /// The step as written in the script, such as `link S -> T drop data 3`.
        var text: String
        var link: Int
    }

    private(set) var links: [Link] = []
    /// The host names that programs in the links' networks can look up, with their answers.
    let names = CaseNames()
    private var places: [String: Place] = [:]
    /// The addresses of the links' ends. They are kept after the links have been released.
    private var ends: [IPAddress: Place] = [:]
    /// The faults requested in the case. The index of a fault is its number.
    private(set) var faults: [Fault] = []
    /// The time at which a step last changed a link.
    private(set) var lastStep: MonotonicTime?
    /// The number of records already read from each link.
    private var taken: [Int] = []

    var isEmpty: Bool { links.isEmpty }
    /// Whether the case defines host names.
    private var usesNames = false
    /// Whether the case has, or had, links. The packets they carried are kept after the links have been released.
    private(set) var wereOpened = false

    /// Returns the link side to which an actor from the header is attached; `nil` for an actor on loopback.
    func place(of name: String) -> Place? { places[name] }

    /// Returns whether an actor is on a link, or is a connection accepted by an actor on a link.
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

    /// Returns the link end that has the given address; `nil` if no end has this address.
    func place(of address: IPAddress) -> Place? { ends[address] }

    /// Returns the sorted names of the actors on one side of a link.
    func names(at place: Place) -> [String] { places.filter { $0.value == place }.keys.sorted() }

    func end(of name: String) -> LinkEnd? { places[name].map { end(at: $0) } }

    func end(at place: Place) -> LinkEnd {
        place.side == .left ? links[place.index].left : links[place.index].right
    }

    /// Returns whether an address belongs to a link.
    func contains(_ address: SocketAddress) -> Bool {
        links.contains { link in
            [link.left, link.right].contains { end in
                address.with(port: 0) == end.ipv4 || address.with(port: 0) == end.ipv6
            }
        }
    }

    // MARK: Opening and release

    /// Takes one link from the pool for each link declared in the header.
    ///
    /// - Throws: the reason why no link is available.
    mutating func open(_ scenario: Scenario, from pool: LinkPool) throws(Finding) {
        usesNames = scenario.usesNames
        for declaration in scenario.links {
            do throws(LinkError) {
                links.append(try pool.take())
            } catch {
                throw Finding(.error, at: declaration.span, "no link is available: \(error.text)")
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

    /// Returns the links and their networks to the pool at the end of the case.
    mutating func release(to pool: LinkPool) {
        names.end()
        for link in links { pool.returnToPool(link) }
        (links, taken) = ([], [])
    }

    // MARK: Faults

    /// Adds a fault that a step is about to apply to a link, and returns its number.
    mutating func add(_ fault: Fault) -> Int {
        faults.append(fault)
        lastStep = .now
        return faults.count - 1
    }

    /// Returns the part of a fault that has not taken effect; `nil` if the whole fault has taken effect.
    func shortfall(of number: Int) -> LinkShortfall? {
        guard links.indices.contains(faults[number].link) else { return nil }
        return links[faults[number].link].shortfalls.first { $0.id == number }
    }

    // MARK: Packets

    /// A packet that passed over a link.
    struct TransmittedPacket {
        var link: Int
        var record: LinkRecord
    }

    /// Returns the packets that the links have carried since the last call.
    mutating func pull() -> [TransmittedPacket] {
        var passages: [TransmittedPacket] = []
        for index in links.indices {
            let new = links[index].records(from: taken[index])
            taken[index] += new.count
            passages += new.map { TransmittedPacket(link: index, record: $0) }
        }
        return links.count > 1 ? passages.sorted { $0.record.time < $1.record.time } : passages
    }

    /// The stalls of the links' threads.
    var standstills: [Standstills] { links.map(\.standstills) }

    /// The reason why some packets of a link may be missing from its record; `nil` if none are missing.
    var lossReason: String? {
        if links.contains(where: \.overflowed) { return "a link carried more than the 64 MiB that the harness keeps" }
        let lost = links.reduce(0) { $0 + $1.lostByHarness }
        if lost > 0 {
            return "the harness itself lost \(ByteText.count(lost, "packet")) on a link: the machine is overloaded"
        }
        return nil
    }
}

extension CaseLinks {
    /// Runs `body` in the network of an actor, so that the sockets that `body` creates belong to that network.
    func inNetwork<T, E: Error>(of name: String, _ body: () throws(E) -> T) throws(E) -> T {
        guard let end = end(of: name) else { return try body() }
        return try end.namespace.run(body)
    }

    /// Returns the network in which an actor's program is started; `nil` for the run's network.
    func programPlace(of name: String) -> ProgramPlace? {
        end(of: name).map { ProgramPlace(namespace: $0.namespace.descriptor, usesNames: usesNames) }
    }

    /// Returns the network of the case's subjects, which are all served by one adapter process.
    func subjectPlace(in scenario: Scenario) throws(Finding) -> ProgramPlace? {
        let subjects = scenario.actors.compactMap { actor -> String? in
            if case .subject = actor.kind { actor.name.value } else { nil }
        }
        let sides = Set(subjects.map { place(of: $0) })
        guard sides.count <= 1 else {
            throw Finding(
                .error,
                "all subjects of a case are served by one program, so they must be on the same side of the same link")
        }
        return subjects.first.flatMap { programPlace(of: $0) }
    }

    /// Waits until the links have read all packets that their ends have sent so far.
    ///
    /// - Returns: whether all links have read all packets.
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
