// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What other programs send for an address that somebody else has written, as recorded from them.
///
/// The addresses are `http://…/aXYz`, `/?aXYz` and `/#aXYz`: X is a printable character of ASCII, in their order, and Y
/// an escape (`%2F`), a lone `%`, a letter beyond ASCII (`é`) or a space. node 20.20 is the `pathname`, `search` and
/// `hash` of `new URL(…)`; curl 7.88.1 is the request line after a redirect there. Each word is what comes behind the
/// `a`; `-` is nothing.
enum AddressRecordings {
    struct Row: Sendable, CustomStringConvertible {
        let program: String
        let part: String
        let neighbour: String
        let words: String

        var description: String { "\(program), \(part), \(neighbour)" }

        /// The words, each with its character.
        var outcomes: [(character: Character, word: String)] {
            let words = words.split { $0 == " " || $0 == "\n" }.map { $0 == "-" ? "" : String($0) }
            let codes = part == "every part" ? AddressRecordings.controls : Array(0x20...0x7E)
            return zip(codes.map { Character(Unicode.Scalar(UInt8($0))) }, words).map { ($0, $1) }
        }
    }

    /// The codes of the control characters.
    static let controls = Array(0..<0x20) + [0x7F]

    /// What node does with a control character in the place of X, which is the same in each part; curl refuses it.
    static let rowsOfControls: [Row] = [
        Row(
            program: "node",
            part: "every part",
            neighbour: "%2F",
            words: #"""
                %00%2Fz %01%2Fz %02%2Fz %03%2Fz %04%2Fz %05%2Fz %06%2Fz %07%2Fz %08%2Fz %2Fz %2Fz %0B%2Fz %0C%2Fz
                %2Fz %0E%2Fz %0F%2Fz %10%2Fz %11%2Fz %12%2Fz %13%2Fz %14%2Fz %15%2Fz %16%2Fz %17%2Fz %18%2Fz %19%2Fz
                %1A%2Fz %1B%2Fz %1C%2Fz %1D%2Fz %1E%2Fz %1F%2Fz %7F%2Fz
                """#
        ),
        Row(
            program: "node",
            part: "every part",
            neighbour: "%",
            words: #"""
                %00%z %01%z %02%z %03%z %04%z %05%z %06%z %07%z %08%z %z %z %0B%z %0C%z %z %0E%z %0F%z %10%z %11%z
                %12%z %13%z %14%z %15%z %16%z %17%z %18%z %19%z %1A%z %1B%z %1C%z %1D%z %1E%z %1F%z %7F%z
                """#
        ),
        Row(
            program: "node",
            part: "every part",
            neighbour: "é",
            words: #"""
                %00%C3%A9z %01%C3%A9z %02%C3%A9z %03%C3%A9z %04%C3%A9z %05%C3%A9z %06%C3%A9z %07%C3%A9z %08%C3%A9z
                %C3%A9z %C3%A9z %0B%C3%A9z %0C%C3%A9z %C3%A9z %0E%C3%A9z %0F%C3%A9z %10%C3%A9z %11%C3%A9z %12%C3%A9z
                %13%C3%A9z %14%C3%A9z %15%C3%A9z %16%C3%A9z %17%C3%A9z %18%C3%A9z %19%C3%A9z %1A%C3%A9z %1B%C3%A9z
                %1C%C3%A9z %1D%C3%A9z %1E%C3%A9z %1F%C3%A9z %7F%C3%A9z
                """#
        ),
        Row(
            program: "node",
            part: "every part",
            neighbour: " ",
            words: #"""
                %00%20z %01%20z %02%20z %03%20z %04%20z %05%20z %06%20z %07%20z %08%20z %20z %20z %0B%20z %0C%20z
                %20z %0E%20z %0F%20z %10%20z %11%20z %12%20z %13%20z %14%20z %15%20z %16%20z %17%20z %18%20z %19%20z
                %1A%20z %1B%20z %1C%20z %1D%20z %1E%20z %1F%20z %7F%20z
                """#
        ),
    ]

    static let rows: [Row] = [
        Row(
            program: "node",
            part: "path",
            neighbour: "%2F",
            words: #"""
                %20%2Fz !%2Fz %22%2Fz #%2Fz $%2Fz %%2Fz &%2Fz '%2Fz (%2Fz )%2Fz *%2Fz +%2Fz ,%2Fz -%2Fz .%2Fz /%2Fz
                0%2Fz 1%2Fz 2%2Fz 3%2Fz 4%2Fz 5%2Fz 6%2Fz 7%2Fz 8%2Fz 9%2Fz :%2Fz ;%2Fz %3C%2Fz =%2Fz %3E%2Fz ?%2Fz
                @%2Fz A%2Fz B%2Fz C%2Fz D%2Fz E%2Fz F%2Fz G%2Fz H%2Fz I%2Fz J%2Fz K%2Fz L%2Fz M%2Fz N%2Fz O%2Fz P%2Fz
                Q%2Fz R%2Fz S%2Fz T%2Fz U%2Fz V%2Fz W%2Fz X%2Fz Y%2Fz Z%2Fz [%2Fz /%2Fz ]%2Fz ^%2Fz _%2Fz %60%2Fz a%2Fz
                b%2Fz c%2Fz d%2Fz e%2Fz f%2Fz g%2Fz h%2Fz i%2Fz j%2Fz k%2Fz l%2Fz m%2Fz n%2Fz o%2Fz p%2Fz q%2Fz r%2Fz
                s%2Fz t%2Fz u%2Fz v%2Fz w%2Fz x%2Fz y%2Fz z%2Fz %7B%2Fz |%2Fz %7D%2Fz ~%2Fz
                """#
        ),
        Row(
            program: "curl",
            part: "path",
            neighbour: "%2F",
            words: #"""
                %20%2Fz !%2Fz "%2Fz - $%2Fz %%2Fz &%2Fz '%2Fz (%2Fz )%2Fz *%2Fz +%2Fz ,%2Fz -%2Fz .%2Fz /%2Fz 0%2Fz
                1%2Fz 2%2Fz 3%2Fz 4%2Fz 5%2Fz 6%2Fz 7%2Fz 8%2Fz 9%2Fz :%2Fz ;%2Fz <%2Fz =%2Fz >%2Fz ?%2Fz @%2Fz A%2Fz
                B%2Fz C%2Fz D%2Fz E%2Fz F%2Fz G%2Fz H%2Fz I%2Fz J%2Fz K%2Fz L%2Fz M%2Fz N%2Fz O%2Fz P%2Fz Q%2Fz R%2Fz
                S%2Fz T%2Fz U%2Fz V%2Fz W%2Fz X%2Fz Y%2Fz Z%2Fz [%2Fz \%2Fz ]%2Fz ^%2Fz _%2Fz `%2Fz a%2Fz b%2Fz c%2Fz
                d%2Fz e%2Fz f%2Fz g%2Fz h%2Fz i%2Fz j%2Fz k%2Fz l%2Fz m%2Fz n%2Fz o%2Fz p%2Fz q%2Fz r%2Fz s%2Fz t%2Fz
                u%2Fz v%2Fz w%2Fz x%2Fz y%2Fz z%2Fz {%2Fz |%2Fz }%2Fz ~%2Fz
                """#
        ),
        Row(
            program: "node",
            part: "path",
            neighbour: "%",
            words: #"""
                %20%z !%z %22%z #%z $%z %%z &%z '%z (%z )%z *%z +%z ,%z -%z .%z /%z 0%z 1%z 2%z 3%z 4%z 5%z 6%z 7%z 8%z
                9%z :%z ;%z %3C%z =%z %3E%z ?%z @%z A%z B%z C%z D%z E%z F%z G%z H%z I%z J%z K%z L%z M%z N%z O%z P%z Q%z
                R%z S%z T%z U%z V%z W%z X%z Y%z Z%z [%z /%z ]%z ^%z _%z %60%z a%z b%z c%z d%z e%z f%z g%z h%z i%z j%z
                k%z l%z m%z n%z o%z p%z q%z r%z s%z t%z u%z v%z w%z x%z y%z z%z %7B%z |%z %7D%z ~%z
                """#
        ),
        Row(
            program: "curl",
            part: "path",
            neighbour: "%",
            words: #"""
                %20%z !%z "%z - $%z %%z &%z '%z (%z )%z *%z +%z ,%z -%z .%z /%z 0%z 1%z 2%z 3%z 4%z 5%z 6%z 7%z 8%z 9%z
                :%z ;%z <%z =%z >%z ?%z @%z A%z B%z C%z D%z E%z F%z G%z H%z I%z J%z K%z L%z M%z N%z O%z P%z Q%z R%z S%z
                T%z U%z V%z W%z X%z Y%z Z%z [%z \%z ]%z ^%z _%z `%z a%z b%z c%z d%z e%z f%z g%z h%z i%z j%z k%z l%z m%z
                n%z o%z p%z q%z r%z s%z t%z u%z v%z w%z x%z y%z z%z {%z |%z }%z ~%z
                """#
        ),
        Row(
            program: "node",
            part: "path",
            neighbour: "é",
            words: #"""
                %20%C3%A9z !%C3%A9z %22%C3%A9z #%C3%A9z $%C3%A9z %%C3%A9z &%C3%A9z '%C3%A9z (%C3%A9z )%C3%A9z *%C3%A9z
                +%C3%A9z ,%C3%A9z -%C3%A9z .%C3%A9z /%C3%A9z 0%C3%A9z 1%C3%A9z 2%C3%A9z 3%C3%A9z 4%C3%A9z 5%C3%A9z
                6%C3%A9z 7%C3%A9z 8%C3%A9z 9%C3%A9z :%C3%A9z ;%C3%A9z %3C%C3%A9z =%C3%A9z %3E%C3%A9z ?%C3%A9z @%C3%A9z
                A%C3%A9z B%C3%A9z C%C3%A9z D%C3%A9z E%C3%A9z F%C3%A9z G%C3%A9z H%C3%A9z I%C3%A9z J%C3%A9z K%C3%A9z
                L%C3%A9z M%C3%A9z N%C3%A9z O%C3%A9z P%C3%A9z Q%C3%A9z R%C3%A9z S%C3%A9z T%C3%A9z U%C3%A9z V%C3%A9z
                W%C3%A9z X%C3%A9z Y%C3%A9z Z%C3%A9z [%C3%A9z /%C3%A9z ]%C3%A9z ^%C3%A9z _%C3%A9z %60%C3%A9z a%C3%A9z
                b%C3%A9z c%C3%A9z d%C3%A9z e%C3%A9z f%C3%A9z g%C3%A9z h%C3%A9z i%C3%A9z j%C3%A9z k%C3%A9z l%C3%A9z
                m%C3%A9z n%C3%A9z o%C3%A9z p%C3%A9z q%C3%A9z r%C3%A9z s%C3%A9z t%C3%A9z u%C3%A9z v%C3%A9z w%C3%A9z
                x%C3%A9z y%C3%A9z z%C3%A9z %7B%C3%A9z |%C3%A9z %7D%C3%A9z ~%C3%A9z
                """#
        ),
        Row(
            program: "curl",
            part: "path",
            neighbour: "é",
            words: #"""
                %20%c3%a9z !%c3%a9z "%c3%a9z - $%c3%a9z %%c3%a9z &%c3%a9z '%c3%a9z (%c3%a9z )%c3%a9z *%c3%a9z +%c3%a9z
                ,%c3%a9z -%c3%a9z .%c3%a9z /%c3%a9z 0%c3%a9z 1%c3%a9z 2%c3%a9z 3%c3%a9z 4%c3%a9z 5%c3%a9z 6%c3%a9z
                7%c3%a9z 8%c3%a9z 9%c3%a9z :%c3%a9z ;%c3%a9z <%c3%a9z =%c3%a9z >%c3%a9z ?%c3%a9z @%c3%a9z A%c3%a9z
                B%c3%a9z C%c3%a9z D%c3%a9z E%c3%a9z F%c3%a9z G%c3%a9z H%c3%a9z I%c3%a9z J%c3%a9z K%c3%a9z L%c3%a9z
                M%c3%a9z N%c3%a9z O%c3%a9z P%c3%a9z Q%c3%a9z R%c3%a9z S%c3%a9z T%c3%a9z U%c3%a9z V%c3%a9z W%c3%a9z
                X%c3%a9z Y%c3%a9z Z%c3%a9z [%c3%a9z \%c3%a9z ]%c3%a9z ^%c3%a9z _%c3%a9z `%c3%a9z a%c3%a9z b%c3%a9z
                c%c3%a9z d%c3%a9z e%c3%a9z f%c3%a9z g%c3%a9z h%c3%a9z i%c3%a9z j%c3%a9z k%c3%a9z l%c3%a9z m%c3%a9z
                n%c3%a9z o%c3%a9z p%c3%a9z q%c3%a9z r%c3%a9z s%c3%a9z t%c3%a9z u%c3%a9z v%c3%a9z w%c3%a9z x%c3%a9z
                y%c3%a9z z%c3%a9z {%c3%a9z |%c3%a9z }%c3%a9z ~%c3%a9z
                """#
        ),
        Row(
            program: "node",
            part: "path",
            neighbour: " ",
            words: #"""
                %20%20z !%20z %22%20z #%20z $%20z %%20z &%20z '%20z (%20z )%20z *%20z +%20z ,%20z -%20z .%20z /%20z
                0%20z 1%20z 2%20z 3%20z 4%20z 5%20z 6%20z 7%20z 8%20z 9%20z :%20z ;%20z %3C%20z =%20z %3E%20z ?%20z
                @%20z A%20z B%20z C%20z D%20z E%20z F%20z G%20z H%20z I%20z J%20z K%20z L%20z M%20z N%20z O%20z P%20z
                Q%20z R%20z S%20z T%20z U%20z V%20z W%20z X%20z Y%20z Z%20z [%20z /%20z ]%20z ^%20z _%20z %60%20z a%20z
                b%20z c%20z d%20z e%20z f%20z g%20z h%20z i%20z j%20z k%20z l%20z m%20z n%20z o%20z p%20z q%20z r%20z
                s%20z t%20z u%20z v%20z w%20z x%20z y%20z z%20z %7B%20z |%20z %7D%20z ~%20z
                """#
        ),
        Row(
            program: "curl",
            part: "path",
            neighbour: " ",
            words: #"""
                %20%20z !%20z "%20z refused $%20z %%20z &%20z '%20z (%20z )%20z *%20z +%20z ,%20z -%20z .%20z /%20z
                0%20z 1%20z 2%20z 3%20z 4%20z 5%20z 6%20z 7%20z 8%20z 9%20z :%20z ;%20z <%20z =%20z >%20z ?+z @%20z
                A%20z B%20z C%20z D%20z E%20z F%20z G%20z H%20z I%20z J%20z K%20z L%20z M%20z N%20z O%20z P%20z Q%20z
                R%20z S%20z T%20z U%20z V%20z W%20z X%20z Y%20z Z%20z [%20z \%20z ]%20z ^%20z _%20z `%20z a%20z b%20z
                c%20z d%20z e%20z f%20z g%20z h%20z i%20z j%20z k%20z l%20z m%20z n%20z o%20z p%20z q%20z r%20z s%20z
                t%20z u%20z v%20z w%20z x%20z y%20z z%20z {%20z |%20z }%20z ~%20z
                """#
        ),
        Row(
            program: "node",
            part: "query",
            neighbour: "%2F",
            words: #"""
                %20%2Fz !%2Fz %22%2Fz #%2Fz $%2Fz %%2Fz &%2Fz %27%2Fz (%2Fz )%2Fz *%2Fz +%2Fz ,%2Fz -%2Fz .%2Fz /%2Fz
                0%2Fz 1%2Fz 2%2Fz 3%2Fz 4%2Fz 5%2Fz 6%2Fz 7%2Fz 8%2Fz 9%2Fz :%2Fz ;%2Fz %3C%2Fz =%2Fz %3E%2Fz ?%2Fz
                @%2Fz A%2Fz B%2Fz C%2Fz D%2Fz E%2Fz F%2Fz G%2Fz H%2Fz I%2Fz J%2Fz K%2Fz L%2Fz M%2Fz N%2Fz O%2Fz P%2Fz
                Q%2Fz R%2Fz S%2Fz T%2Fz U%2Fz V%2Fz W%2Fz X%2Fz Y%2Fz Z%2Fz [%2Fz \%2Fz ]%2Fz ^%2Fz _%2Fz `%2Fz a%2Fz
                b%2Fz c%2Fz d%2Fz e%2Fz f%2Fz g%2Fz h%2Fz i%2Fz j%2Fz k%2Fz l%2Fz m%2Fz n%2Fz o%2Fz p%2Fz q%2Fz r%2Fz
                s%2Fz t%2Fz u%2Fz v%2Fz w%2Fz x%2Fz y%2Fz z%2Fz {%2Fz |%2Fz }%2Fz ~%2Fz
                """#
        ),
        Row(
            program: "curl",
            part: "query",
            neighbour: "%2F",
            words: #"""
                +%2Fz !%2Fz "%2Fz - $%2Fz %%2Fz &%2Fz '%2Fz (%2Fz )%2Fz *%2Fz +%2Fz ,%2Fz -%2Fz .%2Fz /%2Fz 0%2Fz 1%2Fz
                2%2Fz 3%2Fz 4%2Fz 5%2Fz 6%2Fz 7%2Fz 8%2Fz 9%2Fz :%2Fz ;%2Fz <%2Fz =%2Fz >%2Fz ?%2Fz @%2Fz A%2Fz B%2Fz
                C%2Fz D%2Fz E%2Fz F%2Fz G%2Fz H%2Fz I%2Fz J%2Fz K%2Fz L%2Fz M%2Fz N%2Fz O%2Fz P%2Fz Q%2Fz R%2Fz S%2Fz
                T%2Fz U%2Fz V%2Fz W%2Fz X%2Fz Y%2Fz Z%2Fz [%2Fz \%2Fz ]%2Fz ^%2Fz _%2Fz `%2Fz a%2Fz b%2Fz c%2Fz d%2Fz
                e%2Fz f%2Fz g%2Fz h%2Fz i%2Fz j%2Fz k%2Fz l%2Fz m%2Fz n%2Fz o%2Fz p%2Fz q%2Fz r%2Fz s%2Fz t%2Fz u%2Fz
                v%2Fz w%2Fz x%2Fz y%2Fz z%2Fz {%2Fz |%2Fz }%2Fz ~%2Fz
                """#
        ),
        Row(
            program: "node",
            part: "query",
            neighbour: "%",
            words: #"""
                %20%z !%z %22%z #%z $%z %%z &%z %27%z (%z )%z *%z +%z ,%z -%z .%z /%z 0%z 1%z 2%z 3%z 4%z 5%z 6%z 7%z
                8%z 9%z :%z ;%z %3C%z =%z %3E%z ?%z @%z A%z B%z C%z D%z E%z F%z G%z H%z I%z J%z K%z L%z M%z N%z O%z P%z
                Q%z R%z S%z T%z U%z V%z W%z X%z Y%z Z%z [%z \%z ]%z ^%z _%z `%z a%z b%z c%z d%z e%z f%z g%z h%z i%z j%z
                k%z l%z m%z n%z o%z p%z q%z r%z s%z t%z u%z v%z w%z x%z y%z z%z {%z |%z }%z ~%z
                """#
        ),
        Row(
            program: "curl",
            part: "query",
            neighbour: "%",
            words: #"""
                +%z !%z "%z - $%z %%z &%z '%z (%z )%z *%z +%z ,%z -%z .%z /%z 0%z 1%z 2%z 3%z 4%z 5%z 6%z 7%z 8%z 9%z
                :%z ;%z <%z =%z >%z ?%z @%z A%z B%z C%z D%z E%z F%z G%z H%z I%z J%z K%z L%z M%z N%z O%z P%z Q%z R%z S%z
                T%z U%z V%z W%z X%z Y%z Z%z [%z \%z ]%z ^%z _%z `%z a%z b%z c%z d%z e%z f%z g%z h%z i%z j%z k%z l%z m%z
                n%z o%z p%z q%z r%z s%z t%z u%z v%z w%z x%z y%z z%z {%z |%z }%z ~%z
                """#
        ),
        Row(
            program: "node",
            part: "query",
            neighbour: "é",
            words: #"""
                %20%C3%A9z !%C3%A9z %22%C3%A9z #%C3%A9z $%C3%A9z %%C3%A9z &%C3%A9z %27%C3%A9z (%C3%A9z )%C3%A9z *%C3%A9z
                +%C3%A9z ,%C3%A9z -%C3%A9z .%C3%A9z /%C3%A9z 0%C3%A9z 1%C3%A9z 2%C3%A9z 3%C3%A9z 4%C3%A9z 5%C3%A9z
                6%C3%A9z 7%C3%A9z 8%C3%A9z 9%C3%A9z :%C3%A9z ;%C3%A9z %3C%C3%A9z =%C3%A9z %3E%C3%A9z ?%C3%A9z @%C3%A9z
                A%C3%A9z B%C3%A9z C%C3%A9z D%C3%A9z E%C3%A9z F%C3%A9z G%C3%A9z H%C3%A9z I%C3%A9z J%C3%A9z K%C3%A9z
                L%C3%A9z M%C3%A9z N%C3%A9z O%C3%A9z P%C3%A9z Q%C3%A9z R%C3%A9z S%C3%A9z T%C3%A9z U%C3%A9z V%C3%A9z
                W%C3%A9z X%C3%A9z Y%C3%A9z Z%C3%A9z [%C3%A9z \%C3%A9z ]%C3%A9z ^%C3%A9z _%C3%A9z `%C3%A9z a%C3%A9z
                b%C3%A9z c%C3%A9z d%C3%A9z e%C3%A9z f%C3%A9z g%C3%A9z h%C3%A9z i%C3%A9z j%C3%A9z k%C3%A9z l%C3%A9z
                m%C3%A9z n%C3%A9z o%C3%A9z p%C3%A9z q%C3%A9z r%C3%A9z s%C3%A9z t%C3%A9z u%C3%A9z v%C3%A9z w%C3%A9z
                x%C3%A9z y%C3%A9z z%C3%A9z {%C3%A9z |%C3%A9z }%C3%A9z ~%C3%A9z
                """#
        ),
        Row(
            program: "curl",
            part: "query",
            neighbour: "é",
            words: #"""
                +%c3%a9z !%c3%a9z "%c3%a9z - $%c3%a9z %%c3%a9z &%c3%a9z '%c3%a9z (%c3%a9z )%c3%a9z *%c3%a9z +%c3%a9z
                ,%c3%a9z -%c3%a9z .%c3%a9z /%c3%a9z 0%c3%a9z 1%c3%a9z 2%c3%a9z 3%c3%a9z 4%c3%a9z 5%c3%a9z 6%c3%a9z
                7%c3%a9z 8%c3%a9z 9%c3%a9z :%c3%a9z ;%c3%a9z <%c3%a9z =%c3%a9z >%c3%a9z ?%c3%a9z @%c3%a9z A%c3%a9z
                B%c3%a9z C%c3%a9z D%c3%a9z E%c3%a9z F%c3%a9z G%c3%a9z H%c3%a9z I%c3%a9z J%c3%a9z K%c3%a9z L%c3%a9z
                M%c3%a9z N%c3%a9z O%c3%a9z P%c3%a9z Q%c3%a9z R%c3%a9z S%c3%a9z T%c3%a9z U%c3%a9z V%c3%a9z W%c3%a9z
                X%c3%a9z Y%c3%a9z Z%c3%a9z [%c3%a9z \%c3%a9z ]%c3%a9z ^%c3%a9z _%c3%a9z `%c3%a9z a%c3%a9z b%c3%a9z
                c%c3%a9z d%c3%a9z e%c3%a9z f%c3%a9z g%c3%a9z h%c3%a9z i%c3%a9z j%c3%a9z k%c3%a9z l%c3%a9z m%c3%a9z
                n%c3%a9z o%c3%a9z p%c3%a9z q%c3%a9z r%c3%a9z s%c3%a9z t%c3%a9z u%c3%a9z v%c3%a9z w%c3%a9z x%c3%a9z
                y%c3%a9z z%c3%a9z {%c3%a9z |%c3%a9z }%c3%a9z ~%c3%a9z
                """#
        ),
        Row(
            program: "node",
            part: "query",
            neighbour: " ",
            words: #"""
                %20%20z !%20z %22%20z #%20z $%20z %%20z &%20z %27%20z (%20z )%20z *%20z +%20z ,%20z -%20z .%20z /%20z
                0%20z 1%20z 2%20z 3%20z 4%20z 5%20z 6%20z 7%20z 8%20z 9%20z :%20z ;%20z %3C%20z =%20z %3E%20z ?%20z
                @%20z A%20z B%20z C%20z D%20z E%20z F%20z G%20z H%20z I%20z J%20z K%20z L%20z M%20z N%20z O%20z P%20z
                Q%20z R%20z S%20z T%20z U%20z V%20z W%20z X%20z Y%20z Z%20z [%20z \%20z ]%20z ^%20z _%20z `%20z a%20z
                b%20z c%20z d%20z e%20z f%20z g%20z h%20z i%20z j%20z k%20z l%20z m%20z n%20z o%20z p%20z q%20z r%20z
                s%20z t%20z u%20z v%20z w%20z x%20z y%20z z%20z {%20z |%20z }%20z ~%20z
                """#
        ),
        Row(
            program: "curl",
            part: "query",
            neighbour: " ",
            words: #"""
                ++z !+z "+z refused $+z %+z &+z '+z (+z )+z *+z ++z ,+z -+z .+z /+z 0+z 1+z 2+z 3+z 4+z 5+z 6+z 7+z 8+z
                9+z :+z ;+z <+z =+z >+z ?+z @+z A+z B+z C+z D+z E+z F+z G+z H+z I+z J+z K+z L+z M+z N+z O+z P+z Q+z R+z
                S+z T+z U+z V+z W+z X+z Y+z Z+z [+z \+z ]+z ^+z _+z `+z a+z b+z c+z d+z e+z f+z g+z h+z i+z j+z k+z l+z
                m+z n+z o+z p+z q+z r+z s+z t+z u+z v+z w+z x+z y+z z+z {+z |+z }+z ~+z
                """#
        ),
        Row(
            program: "node",
            part: "fragment",
            neighbour: "%2F",
            words: #"""
                %20%2Fz !%2Fz %22%2Fz #%2Fz $%2Fz %%2Fz &%2Fz '%2Fz (%2Fz )%2Fz *%2Fz +%2Fz ,%2Fz -%2Fz .%2Fz /%2Fz
                0%2Fz 1%2Fz 2%2Fz 3%2Fz 4%2Fz 5%2Fz 6%2Fz 7%2Fz 8%2Fz 9%2Fz :%2Fz ;%2Fz %3C%2Fz =%2Fz %3E%2Fz ?%2Fz
                @%2Fz A%2Fz B%2Fz C%2Fz D%2Fz E%2Fz F%2Fz G%2Fz H%2Fz I%2Fz J%2Fz K%2Fz L%2Fz M%2Fz N%2Fz O%2Fz P%2Fz
                Q%2Fz R%2Fz S%2Fz T%2Fz U%2Fz V%2Fz W%2Fz X%2Fz Y%2Fz Z%2Fz [%2Fz \%2Fz ]%2Fz ^%2Fz _%2Fz %60%2Fz a%2Fz
                b%2Fz c%2Fz d%2Fz e%2Fz f%2Fz g%2Fz h%2Fz i%2Fz j%2Fz k%2Fz l%2Fz m%2Fz n%2Fz o%2Fz p%2Fz q%2Fz r%2Fz
                s%2Fz t%2Fz u%2Fz v%2Fz w%2Fz x%2Fz y%2Fz z%2Fz {%2Fz |%2Fz }%2Fz ~%2Fz
                """#
        ),
        Row(
            program: "node",
            part: "fragment",
            neighbour: "%",
            words: #"""
                %20%z !%z %22%z #%z $%z %%z &%z '%z (%z )%z *%z +%z ,%z -%z .%z /%z 0%z 1%z 2%z 3%z 4%z 5%z 6%z 7%z 8%z
                9%z :%z ;%z %3C%z =%z %3E%z ?%z @%z A%z B%z C%z D%z E%z F%z G%z H%z I%z J%z K%z L%z M%z N%z O%z P%z Q%z
                R%z S%z T%z U%z V%z W%z X%z Y%z Z%z [%z \%z ]%z ^%z _%z %60%z a%z b%z c%z d%z e%z f%z g%z h%z i%z j%z
                k%z l%z m%z n%z o%z p%z q%z r%z s%z t%z u%z v%z w%z x%z y%z z%z {%z |%z }%z ~%z
                """#
        ),
        Row(
            program: "node",
            part: "fragment",
            neighbour: "é",
            words: #"""
                %20%C3%A9z !%C3%A9z %22%C3%A9z #%C3%A9z $%C3%A9z %%C3%A9z &%C3%A9z '%C3%A9z (%C3%A9z )%C3%A9z *%C3%A9z
                +%C3%A9z ,%C3%A9z -%C3%A9z .%C3%A9z /%C3%A9z 0%C3%A9z 1%C3%A9z 2%C3%A9z 3%C3%A9z 4%C3%A9z 5%C3%A9z
                6%C3%A9z 7%C3%A9z 8%C3%A9z 9%C3%A9z :%C3%A9z ;%C3%A9z %3C%C3%A9z =%C3%A9z %3E%C3%A9z ?%C3%A9z @%C3%A9z
                A%C3%A9z B%C3%A9z C%C3%A9z D%C3%A9z E%C3%A9z F%C3%A9z G%C3%A9z H%C3%A9z I%C3%A9z J%C3%A9z K%C3%A9z
                L%C3%A9z M%C3%A9z N%C3%A9z O%C3%A9z P%C3%A9z Q%C3%A9z R%C3%A9z S%C3%A9z T%C3%A9z U%C3%A9z V%C3%A9z
                W%C3%A9z X%C3%A9z Y%C3%A9z Z%C3%A9z [%C3%A9z \%C3%A9z ]%C3%A9z ^%C3%A9z _%C3%A9z %60%C3%A9z a%C3%A9z
                b%C3%A9z c%C3%A9z d%C3%A9z e%C3%A9z f%C3%A9z g%C3%A9z h%C3%A9z i%C3%A9z j%C3%A9z k%C3%A9z l%C3%A9z
                m%C3%A9z n%C3%A9z o%C3%A9z p%C3%A9z q%C3%A9z r%C3%A9z s%C3%A9z t%C3%A9z u%C3%A9z v%C3%A9z w%C3%A9z
                x%C3%A9z y%C3%A9z z%C3%A9z {%C3%A9z |%C3%A9z }%C3%A9z ~%C3%A9z
                """#
        ),
        Row(
            program: "node",
            part: "fragment",
            neighbour: " ",
            words: #"""
                %20%20z !%20z %22%20z #%20z $%20z %%20z &%20z '%20z (%20z )%20z *%20z +%20z ,%20z -%20z .%20z /%20z
                0%20z 1%20z 2%20z 3%20z 4%20z 5%20z 6%20z 7%20z 8%20z 9%20z :%20z ;%20z %3C%20z =%20z %3E%20z ?%20z
                @%20z A%20z B%20z C%20z D%20z E%20z F%20z G%20z H%20z I%20z J%20z K%20z L%20z M%20z N%20z O%20z P%20z
                Q%20z R%20z S%20z T%20z U%20z V%20z W%20z X%20z Y%20z Z%20z [%20z \%20z ]%20z ^%20z _%20z %60%20z a%20z
                b%20z c%20z d%20z e%20z f%20z g%20z h%20z i%20z j%20z k%20z l%20z m%20z n%20z o%20z p%20z q%20z r%20z
                s%20z t%20z u%20z v%20z w%20z x%20z y%20z z%20z {%20z |%20z }%20z ~%20z
                """#
        ),
    ]
}
