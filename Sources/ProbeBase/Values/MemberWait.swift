/// The kinds of waits whose duration is measured for each member of a crowd. A wait begins when its step is due.
package enum MemberWait: String, Sendable, CaseIterable {
    case connect, line, bytes, until, eof
}
