/// Calls a handler after each change of an object, one call at a time.
///
/// A handler that sends, reads or closes causes further changes of the same object. Calling the handler again from
/// within itself would deepen the stack with each message from the peer, so the next call is made once the current one
/// has returned.
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
