import Testing

@testable import ProbeEngine

struct StepNamesTests {
    @Test(arguments: [
        (#"T expect line "bert: ${i}""#, ["T", "expect", "line", "i"]),
        (#"S send "a ${upper(b)} c" name"#, ["S", "send", "upper", "b", "name"]),
        (#"T expect line as who"#, ["T", "expect", "line", "as"]),
        (#"S send "${S.port} \${x} \" y" # z"#, ["S", "send"]),
        (#"C send my-name + my-name"#, ["C", "send", "my-name"]),
        (#"T expect line /(?<x>a)/"#, ["T", "expect", "line", "a"]),
    ])
    func namesAreReadFromTheText(text: String, names: [String]) {
        #expect(StepNames.names(in: Array(text.utf8)[...]) == names)
    }
}
