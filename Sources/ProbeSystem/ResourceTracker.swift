import CShims
import Glibc
import Synchronization

/// What the run has started and made outside itself, so that it is ended and removed however the run ends.
package enum ResourceTracker {
    /// A folder that was made, by the folder in which it was: neither path is looked up again.
    private struct MadeFolder {
        var parent: Folder
        var name: String
        var identity: FileStatus.Identity?
    }

    private struct State {
        var children: Set<Int32> = []
        var folders: [String: MadeFolder] = [:]
        /// Folders in which others were made, by their paths: mostly one, `$TMPDIR`.
        var parents: [String: Folder] = [:]
        /// Children from before the run (from before an `exec`): not the run's.
        var strangers: Set<Int32> = []
        /// Every other child is the run's: the process belongs to the run, and adopts what its children leave behind.
        var adopts = false
    }

    private static let state = Mutex(State())

    /// Before the run starts anything. This process becomes the subreaper of all that it starts.
    ///
    /// Never called where the package is a library: other children of that process are somebody else's, and taking their
    /// status would leave him waiting for ever.
    package static func begin() {
        let strangers = Set(ProcessTable.children())
        let adopts = probe_become_subreaper() == 0
        state.withLock {
            $0.strangers = strangers
            $0.adopts = adopts
        }
    }

    /// Starts a child whose status somebody waits for: the guardian. Nobody looks for adopted children meanwhile: one that ends at once, before
    /// it is known, would be taken for one of them, and its status with it.
    ///
    /// - Parameter spawn: gives the process id, or a negative number.
    package static func began(_ spawn: () -> Int32) -> Int32 {
        state.withLock { state in
            let child = spawn()
            if child > 0 { state.children.insert(child) }
            return child
        }
    }

    package static func ended(_ child: Int32) { state.withLock { _ = $0.children.remove(child) } }

    /// Makes a folder that is removed at the end, also by the guardian when this process is gone.
    package static func makeFolder(in parent: String) throws(SystemError) -> String {
        let opened = try state.withLock { (state) throws(SystemError) in
            if let known = state.parents[parent] { return known }
            let opened = try Folder(parent)
            state.parents[parent] = opened
            return opened
        }
        let folder = try Guardian.makeFolder(in: parent)
        let name = folder.split(separator: "/").last.map(String.init) ?? folder
        let made = MadeFolder(parent: opened, name: name, identity: try opened.status(of: name)?.identity)
        state.withLock { $0.folders[folder] = made }
        return folder
    }

    /// Removes a folder that was made, with all that is in it.
    ///
    /// - Returns: why something of it stays; nil: nothing does.
    package static func remove(folder: String) -> String? {
        guard let made = state.withLock({ $0.folders.removeValue(forKey: folder) }) else { return nil }
        defer { Guardian.forget(folder: folder) }
        do throws(SystemError) {
            try made.parent.remove(made.name, identity: made.identity)
            return nil
        } catch {
            return error.reason
        }
    }

    /// Ends processes that carry a case's mark in their environment, in whatever group or session they are now.
    ///
    /// - Returns: how many there were.
    package static func kill(markedWith marker: String) -> Int {
        let victims = ProcessTable.processes(markedWith: marker)
        for pid in victims { Glibc.kill(pid, SIGKILL) }
        reapAdopted()
        return victims.count
    }

    /// Takes the status of adopted children that have ended.
    private static func reapAdopted() {
        guard state.withLock({ $0.adopts }) else { return }
        for pid in ProcessTable.children() {
            state.withLock { state in
                if state.children.contains(pid) || state.strangers.contains(pid) { return }
                waitpid(pid, nil, WNOHANG)
            }
        }
    }

    /// Ends every child, also those that lost their mark, and removes every folder.
    ///
    /// - Returns: the folders that could not be removed, and why.
    package static func endAll() -> [(folder: String, reason: String)] {
        let strangers = state.withLock { $0.strangers }
        Guardian.end()
        // Somebody may have killed guardians: what they guarded is this process's then. What dies leaves its own children to this
        // process: again, until none is left.
        for _ in 0..<1000 {
            let children = ProcessTable.children().filter { !strangers.contains($0) }
            if children.isEmpty { break }
            for pid in children {
                Glibc.kill(pid, SIGKILL)
                waitpid(pid, nil, 0)
            }
        }
        return state.withLock({ $0.folders.keys.sorted() }).compactMap { folder in
            remove(folder: folder).map { (folder, $0) }
        }
    }
}
