// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The commonly used media types, without parameters.
///
/// The text types have no character set, so that they can stand in `Accept` and be compared with the type of a
/// response; `.plainText.charset("utf-8")` sets one.
extension MediaType {
    /// Every type: a range, for `Accept`.
    public static let any = MediaType("*", "*")
    /// Every text: a range, for `Accept`.
    public static let anyText = MediaType("text", "*")
    /// Every image: a range, for `Accept`.
    public static let anyImage = MediaType("image", "*")
    /// Every sound: a range, for `Accept`.
    public static let anyAudio = MediaType("audio", "*")
    /// Every moving picture: a range, for `Accept`.
    public static let anyVideo = MediaType("video", "*")
    /// JSON (RFC 8259), which is UTF-8 and has no character set to name.
    public static let json = MediaType("application", "json")
    /// Linked data in JSON.
    public static let jsonLD = MediaType("application", "ld+json")
    /// JSON in the form of jsonapi.org.
    public static let jsonAPI = MediaType("application", "vnd.api+json")
    /// JSON with links (HAL).
    public static let halJSON = MediaType("application", "hal+json")
    /// Places on the earth in JSON (RFC 7946).
    public static let geoJSON = MediaType("application", "geo+json")
    /// Changes of a JSON document, one after another (RFC 6902).
    public static let jsonPatch = MediaType("application", "json-patch+json")
    /// Changes of a JSON document, as a document with what changes (RFC 7396).
    public static let mergePatchJSON = MediaType("application", "merge-patch+json")
    /// Problem details in JSON (RFC 9457).
    public static let problemJSON = MediaType("application", "problem+json")
    /// Problem details in XML (RFC 9457).
    public static let problemXML = MediaType("application", "problem+xml")
    /// JSON texts one after another (RFC 7464).
    public static let jsonSequence = MediaType("application", "json-seq")
    /// JSON texts, one a line.
    public static let ndjson = MediaType("application", "x-ndjson")
    /// The answer of a GraphQL service.
    public static let graphQLResponse = MediaType("application", "graphql-response+json")
    /// The manifest of a web application.
    public static let manifestJSON = MediaType("application", "manifest+json")
    /// A property list, in XML or in its binary form.
    public static let propertyList = MediaType("application", "x-plist")
    /// XML (RFC 7303).
    public static let xml = MediaType("application", "xml")
    /// A feed in Atom (RFC 4287).
    public static let atom = MediaType("application", "atom+xml")
    /// A feed in RSS.
    public static let rss = MediaType("application", "rss+xml")
    /// A SOAP message (RFC 3902).
    public static let soap = MediaType("application", "soap+xml")
    /// HTML written as XML.
    public static let xhtml = MediaType("application", "xhtml+xml")
    /// YAML (RFC 9512).
    public static let yaml = MediaType("application", "yaml")
    /// CBOR (RFC 8949).
    public static let cbor = MediaType("application", "cbor")
    /// MessagePack.
    public static let messagePack = MediaType("application", "vnd.msgpack")
    /// Protocol Buffers.
    public static let protobuf = MediaType("application", "protobuf")
    /// The fields of a form, encoded like a query.
    public static let formURLEncoded = MediaType("application", "x-www-form-urlencoded")
    /// The fields and files of a form, without the boundary (RFC 7578).
    public static let multipartFormData = MediaType("multipart", "form-data")
    /// Parts of any kind (RFC 2046).
    public static let multipartMixed = MediaType("multipart", "mixed")
    /// Parts that belong together (RFC 2387).
    public static let multipartRelated = MediaType("multipart", "related")
    /// Several parts of one representation (RFC 9110, 14.6).
    public static let multipartByteRanges = MediaType("multipart", "byteranges")
    /// Text; ``charset(_:)`` names its character set.
    public static let plainText = MediaType("text", "plain")
    /// HTML.
    public static let html = MediaType("text", "html")
    /// A style sheet.
    public static let css = MediaType("text", "css")
    /// Rows of values with commas between (RFC 4180).
    public static let csv = MediaType("text", "csv")
    /// Rows of values with tabs between.
    public static let tabSeparated = MediaType("text", "tab-separated-values")
    /// JavaScript (RFC 9239).
    public static let javascript = MediaType("text", "javascript")
    /// Markdown (RFC 7763).
    public static let markdown = MediaType("text", "markdown")
    /// Events of a calendar (RFC 5545).
    public static let calendar = MediaType("text", "calendar")
    /// A card with an address (RFC 6350).
    public static let vCard = MediaType("text", "vcard")
    /// Text with formats.
    public static let richText = MediaType("application", "rtf")
    /// Events that a server sends while the response goes on.
    public static let eventStream = MediaType("text", "event-stream")
    /// Bytes of which nothing is known.
    public static let octetStream = MediaType("application", "octet-stream")
    /// WebAssembly.
    public static let wasm = MediaType("application", "wasm")
    /// A database of SQLite.
    public static let sqlite = MediaType("application", "vnd.sqlite3")
    /// PDF (RFC 8118).
    public static let pdf = MediaType("application", "pdf")
    /// An electronic book.
    public static let epub = MediaType("application", "epub+zip")
    /// A Zip archive.
    public static let zip = MediaType("application", "zip")
    /// A file in gzip (RFC 6713).
    public static let gzip = MediaType("application", "gzip")
    /// A tar archive.
    public static let tar = MediaType("application", "x-tar")
    /// A file in bzip2.
    public static let bzip2 = MediaType("application", "x-bzip2")
    /// A 7-Zip archive.
    public static let sevenZip = MediaType("application", "x-7z-compressed")
    /// A file in Zstandard (RFC 8878).
    public static let zstd = MediaType("application", "zstd")
    /// A text of Word, before 2007.
    public static let doc = MediaType("application", "msword")
    /// A text of Word.
    public static let docx = MediaType("application", "vnd.openxmlformats-officedocument.wordprocessingml.document")
    /// A table of Excel, before 2007.
    public static let xls = MediaType("application", "vnd.ms-excel")
    /// A table of Excel.
    public static let xlsx = MediaType("application", "vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    /// Slides of PowerPoint, before 2007.
    public static let ppt = MediaType("application", "vnd.ms-powerpoint")
    /// Slides of PowerPoint.
    public static let pptx = MediaType("application", "vnd.openxmlformats-officedocument.presentationml.presentation")
    /// A text of OpenDocument.
    public static let odt = MediaType("application", "vnd.oasis.opendocument.text")
    /// A table of OpenDocument.
    public static let ods = MediaType("application", "vnd.oasis.opendocument.spreadsheet")
    /// Slides of OpenDocument.
    public static let odp = MediaType("application", "vnd.oasis.opendocument.presentation")
    /// An image in GIF.
    public static let gif = MediaType("image", "gif")
    /// An image in PNG.
    public static let png = MediaType("image", "png")
    /// An image in JPEG.
    public static let jpeg = MediaType("image", "jpeg")
    /// An image in WebP (RFC 9649).
    public static let webp = MediaType("image", "webp")
    /// An image in AVIF.
    public static let avif = MediaType("image", "avif")
    /// An image in HEIC.
    public static let heic = MediaType("image", "heic")
    /// An image in HEIF.
    public static let heif = MediaType("image", "heif")
    /// A drawing in SVG.
    public static let svg = MediaType("image", "svg+xml")
    /// An image in BMP (RFC 7903).
    public static let bmp = MediaType("image", "bmp")
    /// An image in TIFF (RFC 3302).
    public static let tiff = MediaType("image", "tiff")
    /// An icon.
    public static let ico = MediaType("image", "vnd.microsoft.icon")
    /// Sound in AAC.
    public static let aac = MediaType("audio", "aac")
    /// Sound in MP3 (RFC 3003).
    public static let mp3 = MediaType("audio", "mpeg")
    /// Sound in MP4 (RFC 4337).
    public static let mp4Audio = MediaType("audio", "mp4")
    /// Sound in Ogg (RFC 5334).
    public static let oggAudio = MediaType("audio", "ogg")
    /// Sound in Opus (RFC 7587).
    public static let opus = MediaType("audio", "opus")
    /// Sound in FLAC (RFC 9639).
    public static let flac = MediaType("audio", "flac")
    /// Sound in WAV.
    public static let wav = MediaType("audio", "wav")
    /// Music in MIDI.
    public static let midi = MediaType("audio", "midi")
    /// Sound in WebM.
    public static let webmAudio = MediaType("audio", "webm")
    /// A film in MP4 (RFC 4337).
    public static let mp4 = MediaType("video", "mp4")
    /// A film in MPEG.
    public static let mpeg = MediaType("video", "mpeg")
    /// A film in Ogg (RFC 5334).
    public static let oggVideo = MediaType("video", "ogg")
    /// A film in QuickTime.
    public static let quickTime = MediaType("video", "quicktime")
    /// A film in WebM.
    public static let webm = MediaType("video", "webm")
    /// A film in AVI.
    public static let avi = MediaType("video", "x-msvideo")
    /// A film in Matroska (RFC 9559).
    public static let matroska = MediaType("video", "matroska")
    /// A stream of MPEG.
    public static let mpegTransportStream = MediaType("video", "mp2t")
    /// A playlist of HTTP Live Streaming (RFC 8216).
    public static let hls = MediaType("application", "vnd.apple.mpegurl")
    /// A manifest of MPEG-DASH.
    public static let dash = MediaType("application", "dash+xml")
    /// A font in OpenType (RFC 8081).
    public static let otf = MediaType("font", "otf")
    /// A font in TrueType (RFC 8081).
    public static let ttf = MediaType("font", "ttf")
    /// A font in WOFF (RFC 8081).
    public static let woff = MediaType("font", "woff")
    /// A font in WOFF 2 (RFC 8081).
    public static let woff2 = MediaType("font", "woff2")

    /// The fields of a form, encoded like a query; another name of ``formURLEncoded``.
    public static let urlEncodedForm = formURLEncoded
    /// Bytes of which nothing is known; another name of ``octetStream``.
    public static let binary = octetStream

    /// The fields and files of a form, with the boundary between its parts (RFC 7578).
    public static func formData(boundary: String) -> MediaType {
        multipartFormData.parameter("boundary", boundary)
    }
}

// MARK: - File extension

extension MediaType {
    /// The media type of files with an extension, or `nil` if it isn't an everyday one.
    ///
    /// The table is part of the library, and the same on every platform: the type of a file doesn't depend on installed
    /// software.
    ///
    /// - Parameter fileExtension: The text behind the last dot of the name, in either case: `jpg`.
    public init?(fileExtension: String) {
        guard let type = Self.byFileExtension[fileExtension.lowercasedASCII] else { return nil }
        self = type
    }

    private static let byFileExtension: [String: MediaType] = [
        "json": .json, "map": .json,
        "jsonld": .jsonLD,
        "geojson": .geoJSON,
        "ndjson": .ndjson, "jsonl": .ndjson,
        "webmanifest": .manifestJSON,
        "xml": .xml, "xsd": .xml, "xsl": .xml,
        "atom": .atom,
        "rss": .rss,
        "xhtml": .xhtml, "xht": .xhtml,
        "yaml": .yaml, "yml": .yaml,
        "cbor": .cbor,
        "msgpack": .messagePack,
        "txt": .plainText, "text": .plainText, "log": .plainText, "ini": .plainText, "conf": .plainText,
        "html": .html, "htm": .html,
        "css": .css,
        "csv": .csv,
        "tsv": .tabSeparated, "tab": .tabSeparated,
        "js": .javascript, "mjs": .javascript, "cjs": .javascript,
        "md": .markdown, "markdown": .markdown,
        "ics": .calendar,
        "vcf": .vCard,
        "rtf": .richText,
        "bin": .octetStream, "dat": .octetStream, "exe": .octetStream, "dmg": .octetStream, "iso": .octetStream,
        "img": .octetStream,
        "wasm": .wasm,
        "sqlite": .sqlite, "sqlite3": .sqlite, "db": .sqlite,
        "pdf": .pdf,
        "epub": .epub,
        "zip": .zip,
        "gz": .gzip, "gzip": .gzip, "tgz": .gzip,
        "tar": .tar,
        "bz2": .bzip2,
        "7z": .sevenZip,
        "zst": .zstd,
        "doc": .doc,
        "docx": .docx,
        "xls": .xls,
        "xlsx": .xlsx,
        "ppt": .ppt,
        "pptx": .pptx,
        "odt": .odt,
        "ods": .ods,
        "odp": .odp,
        "gif": .gif,
        "png": .png,
        "jpg": .jpeg, "jpeg": .jpeg, "jpe": .jpeg,
        "webp": .webp,
        "avif": .avif,
        "heic": .heic,
        "heif": .heif,
        "svg": .svg,
        "bmp": .bmp,
        "tif": .tiff, "tiff": .tiff,
        "ico": .ico,
        "aac": .aac,
        "mp3": .mp3,
        "m4a": .mp4Audio,
        "ogg": .oggAudio, "oga": .oggAudio,
        "opus": .opus,
        "flac": .flac,
        "wav": .wav,
        "mid": .midi, "midi": .midi,
        "weba": .webmAudio,
        "mp4": .mp4, "m4v": .mp4,
        "mpg": .mpeg, "mpeg": .mpeg,
        "ogv": .oggVideo,
        "mov": .quickTime, "qt": .quickTime,
        "webm": .webm,
        "avi": .avi,
        "mkv": .matroska,
        "ts": .mpegTransportStream,
        "m3u8": .hls,
        "mpd": .dash,
        "otf": .otf,
        "ttf": .ttf,
        "woff": .woff,
        "woff2": .woff2,
    ]
}
