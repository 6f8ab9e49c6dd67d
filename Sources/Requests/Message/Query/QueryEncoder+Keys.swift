// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension QueryEncoder {
    /// How names are spelled, those in nested values and in dictionaries too.
    public enum Keys: Sendable {
        /// As they are.
        case useDefaultKeys
        /// As `page_number`.
        case snakeCase
        /// As `page-number`.
        case kebabCase
        /// As `PageNumber`.
        case capitalized
        /// As `PAGENUMBER`.
        case uppercased
        /// As `pagenumber`.
        case lowercased
        /// As the closure says.
        case custom(@Sendable (String) -> String)

        func spell(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .snakeCase: Self.words(of: key, separatedBy: "_")
            case .kebabCase: Self.words(of: key, separatedBy: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let closure): closure(key)
            }
        }

        /// The words of a name in lower case.
        ///
        /// A word begins with an upper-case letter behind another character, or with the last one of several if a
        /// lower-case letter follows: `myURLProperty` is `my`, `url`, `property`.
        private static func words(of key: String, separatedBy separator: Character) -> String {
            let characters = Array(key)
            var output = ""
            for (index, character) in characters.enumerated() {
                if index > 0, character.isUppercase, characters[index - 1].isLetter || characters[index - 1].isNumber {
                    let endsAcronym = index + 1 < characters.count && characters[index + 1].isLowercase
                    if !characters[index - 1].isUppercase || endsAcronym { output.append(separator) }
                }
                output += character.lowercased()
            }
            return output
        }
    }
}
