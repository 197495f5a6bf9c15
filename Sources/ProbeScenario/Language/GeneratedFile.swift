/// A file of the repository that is made from the language.
package enum GeneratedFile: Sendable, CaseIterable {
    case textMate, visualStudioCode, vim
    /// A page of the reference, by its name in ``LanguageReference/pages``.
    case reference(page: String)

    package static var allCases: [GeneratedFile] {
        [.textMate, .visualStudioCode, .vim] + LanguageReference.pages.map { .reference(page: $0.name) }
    }

    /// The path in the repository.
    package var path: String {
        switch self {
        case .textMate: "Editors/TextMate/scn.tmLanguage.json"
        case .visualStudioCode: "Editors/vscode/syntaxes/scn.tmLanguage.json"
        case .vim: "Editors/vim/syntax/scn.vim"
        case .reference(let page): "docs/language/\(page).md"
        }
    }

    /// The path of the file that it is made from. A page of the reference is made from itself, as only its tables are generated.
    package var source: String {
        switch self {
        case .textMate, .visualStudioCode: "Editors/Templates/scn.tmLanguage.json"
        case .vim: "Editors/Templates/scn.vim"
        case .reference: path
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
