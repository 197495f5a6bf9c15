extension ValueDiagnosticKind {
    /// What the kinds mean, by their names.
    static let explanations: [DiagnosticID: DiagnosticExplanation] = [
        .fileBesideScript: DiagnosticExplanation(
            meaning:
                "A program runs in a fresh folder of its own, so that cases do not share files. A file of the script's "
                + "folder is not there: ${dir} names that folder.",
            wrong: #"""
                scenario "example"
                process P = python3 common.scn
                P start
                P expect exit 0
                """#,
            right: #"""
                scenario "example"
                process P = python3 ${dir}/common.scn
                P start
                P expect exit 0
                """#
        ),
        .fileMayBeBesideScript: DiagnosticExplanation(
            meaning:
                "A word of the command is the name of a file beside the script. The program runs in a fresh "
                + "folder of its "
                + "own, and does not find the file there. It is a warning: the word may mean something else.",
            wrong: #"""
                scenario "example"
                process P = cat common.scn
                P start
                P expect exit 0
                """#,
            right: #"""
                scenario "example"
                process P = cat ${dir}/common.scn
                P start
                P expect exit 0
                """#
        ),
        .missingBraces: DiagnosticExplanation(
            meaning:
                "A $ before anything but { is itself, and there is a name that it may have meant. It is a warning: the "
                + "bytes may be meant so, and then \\$ says it.",
            wrong: #"""
                let n = 3
                S send "n=$n"
                C expect "n=$n"
                """#,
            right: #"""
                let n = 3
                S send "n=${n}"
                C expect "n=3"
                """#
        ),
        .wrongType: DiagnosticExplanation(
            meaning: "A value is bytes or a number, and here the other one is meant. \"${n}\" is the decimal text of a "
                + "number, u16(n) its bytes; int(x) reads decimal text, len(x) counts bytes.",
            wrong: "S send 12",
            right: #"S send "12""#
        ),
        .mixedTypes: DiagnosticExplanation(
            meaning: "Numbers are added to numbers and bytes joined to bytes.",
            wrong: #"let x = "a" + 1"#,
            right: #"""
                let n = 1
                let x = "a" + "${n}"
                """#
        ),
        .outOfRange: DiagnosticExplanation(
            meaning: "The number does not fit where it stands.",
            wrong: "S send u8(300)",
            right: "S send u16(300)"
        ),
        .emptyValue: DiagnosticExplanation(
            meaning: "Expecting nothing always passes, and sending nothing does nothing.",
            wrong: #"C expect """#,
            right: "C expect nothing for 200ms"
        ),
        .emptyRange: DiagnosticExplanation(
            meaning: "An each or a for over nothing would run nothing, and pass.",
            wrong: #"for i in 3..1 { S send "a" }"#,
            right: #"for i in 1..3 { S send "a" }"#
        ),
        .cutPastEnd: DiagnosticExplanation(
            meaning: "A cut lies inside the value, and offsets rise.",
            wrong: #"S send "abc" cut at 3"#,
            right: #"S send "abc" cut at 2"#
        ),
        .badBase64: DiagnosticExplanation(
            meaning: "base64(…) takes the alphabet of RFC 4648, section 4, with padding.",
            wrong: #"S send base64("a*")"#,
            right: #"S send base64("aGk=")"#
        ),
        .cantCompute: DiagnosticExplanation(
            meaning: "The expression has no value: it overflows, divides by zero, is larger than 256 MiB, or is a line "
                + "in a framing that has no lines.",
            wrong: "let n = (1 / 0)",
            right: "let n = (4 / 2)"
        ),
        .outsideFolder: DiagnosticExplanation(
            meaning: "A script reads files of its own folder and below only, so that a script from a stranger can't "
                + "read yours.",
            wrong: #"S send file("../secret")"#,
            right: #"S send file("payload.bin")"#
        ),
        .tooManyCases: DiagnosticExplanation(
            meaning: "Several each multiply. More than 100000 cases are a slip, or a run that nobody waits for.",
            wrong: #"""
                scenario "example"
                each a = 1..1000
                each b = 1..1000
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                each a = 1..10
                each b = 1..10
                server S
                S accept
                """#
        ),
        .targetNotAllowed: DiagnosticExplanation(
            meaning:
                "A script connects to loopback addresses and listens on them, so that a script from a stranger reaches "
                + "no other machine and is reached from none. check and run take --allow-target HOST or HOST:PORT for "
                + "what else is yours to test. A name other than localhost has to be given in that way too: what it "
                + "stands for is found out by the run.",
            wrong: #"""
                scenario "example"
                client C -> 192.0.2.1:80
                C connect
                C expect eof
                """#,
            right: #"""
                scenario "example"
                client C -> 127.0.0.1:80
                C connect
                C expect eof
                """#
        ),
    ]
}
