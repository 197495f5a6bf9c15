import Foundation
import PackagePlugin

/// Passes the commit of the sources to `ProbeOrigin`. The plugin runs before each build, because making a commit does
/// not change any source file.
///
/// `Context.gitInformation` would work without a plugin, but SwiftPM caches the manifest, which could then contain an
/// earlier commit.
@main
struct CommitPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let output = context.pluginWorkDirectoryURL
        return [
            .prebuildCommand(
                displayName: "The commit of the sources",
                executable: root.appending(path: "Scripts/commit"),
                arguments: ["--write", output.path(percentEncoded: false)],
                environment: ProcessInfo.processInfo.environment.filter {
                    ["PATH", "TCPPROBE_COMMIT"].contains($0.key)
                },
                outputFilesDirectory: output)
        ]
    }
}
