@testable import ProbeScenario

extension TimingTableTests {
    static let proxies = [
        Row(
            kind: .proxy, word: "accept",
            early: "server S\nproxy X -> S\nclient C -> X\nC connect\nS accept\nX accept {}",
            late:
                "server S\nproxy X -> S\nclient C -> X\ntogether {\nX accept {}\ndo { wait 300ms; C connect; S accept }\n}"
        ),
        Row(
            kind: .proxy, word: "expect … from",
            early: "server S\nproxy X -> S\nclient C -> X\nC connect\nX accept\nS accept\nC send line \"x\"\n"
                + "S expect line \"x\"\nX expect line \"x\" from client {}",
            late: "server S\nproxy X -> S\nclient C -> X\nC connect\nX accept\nS accept\ntogether {\n"
                + "X expect line \"x\" from client {}\ndo { wait 300ms; C send line \"x\"; S expect line \"x\" }\n}"),
    ]
}
