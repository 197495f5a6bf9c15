import CShims
import Glibc
import Synchronization

/// Tracks the processes and folders of the run, so that the processes are ended and the folders are removed, regardless
/// of how the run ends.
package enum ResourceTracker {
    /// A folder that was created, and the folder that contains it, both of them open, so that no path is resolved
    /// again.
    private struct CreatedFolder {
        var parent: Folder
        var name: String
        var identity: FileStatus.Identity?
    }

    private struct State {
        var children: Set<Int32> = []
        var folders: [String: CreatedFolder] = [:]
        /// The parent folders of the folders that were created, by path; usually only `$TMPDIR`.
        var parents: [String: Folder] = [:]
        /// The children that this process already had before the run, for example from before an `exec`. They do not
        /// belong to the run.
        var preexistingChildren: Set<Int32> = []
        /// Whether this process also adopts the orphans of its children. If so, every child that did not exist before
        /// the run belongs to the run.
        var adopts = false
    }

    private static let state = Mutex(State())

    /// Starts tracking. Must be called before the run starts any process. This process becomes the subreaper of all its
    /// descendants.
    ///
    /// Must not be called if the package is used as a library: the process's other children belong to other code, which
    /// would wait indefinitely for an exit status that this process had already collected.
    package static func begin() {
        let preexistingChildren = Set(ProcessTable.children())
        let adopts = probe_become_subreaper() == 0
        state.withLock {
            $0.preexistingChildren = preexistingChildren
            $0.adopts = adopts
        }
    }

    /// Starts a child whose exit status other code waits for: the guardian. Adopted children are not collected while
    /// the child is started; otherwise a child that ends immediately could be mistaken for an adopted one, and its exit
    /// status would be lost.
    ///
    /// - Parameter spawn: returns the process id, or a negative number on failure.
    package static func began(_ spawn: () -> Int32) -> Int32 {
        state.withLock { state in
            let child = spawn()
            if child > 0 { state.children.insert(child) }
            return child
        }
    }

    package static func ended(_ child: Int32) { state.withLock { _ = $0.children.remove(child) } }

    /// Creates a folder that is removed when the run ends, or by the guardian if this process has already ended.
    package static func makeFolder(in parent: String) throws(SystemError) -> String {
        let opened = try state.withLock { (state) throws(SystemError) in
            if let known = state.parents[parent] { return known }
            let opened = try Folder(parent)
            state.parents[parent] = opened
            return opened
        }
        let folder = try Guardian.makeFolder(in: parent)
        let name = folder.split(separator: "/").last.map(String.init) ?? folder
        let made = CreatedFolder(parent: opened, name: name, identity: try opened.status(of: name)?.identity)
        state.withLock { $0.folders[folder] = made }
        return folder
    }

    /// Removes a folder that this object created, with all its contents.
    ///
    /// - Returns: the reason why something could not be removed; `nil` if everything was removed.
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

    /// Ends the processes whose environment contains a case's marker, whatever their group or session.
    ///
    /// - Returns: the number of processes found.
    package static func kill(markedWith marker: String) -> Int {
        let victims = ProcessTable.processes(markedWith: marker)
        for pid in victims { Glibc.kill(pid, SIGKILL) }
        reapAdopted()
        return victims.count
    }

    /// Collects the exit status of adopted children that have ended.
    private static func reapAdopted() {
        guard state.withLock({ $0.adopts }) else { return }
        for pid in ProcessTable.children() {
            state.withLock { state in
                if state.children.contains(pid) || state.preexistingChildren.contains(pid) { return }
                waitpid(pid, nil, WNOHANG)
            }
        }
    }

    /// Ends every child, even a child without a marker, and removes every folder that was created and every Unix socket
    /// that was bound.
    ///
    /// - Returns: the folders that could not be removed, and the reasons.
    package static func endAll() -> [(folder: String, reason: String)] {
        let preexistingChildren = state.withLock { $0.preexistingChildren }
        Guardian.end()
        // If guardians were killed, this process has adopted their descendants. When one of these descendants ends,
        // this process also adopts the children of that descendant, so the loop repeats until no children are left.
        for _ in 0..<1000 {
            let children = ProcessTable.children().filter { !preexistingChildren.contains($0) }
            if children.isEmpty { break }
            for pid in children {
                Glibc.kill(pid, SIGKILL)
                waitpid(pid, nil, 0)
            }
        }
        SocketFile.releaseAll()
        return state.withLock({ $0.folders.keys.sorted() }).compactMap { folder in
            remove(folder: folder).map { (folder, $0) }
        }
    }
}
