import Testing

/// A change handler may change the object that called it. If the object called the handler directly, the recursion
/// would go one level deeper with each message from the peer.
struct ChangeHandlerUseTests {
    @Test func onlyChangeHandlerNotifiesOfChanges() {
        var handlers = 0
        for (path, code) in DeclaredTypes.codeOfSources
        where code.contains("onChange") || code.contains("ChangeHandler()") {
            let words = code.split { !($0.isLetter || $0 == "(" || $0 == ")") }
            for word in words where word.hasSuffix("onChange()") {
                Issue.record("\(path) calls onChange itself: ChangeHandler.notify calls it, one call at a time")
            }
            if code.contains("ChangeHandler()") { handlers += 1 }
            if code.contains("var onChange") {
                #expect(code.contains("ChangeHandler()"), "\(path) has an onChange without a ChangeHandler")
            }
        }
        #expect(handlers >= 3, "the sources were read")
    }
}
