// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension SecretName {
    /// The words that secret names consist of, stored as a trie.
    enum Words {
        /// The meaning of a word in a name.
        struct Meaning: OptionSet {
            let rawValue: UInt32

            /// Every name with this word is secret.
            static let alwaysSecret = Meaning(rawValue: 1)
            /// The name is secret if it consists only of this word.
            static let standalone = Meaning(rawValue: 1 << 1)
            /// The name is secret if this word is next to a word that qualifies keys, as in `api_key`.
            static let key = Meaning(rawValue: 1 << 2)
            /// The name is secret if this word is next to a word that qualifies codes, as in `login_code`.
            static let code = Meaning(rawValue: 1 << 3)
            static let qualifiesKey = Meaning(rawValue: 1 << 4)
            static let qualifiesCode = Meaning(rawValue: 1 << 5)
            /// The value only describes the secret that is named before this word, as in `token_type`.
            static let descriptor = Meaning(rawValue: 1 << 6)
            static let token = Meaning(rawValue: 1 << 7)
            /// A `token` after this word isn't a secret, but is used for paging or idempotency.
            static let beforeToken = Meaning(rawValue: 1 << 8)
            /// The plural `tokens` after this word is a count, or is used for paging, as in `max_tokens`.
            static let beforeTokens = Meaning(rawValue: 1 << 9)
            /// A `key` after this word isn't secret, as in `Public-Key`.
            static let beforeKey = Meaning(rawValue: 1 << 10)
            /// A header field whose name ends with this word is secret.
            static let headerSuffix = Meaning(rawValue: 1 << 11)
            /// The word is recognized even directly after other letters, as in `skypetoken`, because no ordinary word
            /// ends with it.
            static let suffix = Meaning(rawValue: 1 << 12)
            static let pass = Meaning(rawValue: 1 << 13)
            static let afterPass = Meaning(rawValue: 1 << 14)
            /// The word is ignored, like the `X` at the start of a header field.
            static let ignored = Meaning(rawValue: 1 << 15)
            /// A number with this name isn't secret.
            static let nonSecretNumber = Meaning(rawValue: 1 << 16)
            /// An ordinary word isn't secret as a value of this name.
            static let allowsOrdinaryValues = Meaning(rawValue: 1 << 17)
            /// A number with this name is secret, even if the name is in the plural.
            static let secretNumber = Meaning(rawValue: 1 << 18)
            /// The word has no special meaning.
            static let neutral = Meaning(rawValue: 1 << 19)
        }

        private static let wordLists: [(Meaning, String)] = [
            ([.alwaysSecret, .token, .suffix, .qualifiesKey, .qualifiesCode], "token"),
            (
                [.alwaysSecret, .suffix, .qualifiesKey, .qualifiesCode],
                """
                secret passphrase apikey accesskey privatekey secretkey sessionid credential authorization signature
                """
            ),
            ([.alwaysSecret, .suffix, .secretNumber, .qualifiesKey, .qualifiesCode], "password passwd passcode"),
            ([.alwaysSecret, .secretNumber, .qualifiesKey, .qualifiesCode], "pwd otp totp hotp mfa cvv cvc"),
            (
                [.alwaysSecret, .qualifiesKey, .qualifiesCode],
                """
                passkey jwt jws jwe authentication auth cred sessid session cookie bearer assertion verifier hmac sig \
                csrf xsrf saml samlart dpop wsse mnemonic wpnonce recaptcha hcaptcha turnstile hdnts hdnea wresult
                """
            ),
            ([.standalone, .key, .headerSuffix, .allowsOrdinaryValues], "key"),
            ([.standalone, .key, .headerSuffix, .qualifiesKey], "sign"),
            ([.standalone, .key, .code, .secretNumber, .headerSuffix, .pass, .qualifiesKey, .qualifiesCode], "pass"),
            ([.standalone, .code, .secretNumber, .qualifiesKey, .qualifiesCode], "pin"),
            ([.standalone, .code, .secretNumber, .allowsOrdinaryValues], "code"),
            ([.standalone, .key], "ticket bypass"),
            ([.key], "nonce"),
            ([.standalone, .headerSuffix], "sid"),
            ([.standalone], "sk"),
            ([.standalone, .nonSecretNumber], "appid"),
            (
                [.qualifiesKey],
                """
                api app application client consumer developer dev account admin customer partner service server master root \
                shared encryption decryption signing subscription license licence storage function ssh pgp gpg aes rsa \
                write read insert ingest ingestion query integration deploy deployment webhook hook bot stream wallet \
                seed sdk merchant wp protection granting sas rest host
                """
            ),
            (
                [.qualifiesKey, .qualifiesCode],
                """
                access private user security secure verification recovery backup login activation device unlock \
                oauth
                """
            ),
            (
                [.qualifiesCode],
                """
                verify confirmation confirm signin sms email reset activate invitation magic card factor fa tfa js \
                time onetime pairing join grant authorize
                """
            ),
            (
                [.descriptor],
                """
                type kind count length size expires expire expiration expiry expired lifetime ttl timeout duration \
                date timestamp time created updated issued changed at version algorithm alg method endpoint supported \
                enabled required allowed policy status limit name
                """
            ),
            ([.beforeToken, .beforeTokens, .beforeKey], "idempotency retry"),
            ([.beforeToken, .beforeTokens], "page next continuation sync"),
            (
                [.beforeTokens],
                "max min total prompt completion input output remaining used cached reasoning audio limit"
            ),
            ([.beforeKey], "public partition sort cache surrogate routing crypto"),
            ([.afterPass], "word phrase"),
            ([.ignored], "x"),
            ([.neutral], "id new old current my php jsp asp aspx net j"),
        ]

        // MARK: Trie

        /// A node of the trie, for one letter.
        private struct Node {
            let letter: UInt8
            var meaning: Meaning = []
            /// The indices of the first child and of the next sibling; 0 if there is none.
            var firstChild = 0
            var nextSibling = 0
        }

        private static let tree: [Node] = {
            var nodes = [Node(letter: 0)]
            for (meaning, words) in wordLists {
                for word in words.split(separator: " ") {
                    var index = 0
                    for letter in word.utf8 {
                        var next = nodes[index].firstChild
                        while next != 0, nodes[next].letter != letter { next = nodes[next].nextSibling }
                        if next == 0 {
                            next = nodes.count
                            var node = Node(letter: letter)
                            node.nextSibling = nodes[index].firstChild
                            nodes.append(node)
                            nodes[index].firstChild = next
                        }
                        index = next
                    }
                    nodes[index].meaning.formUnion(meaning)
                }
            }
            return nodes
        }()

        /// The indices of the nodes of first letters, by the lower five bits of each letter; 0 if there is none.
        private static let roots: [Int] = {
            var roots = Array(repeating: 0, count: 32)
            var index = tree[0].firstChild
            while index != 0 {
                roots[Int(tree[index].letter & 31)] = index
                index = tree[index].nextSibling
            }
            return roots
        }()

        /// Returns the first non-`nil` result for the words that start at an index, or `nil` if there is none.
        ///
        /// The longest words are tried first, and their plurals before their singulars.
        static func firstMatch<Result>(
            in letters: UnsafeBufferPointer<UInt8>,
            from index: Int,
            after node: Int = 0,
            _ result: (_ end: Int, Meaning, _ isPlural: Bool) -> Result?
        ) -> Result? {
            guard index < letters.count else { return nil }
            let letter = ASCII.lowercased(letters[index])
            var next = node == 0 ? roots[Int(letter & 31)] : tree[node].firstChild
            while next != 0, tree[next].letter != letter { next = tree[next].nextSibling }
            guard next != 0 else { return nil }
            let end = index + 1
            if let result = firstMatch(in: letters, from: end, after: next, result) { return result }
            let meaning = tree[next].meaning
            guard !meaning.isEmpty else { return nil }
            let isPlural = end < letters.count && ASCII.lowercased(letters[end]) == UInt8(ascii: "s")
            return (isPlural ? result(end + 1, meaning, true) : nil) ?? result(end, meaning, false)
        }

        /// Returns the word at the end of the letters, if it is recognized without a word boundary before it.
        static func suffix(
            of letters: UnsafeBufferPointer<UInt8>
        ) -> (meaning: Meaning, isPlural: Bool)? {
            for start in max(0, letters.count - 16)..<max(0, letters.count - 4) {
                let word = firstMatch(in: letters, from: start) { end, meaning, isPlural in
                    end == letters.count && meaning.contains(.suffix) ? (meaning, isPlural) : nil
                }
                if let word { return word }
            }
            return nil
        }
    }
}
