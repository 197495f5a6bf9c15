import Glibc

/// Finds a command in the same way as a shell.
package enum ExecutableSearch {
    /// Returns the absolute path of an executable; `nil` if there is none.
    ///
    /// - Parameter folder: the program's working directory, used to resolve a name that contains a slash.
    package static func find(_ name: String, from folder: String = ".") -> String? {
        if name.contains("/") {
            let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
            return isExecutable(path) ? absolute(path) : nil
        }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        for folder in path.split(separator: ":", omittingEmptySubsequences: false) {
            let candidate = (folder.isEmpty ? "." : folder) + "/" + name
            if isExecutable(String(candidate)) { return absolute(String(candidate)) }
        }
        return nil
    }

    /// Returns the absolute path. A program runs in its own folder, where a relative path would refer to a different
    /// file. Symbolic links are not resolved, because some programs examine the name by which they were called.
    private static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return "\(String(cString: here))/\(path)"
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
