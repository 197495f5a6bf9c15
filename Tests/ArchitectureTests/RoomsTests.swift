import Testing

/// The imports of each room (a module in `Sources/`) must match the table in docs/ARCHITECTURE.md. If the imports and
/// the table differ, one of them is wrong.
struct RoomsTests {
    /// The modules of the toolchain, which are not in the manifest.
    private static let toolchain: Set<String> = ["Glibc", "Synchronization", "Dispatch", "Foundation"]

    @Test
    func everySourceFolderIsARoom() {
        #expect(Set(Room.all.map(\.folder)) == Set(Repository.names(in: "Sources")))
        #expect(Room.all.count == Set(Room.all.map(\.folder)).count)
    }

    @Test(arguments: Room.all)
    func everyImportIsAllowed(_ room: Room) {
        for (module, path) in room.imports.sorted(by: { $0.key < $1.key }) where !room.mayImport.contains(module) {
            Issue.record("\(path) imports \(module), which docs/ARCHITECTURE.md does not allow in \(room.folder)")
        }
    }

    @Test(arguments: Room.all.filter { Repository.files(below: "Sources/\($0.folder)", ending: ".swift") != [] })
    func everyAllowedImportIsUsed(_ room: Room) {
        let unused = room.mayImport.subtracting(room.imports.keys)
        #expect(unused == [], "allowed by docs/ARCHITECTURE.md, but imported by no file in \(room.folder)")
    }

    @Test(arguments: Room.all)
    func manifestDependenciesMatchThePage(_ room: Room) throws {
        let target = try #require(Manifest.targets.first { $0.name == room.folder })
        #expect(target.dependencies == room.mayImport.subtracting(Self.toolchain))
    }

    @Test
    func noRoomImportsUpwards() {
        var below = Set(Room.all.map(\.folder))
        for room in Room.all {
            below.remove(room.folder)
            let above = room.mayImport.intersection(Room.all.map(\.folder)).subtracting(below)
            #expect(above == [], "\(room.folder) is listed below a room that it imports")
        }
    }
}
