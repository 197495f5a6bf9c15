extension LexicalDiagnosticKind {
    /// What the kinds mean, by their names.
    static let explanations: [DiagnosticID: DiagnosticExplanation] = [
        .notUTF8: DiagnosticExplanation(
            meaning: "A script is UTF-8 text. Bytes that are none have no place in it, not even in a string: what goes "
                + "on the wire is written with escapes, so that an editor or a diff can't change it.",
            wrong: nil,
            right: #"S send "caf\xe9""#
        ),
        .nulByte: DiagnosticExplanation(
            meaning: "A script is text, and a NUL byte is none. It is a sign that the file is something else, such as "
                + "UTF-16 or a program.",
            wrong: nil,
            right: #"S send "a\0b""#
        ),
        .tooLarge: DiagnosticExplanation(
            meaning: "A script of more than 64 MiB is not read. What is so long is data, and belongs into a file of "
                + "its own.",
            wrong: nil,
            right: #"S send file("payload.bin")"#
        ),
        .unexpectedCharacter: DiagnosticExplanation(
            meaning: "A character stands where none such has a meaning: often text without quotes, typographic quotes "
                + "that a text processor made, or a control character.",
            wrong: "S send “hello”",
            right: #"S send "hello""#
        ),
        .commentNeedsSpace: DiagnosticExplanation(
            meaning: "A # starts a comment at the start of a line and behind white space. In the middle of a word it "
                + "might be meant as text, so it is asked for.",
            wrong: ##"S send "a"# one byte"##,
            right: #"S send "a"  # one byte"#
        ),
        .unterminatedString: DiagnosticExplanation(
            meaning: "A string ends on the line where it starts. Line ends that go on the wire are written \\r\\n, so "
                + "that those of the script never matter.",
            wrong: #"S send "220 ready"#,
            right: #"S send "220 ready\r\n""#
        ),
        .unterminatedRegex: DiagnosticExplanation(
            meaning: "A / opens a regex, and it ends on its line. Division is written inside parentheses.",
            wrong: "C expect line /^220",
            right: "C expect line /^220/"
        ),
        .unterminatedHex: DiagnosticExplanation(
            meaning: "The digits of hex(…) end on their line.",
            wrong: "S send hex(de ad",
            right: "S send hex(de ad)"
        ),
        .unknownEscape: DiagnosticExplanation(
            meaning:
                "In a \"string\" a backslash starts one of \\r \\n \\t \\0 \\\\ \\\" \\$ \\xHH \\u{H…}. In a 'raw string' it "
                + "is itself.",
            wrong: #"S send "C:\dir""#,
            right: #"S send 'C:\dir'"#
        ),
        .badInterpolation: DiagnosticExplanation(
            meaning: "${…} in a string names a variable, or the port or address of an actor. It holds no expression: "
                + "compute with let first.",
            wrong: #"S send "${1 + 2}""#,
            right: #"""
                let sum = 1 + 2
                S send "${sum}"
                """#
        ),
        .badHex: DiagnosticExplanation(
            meaning: "hex(…) takes two hexadecimal digits for each byte, with spaces between bytes where you like.",
            wrong: "S send hex(d)",
            right: "S send hex(0d 0a)"
        ),
        .regexSyntax: DiagnosticExplanation(
            meaning: "The pattern is no regex of this language. It has no backreferences and no lookaround, as every "
                + "pattern is matched in linear time.",
            wrong: "C expect line /(220/",
            right: #"C expect line /\(220/"#
        ),
        .shellOperator: DiagnosticExplanation(
            meaning: "A process line is cut into words as a shell does, but no shell runs: |, > and && are handed to "
                + "the program as they are.",
            wrong: #"""
                scenario "example"
                process P = echo hi > out
                P start
                P expect exit 0
                """#,
            right: #"""
                scenario "example"
                process P = sh -c 'echo hi > out'
                P start
                P expect exit 0
                """#
        ),
        .tooManyErrors: DiagnosticExplanation(
            meaning: "Beyond five hundred errors the rest is not told. Mend the first ones; the others often follow "
                + "from them.",
            wrong: nil,
            right: nil
        ),
    ]
}
