import Glibc

/// Finds a command as a shell does.
package enum ExecutableSearch {
    /// - Parameter folder: where the program will run; a name with a slash is taken from there.
    /// - Returns: the absolute path of the executable; nil when there is none.
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

    /// A program runs in a folder of its own, where a relative path would lead elsewhere. Links are kept: some programs look at
    /// the name that they were called by.
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
