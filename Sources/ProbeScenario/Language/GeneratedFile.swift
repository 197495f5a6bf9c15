/// A file in the repository that is generated from the language table.
package enum GeneratedFile: Sendable, CaseIterable {
    case textMate, visualStudioCode, vim
    /// A page of the reference, identified by its name in ``LanguageReference/pages``.
    case reference(page: String)

    package static var allCases: [GeneratedFile] {
        [.textMate, .visualStudioCode, .vim] + LanguageReference.pages.map { .reference(page: $0.name) }
    }

    /// The path of the file in the repository.
    package var path: String {
        switch self {
        case .textMate: "Editors/TextMate/scn.tmLanguage.json"
        case .visualStudioCode: "Editors/vscode/syntaxes/scn.tmLanguage.json"
        case .vim: "Editors/vim/syntax/scn.vim"
        case .reference(let page): "docs/language/\(page).md"
        }
    }

    /// The path of the template. A reference page is its own template, because only its tables are generated.
    package var source: String {
        switch self {
        case .textMate, .visualStudioCode: "Editors/Templates/scn.tmLanguage.json"
        case .vim: "Editors/Templates/scn.vim"
        case .reference: path
        }
    }

    /// Returns the generated text of the file.
    ///
    /// - Parameter source: the text of ``source``.
    /// - Returns: the file's text; `nil` if a marker in the source is not closed or names an unknown table.
    package func text(from source: String) -> String? {
        switch self {
        case .textMate, .visualStudioCode: EditorWords.filled(source, separator: "|", space: " ")
        case .vim: EditorWords.filled(source, separator: "\\|", space: " ")
        case .reference: LanguageReference.filled(source)
        }
    }
}
