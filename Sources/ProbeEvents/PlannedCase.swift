/// A case that the run set out to run: what reports need to name it, should it never begin.
package struct PlannedCase: Sendable, Hashable {
    /// Path below the given root without `.scn`, with `[x=…]` behind it.
    package var id: String
    /// The script, as the user gave it.
    package var path: String
    /// As ``CaseResult/subject`` will be: nil when the scenario has none.
    package var subject: String?

    package init(id: String, path: String, subject: String?) {
        self.id = id
        self.path = path
        self.subject = subject
    }
}
