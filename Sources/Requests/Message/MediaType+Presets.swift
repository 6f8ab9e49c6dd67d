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
    /// JSON (RFC 8259).
    public static let json = MediaType("application", "json")
    /// Problem details in JSON (RFC 9457).
    public static let problemJSON = MediaType("application", "problem+json")
    /// JSON texts, one a line.
    public static let ndjson = MediaType("application", "x-ndjson")
    /// A property list, in XML or in its binary form.
    public static let propertyList = MediaType("application", "x-plist")
    /// XML (RFC 7303).
    public static let xml = MediaType("application", "xml")
    /// The fields of a form, encoded like a query.
    public static let urlEncodedForm = MediaType("application", "x-www-form-urlencoded")
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
    /// An image in GIF.
    public static let gif = MediaType("image", "gif")
    /// An image in PNG.
    public static let png = MediaType("image", "png")
    /// An image in JPEG.
    public static let jpeg = MediaType("image", "jpeg")
    /// A drawing in SVG.
    public static let svg = MediaType("image", "svg+xml")
    /// Sound in MP3 (RFC 3003).
    public static let mp3 = MediaType("audio", "mpeg")

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
        "json": .json, "geojson": "application/geo+json", "ndjson": .ndjson, "jsonl": .ndjson, "xml": .xml,
        "xhtml": "application/xhtml+xml", "yaml": "application/yaml", "yml": "application/yaml", "txt": .plainText,
        "text": .plainText, "log": .plainText, "html": .html, "htm": .html, "css": .css, "csv": .csv,
        "tsv": "text/tab-separated-values", "js": "text/javascript", "mjs": "text/javascript", "md": "text/markdown",
        "ics": "text/calendar", "vcf": "text/vcard", "rtf": "application/rtf", "wasm": "application/wasm", "pdf": .pdf,
        "epub": "application/epub+zip", "zip": .zip, "gz": .gzip, "tgz": .gzip, "tar": "application/x-tar",
        "7z": "application/x-7z-compressed", "zst": "application/zstd", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "gif": .gif, "png": .png,
        "jpg": .jpeg, "jpeg": .jpeg, "webp": "image/webp", "avif": "image/avif", "heic": "image/heic",
        "heif": "image/heif", "svg": .svg, "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff",
        "ico": "image/vnd.microsoft.icon", "aac": "audio/aac", "mp3": .mp3, "m4a": "audio/mp4", "ogg": "audio/ogg",
        "opus": "audio/opus", "flac": "audio/flac", "wav": "audio/wav", "mp4": "video/mp4", "m4v": "video/mp4",
        "mpeg": "video/mpeg", "mov": "video/quicktime", "webm": "video/webm", "avi": "video/x-msvideo",
        "mkv": "video/matroska", "otf": "font/otf", "ttf": "font/ttf", "woff": "font/woff", "woff2": "font/woff2",
    ]
}
