import ProbeScenario
import Testing

/// Scripts with very many elements of one kind are checked in time linear in their length. In quadratic time, each of
/// these scripts would take minutes.
struct LargeScriptTests {
    private static let loader: FileLoader = { (_) throws(LoadError) in throw .notFound }
    private static let header = "server S\nclient C -> S\n"
    private static let steps = "C connect\nS accept\nC send \"a\"\nS expect \"a\"\n"

    /// A kind of element of which a script may have any number: before the actors, among the actors, or after the first
    /// steps.
    enum Kind: String, CaseIterable, Sendable {
        case constants, chainedConstants, clients, proxies, variables, accepted, hosts

        func script(_ count: Int) -> String {
            func many(_ text: (Int) -> String) -> String { (0..<count).map(text).joined() }
            let (before, among, after) =
                switch self {
                case .constants: (many { "let a\($0) = \"x\"\n" }, "", "")
                case .chainedConstants: ("let a0 = \"x\"\n" + many { "let a\($0 + 1) = a\($0)\n" }, "", "")
                case .clients: ("", many { "client C\($0) -> S\n" }, "")
                case .proxies: ("", many { "proxy X\($0) -> S\n" }, "")
                case .variables: ("", many { "client C\($0) -> S\n" }, many { "let v\($0) = \"x\"\n" })
                case .accepted: ("", "", many { "C close\nC connect\nS accept as D\($0)\n" })
                case .hosts: ("", "link C <-> S\n" + many { "name \"a\($0).test\" = 10.77.0.9\n" }, "")
                }
            return "scenario \"a\"\n\(before)\n\(LargeScriptTests.header)\(among)\n\(LargeScriptTests.steps)\(after)"
        }
    }

    /// The scripts may have errors, such as unused actors, because only the time is tested.
    @Test(.timeLimit(.minutes(1)), arguments: Kind.allCases)
    func timeIsLinear(_ kind: Kind) {
        let bytes = Array(kind.script(20_000).utf8)
        let result = ScenarioCompiler.compile(path: "a.scn", bytes: bytes, loader: Self.loader)
        #expect(result.plan != nil || !result.diagnostics.isEmpty)
    }
}
