// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension SecretName {
    /// The list of words, as a tree of their letters.
    enum Words {
        /// What a word says about a name.
        struct Meaning: OptionSet {
            let rawValue: UInt32

            /// The name is a secret's.
            static let always = Meaning(rawValue: 1)
            /// The name is a secret's if it has no other word.
            static let alone = Meaning(rawValue: 1 << 1)
            /// The name is a secret's beside a word that qualifies keys.
            static let key = Meaning(rawValue: 1 << 2)
            /// The name is a secret's beside a word that qualifies codes.
            static let code = Meaning(rawValue: 1 << 3)
            static let qualifiesKey = Meaning(rawValue: 1 << 4)
            static let qualifiesCode = Meaning(rawValue: 1 << 5)
            /// The secret before the word isn't the value, which only says something about it.
            static let about = Meaning(rawValue: 1 << 6)
            static let token = Meaning(rawValue: 1 << 7)
            /// A token after the word belongs to a list of pages, or to a repetition.
            static let beforeToken = Meaning(rawValue: 1 << 8)
            /// Tokens after the word are counted.
            static let beforeTokens = Meaning(rawValue: 1 << 9)
            /// A key after the word is public.
            static let beforeKey = Meaning(rawValue: 1 << 10)
            /// A header field that ends with the word is a secret.
            static let fieldEnd = Meaning(rawValue: 1 << 11)
            /// No other word ends with these letters, so that they need no border before them: `skypetoken`.
            static let ending = Meaning(rawValue: 1 << 12)
            static let pass = Meaning(rawValue: 1 << 13)
            static let afterPass = Meaning(rawValue: 1 << 14)
            /// The word doesn't count: the `X` of a header field.
            static let ignored = Meaning(rawValue: 1 << 15)
            /// A number of that name is no secret.
            static let number = Meaning(rawValue: 1 << 16)
            /// A value that is an ordinary word is no secret.
            static let word = Meaning(rawValue: 1 << 17)
            /// A number of that name is a secret, even in the plural.
            static let digits = Meaning(rawValue: 1 << 18)
            /// The word has no meaning of its own.
            static let plain = Meaning(rawValue: 1 << 19)
        }

        private static let lists: [(Meaning, String)] = [
            ([.always, .token, .ending, .qualifiesKey, .qualifiesCode], "token"),
            (
                [.always, .ending, .qualifiesKey, .qualifiesCode],
                """
                secret passphrase apikey accesskey privatekey secretkey sessionid credential authorization signature
                """
            ),
            ([.always, .ending, .digits, .qualifiesKey, .qualifiesCode], "password passwd passcode"),
            ([.always, .digits, .qualifiesKey, .qualifiesCode], "pwd otp totp hotp mfa cvv cvc"),
            (
                [.always, .qualifiesKey, .qualifiesCode],
                """
                passkey jwt jws jwe authentication auth cred sessid session cookie bearer assertion verifier hmac sig \
                csrf xsrf saml samlart dpop wsse mnemonic wpnonce recaptcha hcaptcha turnstile hdnts hdnea wresult
                """
            ),
            ([.alone, .key, .fieldEnd, .word], "key"),
            ([.alone, .key, .fieldEnd, .qualifiesKey], "sign"),
            ([.alone, .key, .code, .digits, .fieldEnd, .pass, .qualifiesKey, .qualifiesCode], "pass"),
            ([.alone, .code, .digits, .qualifiesKey, .qualifiesCode], "pin"),
            ([.alone, .code, .digits, .word], "code"),
            ([.alone, .key], "ticket bypass"),
            ([.key], "nonce"),
            ([.alone, .fieldEnd], "sid"),
            ([.alone], "sk"),
            ([.alone, .number], "appid"),
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
                [.about],
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
            ([.plain], "id new old current my php jsp asp aspx net j"),
        ]

        // MARK: The tree

        /// A letter of the tree: the beginning of all words that go on from it, and perhaps the end of one.
        private struct Node {
            let letter: UInt8
            var meaning: Meaning = []
            /// The indices of the first letter that follows, and of the next one in place of this letter; 0 for none.
            var child = 0
            var sibling = 0
        }

        private static let tree: [Node] = {
            var nodes = [Node(letter: 0)]
            for (meaning, words) in lists {
                for word in words.split(separator: " ") {
                    var index = 0
                    for letter in word.utf8 {
                        var next = nodes[index].child
                        while next != 0, nodes[next].letter != letter { next = nodes[next].sibling }
                        if next == 0 {
                            next = nodes.count
                            var node = Node(letter: letter)
                            node.sibling = nodes[index].child
                            nodes.append(node)
                            nodes[index].child = next
                        }
                        index = next
                    }
                    nodes[index].meaning.formUnion(meaning)
                }
            }
            return nodes
        }()

        /// The indices of the first letters, by the lower five bits of each; 0 for none.
        private static let roots: [Int] = {
            var roots = Array(repeating: 0, count: 32)
            var index = tree[0].child
            while index != 0 {
                roots[Int(tree[index].letter & 31)] = index
                index = tree[index].sibling
            }
            return roots
        }()

        /// Returns the first result for the words that begin at an index, the longest first, in the singular and the
        /// plural; `nil` if there is none.
        static func first<Result>(
            in letters: UnsafeBufferPointer<UInt8>,
            from index: Int,
            after node: Int = 0,
            _ result: (_ end: Int, Meaning, _ isPlural: Bool) -> Result?
        ) -> Result? {
            guard index < letters.count else { return nil }
            let letter = ASCII.lowercased(letters[index])
            var next = node == 0 ? roots[Int(letter & 31)] : tree[node].child
            while next != 0, tree[next].letter != letter { next = tree[next].sibling }
            guard next != 0 else { return nil }
            let end = index + 1
            if let result = first(in: letters, from: end, after: next, result) { return result }
            let meaning = tree[next].meaning
            guard !meaning.isEmpty else { return nil }
            let isPlural = end < letters.count && ASCII.lowercased(letters[end]) == UInt8(ascii: "s")
            return (isPlural ? result(end + 1, meaning, true) : nil) ?? result(end, meaning, false)
        }

        /// The word at the end of letters, if it needs no border before it.
        static func ending(
            of letters: UnsafeBufferPointer<UInt8>
        ) -> (meaning: Meaning, isPlural: Bool)? {
            for start in max(0, letters.count - 16)..<max(0, letters.count - 4) {
                let word = first(in: letters, from: start) { end, meaning, isPlural in
                    end == letters.count && meaning.contains(.ending) ? (meaning, isPlural) : nil
                }
                if let word { return word }
            }
            return nil
        }
    }
}
