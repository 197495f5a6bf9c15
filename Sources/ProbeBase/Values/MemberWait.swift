/// The kinds of waits of a crowd's members whose duration is measured. A wait begins at the time at which its step was
/// due.
package enum MemberWait: String, Sendable, CaseIterable {
    case connect, line, bytes, until, eof
}
