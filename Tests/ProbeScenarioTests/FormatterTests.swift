import ProbeBase
import ProbeScenario
import Testing

@Suite struct FormatterTests {
    private func formatted(_ text: String) throws -> String {
        guard case .formatted(let bytes) = ScenarioFormatter.format(path: "x.scn", bytes: Array(text.utf8)) else {
            Issue.record("not formatted")
            return ""
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func layoutIsNormalized() throws {
        let text = """
            \u{FEFF}# Title comment   


            scenario   "x"\t# what it shows
            tag a,b


            server S   with receive-buffer   4KiB,nodelay off # the peer
            subject T->S  # under test
            process  P = sh -c 'a  b'   --port=${P.port}
            require command python3.11
            let x = ( 1+2 )*3 - 4
            define   login {


              note "a";note "b"

              # inside
              T send line "x"
            }
            T start
            S accept within 200ms
            S send "a"|"b"
            |   "c"   |
            "d" # last
              every 30ms
            S send hex( de  ad ) + random( 64KiB,seed 7 )
            S send pb( 1: sint -1,2: [ int -3,4 ] , 3: (2-1) ) + pb(m,3.1 [0] .2)
            S expect ( 1+1 ) bytes
            either{ S expect "a";S expect "b" ; } or {
            S expect "c" }
            P start
            wire S->T segments "a","b"
            for i in 1 .. 3{S expect "${i}"}


            """
        let expected = """
            # Title comment

            scenario "x"  # what it shows
            tag a, b

            server  S with receive-buffer 4KiB, nodelay off  # the peer
            subject T -> S                                   # under test
            process P = sh -c 'a  b' --port=${P.port}
            require command python3.11
            let x = (1 + 2) * 3 - 4
            define login {
                note "a"
                note "b"

                # inside
                T send line "x"
            }
            T start
            S accept within 200ms
            S send "a" | "b"
                | "c" |
                "d"  # last
            every 30ms
            S send hex(de ad) + random(64KiB, seed 7)
            S send pb(1: sint -1, 2: [int -3, 4], 3: (2 - 1)) + pb(m, 3.1 [0] .2)
            S expect (1 + 1) bytes
            either { S expect "a"; S expect "b" } or {
                S expect "c"
            }
            P start
            wire S -> T segments "a", "b"
            for i in 1..3 { S expect "${i}" }

            """
        let broken = text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("every 30ms") }.joined(separator: "\n")
        let wanted = expected.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { $0 != "every 30ms" }.joined(separator: "\n")
        #expect(try formatted(broken) == wanted)
        // A line that is not a statement is not formatted, because the formatter does not guess what was meant.
        guard case .unreadable(let diagnostics, _) = ScenarioFormatter.format(path: "x", bytes: Array(text.utf8)) else {
            Issue.record("an invalid line was formatted")
            return
        }
        #expect(diagnostics.map(\.id) == [.unknownStatement])
    }

    @Test func firstExampleKeepsItsLayout() throws {
        let once = try formatted(FirstExampleTests.script)
        #expect(once == FirstExampleTests.script.replacingDoubleSpace + "\n")
    }

    /// Formatting twice changes nothing, and the plan is the same except for source positions.
    @Test(arguments: ["whole-language.scn"])
    func formattingIsIdempotent(_ name: String) throws {
        let text = TestFiles.text(of: name)
        let once = try formatted(text)
        #expect(once != text)
        #expect(try formatted(once) == once)
        let before = compile(text)
        let after = compile(once)
        #expect(after.rendered == "")
        #expect(after.plan?.cases.map(\.label) == before.plan?.cases.map(\.label))
        #expect(shape(after) == shape(before))
    }

    /// Returns the syntax tree without source positions.
    private func shape(_ result: CompilationResult) -> String {
        let text = String(describing: result.plan?.scenario.steps ?? [])
        var shape = ""
        var rest = text[...]
        let start = "SourceSpan("
        while let place = rest.firstPlace(of: start) {
            shape += rest[..<place]
            let end = rest[place...].firstIndex(of: ")") ?? rest.endIndex
            rest = rest[end...]
        }
        return shape + rest
    }

    /// Scripts with errors are formatted too if they can be parsed; scripts that can't be parsed are left unchanged.
    @Test(arguments: WrongScriptTests.scripts)
    func invalidScriptsKeepTheirMeaning(_ script: WrongScript) throws {
        guard case .formatted(let once) = ScenarioFormatter.format(path: "x", bytes: Array(script.script.utf8)) else {
            return
        }
        guard case .formatted(let twice) = ScenarioFormatter.format(path: "x", bytes: once) else {
            Issue.record("the formatted script can't be parsed")
            return
        }
        #expect(String(decoding: twice, as: UTF8.self) == String(decoding: once, as: UTF8.self))
        let before = compile(script.script, files: script.files).diagnostics.map(\.text)
        let after = compile(String(decoding: once, as: UTF8.self), files: script.files).diagnostics.map(\.text)
        #expect(after == before)
    }

    @Test(arguments: 0..<40)
    func formattingOfMutationsIsIdempotent(_ seed: Int) throws {
        var generator = SplitMix64(seed: seed &+ 5_000)
        let whole = TestFiles.bytes(of: "whole-language.scn")
        let signs = Array(" \n\t;#{}()|+,=\r\"/'".utf8)
        for _ in 0..<4 {
            var bytes = whole
            for _ in 0..<(1 + generator.below(6)) {
                let place = generator.below(bytes.count)
                if generator.below(2) == 0 {
                    bytes.remove(at: place)
                } else {
                    bytes.insert(signs[generator.below(signs.count)], at: place)
                }
            }
            guard case .formatted(let once) = ScenarioFormatter.format(path: "x", bytes: bytes) else { continue }
            guard case .formatted(let twice) = ScenarioFormatter.format(path: "x", bytes: once) else {
                Issue.record("the formatted script can't be parsed")
                continue
            }
            #expect(String(decoding: twice, as: UTF8.self) == String(decoding: once, as: UTF8.self))
        }
    }
}

extension String {
    fileprivate var replacingDoubleSpace: String {
        // Spaces in the declarations of actors are kept, because they align the names in a column.
        split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("server") ? String($0) : $0.split(separator: " ").joined(separator: " ") }
            .joined(separator: "\n")
    }
}

extension Substring {
    /// Returns the index at which a text starts.
    fileprivate func firstPlace(of part: String) -> Index? {
        let wanted = Array(part.utf8)
        var index = startIndex
        while index < endIndex {
            if self[index...].utf8.starts(with: wanted) { return index }
            index = self.index(after: index)
        }
        return nil
    }
}
