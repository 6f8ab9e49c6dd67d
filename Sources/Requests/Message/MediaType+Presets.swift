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
    /// JSON (RFC 8259).
    public static let json = MediaType("application", "json")
    /// Linked data in JSON.
    public static let jsonLD = MediaType("application", "ld+json")
    /// JSON in the form of jsonapi.org.
    public static let jsonAPI = MediaType("application", "vnd.api+json")
    /// GeoJSON (RFC 7946).
    public static let geoJSON = MediaType("application", "geo+json")
    /// JSON patch (RFC 6902).
    public static let jsonPatch = MediaType("application", "json-patch+json")
    /// JSON merge patch (RFC 7396).
    public static let mergePatchJSON = MediaType("application", "merge-patch+json")
    /// Problem details in JSON (RFC 9457).
    public static let problemJSON = MediaType("application", "problem+json")
    /// Problem details in XML (RFC 9457).
    public static let problemXML = MediaType("application", "problem+xml")
    /// JSON texts, one a line.
    public static let ndjson = MediaType("application", "x-ndjson")
    /// The answer of a GraphQL service.
    public static let graphQLResponse = MediaType("application", "graphql-response+json")
    /// A property list, in XML or in its binary form.
    public static let propertyList = MediaType("application", "x-plist")
    /// XML (RFC 7303).
    public static let xml = MediaType("application", "xml")
    /// A SOAP message (RFC 3902).
    public static let soap = MediaType("application", "soap+xml")
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
    /// Text; ``charset(_:)`` names its character set.
    public static let plainText = MediaType("text", "plain")
    /// HTML.
    public static let html = MediaType("text", "html")
    /// A style sheet.
    public static let css = MediaType("text", "css")
    /// Rows of values with commas between (RFC 4180).
    public static let csv = MediaType("text", "csv")
    /// JavaScript (RFC 9239).
    public static let javascript = MediaType("text", "javascript")
    /// Markdown (RFC 7763).
    public static let markdown = MediaType("text", "markdown")
    /// Server-sent events.
    public static let eventStream = MediaType("text", "event-stream")
    /// Bytes of any kind.
    public static let octetStream = MediaType("application", "octet-stream")
    /// PDF (RFC 8118).
    public static let pdf = MediaType("application", "pdf")
    /// A Zip archive.
    public static let zip = MediaType("application", "zip")
    /// A file in gzip (RFC 6713).
    public static let gzip = MediaType("application", "gzip")
    /// A tar archive.
    public static let tar = MediaType("application", "x-tar")
    /// A file in Zstandard (RFC 8878).
    public static let zstd = MediaType("application", "zstd")
    /// An image in GIF.
    public static let gif = MediaType("image", "gif")
    /// An image in PNG.
    public static let png = MediaType("image", "png")
    /// An image in JPEG.
    public static let jpeg = MediaType("image", "jpeg")
    /// An image in WebP (RFC 9649).
    public static let webp = MediaType("image", "webp")
    /// An image in HEIC.
    public static let heic = MediaType("image", "heic")
    /// A drawing in SVG.
    public static let svg = MediaType("image", "svg+xml")
    /// Sound in MP3 (RFC 3003).
    public static let mp3 = MediaType("audio", "mpeg")
    /// Sound in MP4 (RFC 4337).
    public static let mp4Audio = MediaType("audio", "mp4")
    /// A film in MP4 (RFC 4337).
    public static let mp4 = MediaType("video", "mp4")
    /// A film in QuickTime.
    public static let quickTime = MediaType("video", "quicktime")

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
        "json": .json, "map": .json, "jsonld": .jsonLD, "geojson": .geoJSON, "ndjson": .ndjson, "jsonl": .ndjson,
        "webmanifest": "application/manifest+json", "xml": .xml, "xsd": .xml, "xsl": .xml,
        "atom": "application/atom+xml", "rss": "application/rss+xml", "xhtml": "application/xhtml+xml",
        "xht": "application/xhtml+xml", "yaml": .yaml, "yml": .yaml, "cbor": .cbor, "msgpack": .messagePack,
        "txt": .plainText, "text": .plainText, "log": .plainText, "ini": .plainText, "conf": .plainText,
        "html": .html, "htm": .html, "css": .css, "csv": .csv, "tsv": "text/tab-separated-values",
        "tab": "text/tab-separated-values", "js": .javascript, "mjs": .javascript, "cjs": .javascript,
        "md": .markdown, "markdown": .markdown, "ics": "text/calendar", "vcf": "text/vcard", "rtf": "application/rtf",
        "bin": .octetStream, "dat": .octetStream, "exe": .octetStream, "dmg": .octetStream, "iso": .octetStream,
        "img": .octetStream, "wasm": "application/wasm", "sqlite": "application/vnd.sqlite3",
        "sqlite3": "application/vnd.sqlite3", "db": "application/vnd.sqlite3", "pdf": .pdf,
        "epub": "application/epub+zip", "zip": .zip, "gz": .gzip, "gzip": .gzip, "tgz": .gzip, "tar": .tar,
        "bz2": "application/x-bzip2", "7z": "application/x-7z-compressed", "zst": .zstd, "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation", "gif": .gif, "png": .png, "jpg": .jpeg,
        "jpeg": .jpeg, "jpe": .jpeg, "webp": .webp, "avif": "image/avif", "heic": .heic, "heif": "image/heif",
        "svg": .svg, "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff", "ico": "image/vnd.microsoft.icon",
        "aac": "audio/aac", "mp3": .mp3, "m4a": .mp4Audio, "ogg": "audio/ogg", "oga": "audio/ogg",
        "opus": "audio/opus", "flac": "audio/flac", "wav": "audio/wav", "mid": "audio/midi", "midi": "audio/midi",
        "weba": "audio/webm", "mp4": .mp4, "m4v": .mp4, "mpg": "video/mpeg", "mpeg": "video/mpeg", "ogv": "video/ogg",
        "mov": .quickTime, "qt": .quickTime, "webm": "video/webm", "avi": "video/x-msvideo", "mkv": "video/matroska",
        "ts": "video/mp2t", "m3u8": "application/vnd.apple.mpegurl", "mpd": "application/dash+xml", "otf": "font/otf",
        "ttf": "font/ttf", "woff": "font/woff", "woff2": "font/woff2",
    ]
}
