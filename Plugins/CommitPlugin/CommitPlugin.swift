import Foundation
import PackagePlugin

/// Gives `ProbeOrigin` the commit that the sources are of: before each build, because a commit changes no source.
///
/// `Context.gitInformation` would do without a plugin, but a manifest is cached, and then says an earlier commit.
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
