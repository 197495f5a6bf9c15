/// Calls a handler after changes, one call at a time.
///
/// A handler that sends, reads or closes changes the object that it was called about. Calling it again from within
/// itself would deepen the stack with each message that a peer has sent, so that call is made once the current one has
/// returned.
///
/// Confined to the thread of the object that changes.
package final class ChangeHandler {
    package var handler: () -> Void = {}
    private var isRunning = false
    private var mustRunAgain = false

    package init() {}

    package func notify() {
        if isRunning {
            mustRunAgain = true
            return
        }
        isRunning = true
        repeat {
            mustRunAgain = false
            handler()
        } while mustRunAgain
        isRunning = false
    }
}
