/// The files of the repository that are made from the language, by their paths in it.
package enum GeneratedFile: String, Sendable, CaseIterable {
    case textMate = "Editors/TextMate/scn.tmLanguage.json"
    case visualStudioCode = "Editors/vscode/syntaxes/scn.tmLanguage.json"
    case vim = "Editors/vim/syntax/scn.vim"
    case reference = "docs/language.md"

    /// What it is made from; the reference from itself, as only its tables are made.
    package var source: String {
        switch self {
        case .textMate, .visualStudioCode: "Editors/Templates/scn.tmLanguage.json"
        case .vim: "Editors/Templates/scn.vim"
        case .reference: rawValue
        }
    }

    /// - Parameter source: the text of ``source``.
    /// - Returns: the file's text; nil where the source has a marker that is not closed, or names no table.
    package func text(from source: String) -> String? {
        switch self {
        case .textMate, .visualStudioCode: EditorWords.filled(source, separator: "|", space: " ")
        case .vim: EditorWords.filled(source, separator: "\\|", space: " ")
        case .reference: LanguageReference.filled(source)
        }
    }
}
