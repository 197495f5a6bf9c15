/// What `help` says in a session.
///
/// It is for somebody who has just come: the language has a page, and each step an explanation.
enum DeskHelp {
    static func text(isServer: Bool) -> String {
        """
        A line is a step of the language: `tcpprobe explain STEP` tells about each. Any other text is sent as a line.

          send line "EHLO x"        send "a" + "b" in pieces of 1B every 5ms
          expect line /^250/        the next line that was not looked at; what was shown before you act counts as seen
          stop reading              resume reading, read 1B every 10ms
          half-close, close, reset  how this side ends it
          \(isServer ? "accept, accept as D       takes the next connection" : "connect                   once more, behind `close`")
          wait 1s, note "…"         and every other step: with several connections their names stand in front
          for i in 1..3 {           a block is read up to its `}`

        An empty line is sent behind one that was; else it does nothing. A line that begins with # does nothing.

          wire                      the packets so far
          save session.scn          what was done, as a scenario
          help, quit                Ctrl-D ends it too, Ctrl-C a step that waits

        """
    }
}
