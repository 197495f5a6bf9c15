import ProbeBase
import ProbeExplore
import ProbeScenario
import Testing

struct FaultScriptsTests {
    private static let server = """
        scenario "a server"
        timeout 1s

        process P = true ${P.port}
        client  C -> P with nodelay off

        P start
        P expect listening
        C connect
        C send line "hello"
        C expect line "HELLO"
        C close
        P stop

        """

    private static let client = """
        scenario "a client"

        server  S
        process P = true ${S.port}

        P start
        S accept
        S send "OK"
        S close
        P expect exit 0

        """

    private static func scripts(_ text: String, sent: String) throws -> FaultScripts {
        FaultScripts(try ScenarioSample(text, sent: [[sent]]).explored(), patience: .seconds(5))
    }

    @Test(arguments: [(server, "hello\r\n"), (client, "OK")])
    func mostFaultScriptsCompile(text: String, sent: String) throws {
        let scripts = try Self.scripts(text, sent: sent)
        #expect(scripts.obstacle == nil)
        let right = scripts.scripts.count {
            (try? ScenarioSample(String(decoding: $0.bytes, as: UTF8.self), sent: [])) != nil
        }
        #expect(scripts.scripts.count >= 8)
        #expect(right * 4 >= scripts.scripts.count * 3)
    }

    @Test func laterClientRunsTheUnchangedScript() throws {
        let scripts = try Self.scripts(Self.server, sent: "hello\r\n")
        let script = try #require(
            scripts.scripts.first { $0.sentence == "C resets after 1 of the 7 bytes of `C send line \"hello\"`" })
        let text = String(decoding: script.bytes, as: UTF8.self)
        #expect(text.contains("client  Next3 -> P with nodelay off\n"))
        #expect(text.contains("timeout 5s\n"))
        #expect(text.contains("C connect\nC send \"h\"\nC ignore rest\nC reset\nwait 400ms\n"))
        #expect(
            text.contains(
                "Next3 connect\nNext3 send line \"hello\"\nNext3 expect line \"HELLO\"\nNext3 close\nP expect descriptors <= (opened_before + 2)\n"
            ))
        #expect(text.hasSuffix("P stop\n"))
    }

    /// A fault that is repeated shows whether the program keeps more with each fault.
    @Test func faultIsRepeated() throws {
        let scripts = try Self.scripts(Self.server, sent: "hello\r\n")
        let script = try #require(scripts.scripts.first { $0.sentence == "C closes after `C connect`" })
        let text = String(decoding: script.bytes, as: UTF8.self)
        for name in ["C", "Next4", "Next5"] {
            #expect(text.contains("\(name) connect\n\(name) ignore rest\n\(name) close\nwait "))
        }
    }

    /// In a script with a client and a server, both connections have faults, and the other connection is reset.
    @Test func connectionsTakeTurns() throws {
        let scripts = try Self.scripts(Self.proxied, sent: "hello")
        #expect(scripts.obstacle == nil)
        let script = try #require(scripts.scripts.first { $0.sentence == "S resets after `S expect \"hello\"`" })
        let text = String(decoding: script.bytes, as: UTF8.self)
        #expect(text.contains("S expect \"hello\"\nC ignore rest\nS ignore rest\nS reset\nwait 400ms\n"))
        #expect(text.contains("P expect cpu <= 50ms\nQ expect cpu <= 50ms\nC reset\n"))
        #expect(text.contains("Q expect descriptors <= (opened_before_Q + 2)\n"))
        _ = try ScenarioSample(text, sent: [])
        // Before the server has accepted, the next client could be given the earlier connection.
        #expect(!scripts.scripts.contains { $0.sentence.contains("`C connect`") })
        #expect(!scripts.scripts.contains { $0.verb == "vanishes" })
        _ = try ScenarioSample(String(decoding: try #require(scripts.control).bytes, as: UTF8.self), sent: [])
    }

    private static let proxied = """
        scenario "a proxy"

        server  S
        process P = true ${P.port} ${S.port}
        process Q = true
        client  C -> P

        P start
        Q start
        C connect
        S accept
        C send "hello"
        S expect "hello"
        C close
        S close
        Q stop
        P stop

        """

    @Test func vanishedClientMayKeepADescriptor() throws {
        let scripts = try Self.scripts(Self.server, sent: "hello\r\n")
        let script = try #require(scripts.scripts.first { $0.sentence == "C vanishes after `C connect`" })
        let text = String(decoding: script.bytes, as: UTF8.self)
        #expect(text.contains("C ignore rest\nC vanish silently\nwait 400ms\n"))
        #expect(text.contains("P expect descriptors <= (opened_open + 1)\n"))
        #expect(!text.contains("\nC reset"))
        let slow = try #require(scripts.scripts.first { $0.sentence == "C reads slowly after `C connect`" })
        #expect(String(decoding: slow.bytes, as: UTF8.self).contains("C read 1B every 50ms\n"))
        #expect(String(decoding: slow.bytes, as: UTF8.self).contains("C reset\nNext4 connect\n"))
    }

    @Test func crowdedControlHasASilentClient() throws {
        let control = try #require(try Self.scripts(Self.server, sent: "hello\r\n").crowdedControl)
        let text = String(decoding: control.bytes, as: UTF8.self)
        #expect(text.contains("Next1 connect\nNext2 connect\nNext2 send line \"hello\"\n"))
        _ = try ScenarioSample(text, sent: [])
    }

    @Test func refusedConnectionIsTheLastFault() throws {
        let scripts = try Self.scripts(Self.client, sent: "OK")
        let last = try #require(scripts.scripts.last)
        #expect(last.sentence == "S refuses the connection")
        #expect(String(decoding: last.bytes, as: UTF8.self).contains("S stop listening\nP start\nwait 400ms\n"))
        #expect(scripts.crowdedControl == nil)
        _ = try ScenarioSample(String(decoding: last.bytes, as: UTF8.self), sent: [])
    }

    @Test func controlHasNoFault() throws {
        let control = try #require(try Self.scripts(Self.server, sent: "hello\r\n").control)
        #expect(!String(decoding: control.bytes, as: UTF8.self).contains("ignore rest"))
    }

    @Test func serverStopsListeningAfterItsFault() throws {
        let scripts = try Self.scripts(Self.client, sent: "OK")
        let script = try #require(scripts.scripts.first { $0.sentence == "S closes after `S accept`" })
        #expect(
            String(decoding: script.bytes, as: UTF8.self).contains(
                "S accept\nS stop listening\nS ignore rest\nS close\nwait 400ms\n"))
        #expect(scripts.control == nil)
    }

    @Test func scriptWithoutAProgramHasNoFaults() throws {
        let scripts = FaultScripts(try ScenarioSample.echoed().explored(), patience: .seconds(5))
        #expect(scripts.obstacle != nil && scripts.scripts.isEmpty)
    }
}
