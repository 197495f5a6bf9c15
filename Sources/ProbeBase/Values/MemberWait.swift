/// The waits of a crowd's members whose time is measured, from the moment at which the step was due.
package enum MemberWait: String, Sendable, CaseIterable {
    case connect, line, bytes, until, eof
}
