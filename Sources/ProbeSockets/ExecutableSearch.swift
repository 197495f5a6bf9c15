import Glibc

/// Finds a command as a shell does.
package enum ExecutableSearch {
    /// - Returns: the path of the executable; nil when there is none. A name with a slash is looked up as it is.
    package static func find(_ name: String) -> String? {
        if name.contains("/") { return isExecutable(name) ? name : nil }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        for folder in path.split(separator: ":", omittingEmptySubsequences: false) {
            let candidate = (folder.isEmpty ? "." : folder) + "/" + name
            if isExecutable(String(candidate)) { return String(candidate) }
        }
        return nil
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
