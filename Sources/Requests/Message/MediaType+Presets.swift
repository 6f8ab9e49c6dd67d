// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The commonly used media types, without parameters.
///
/// The text types have no character set, so that they can be used in `Accept` and compared with the type of a response.
/// Use `.plainText.charset("utf-8")` to set one.
extension MediaType {
    /// The range of all types, for `Accept`.
    public static let any = MediaType("*", "*")
    /// The range of all text types, for `Accept`.
    public static let anyText = MediaType("text", "*")
    /// JSON (RFC 8259).
    public static let json = MediaType("application", "json")
    /// Problem details in JSON (RFC 9457).
    public static let problemJSON = MediaType("application", "problem+json")
    /// JSON values, one per line (NDJSON).
    public static let ndjson = MediaType("application", "x-ndjson")
    /// A property list, in XML or binary format.
    public static let propertyList = MediaType("application", "x-plist")
    /// XML (RFC 7303).
    public static let xml = MediaType("application", "xml")
    /// The fields of a form, encoded like a query.
    public static let urlEncodedForm = MediaType("application", "x-www-form-urlencoded")
    /// The fields and files of a form, without the boundary (RFC 7578).
    public static let multipartFormData = MediaType("multipart", "form-data")
    /// Independent parts of any type (RFC 2046).
    public static let multipartMixed = MediaType("multipart", "mixed")
    /// Related parts that form one document (RFC 2387).
    public static let multipartRelated = MediaType("multipart", "related")
    /// Plain text; use ``charset(_:)`` to add its character set.
    public static let plainText = MediaType("text", "plain")
    /// HTML.
    public static let html = MediaType("text", "html")
    /// A style sheet.
    public static let css = MediaType("text", "css")
    /// Comma-separated values (RFC 4180).
    public static let csv = MediaType("text", "csv")
    /// Server-sent events.
    public static let eventStream = MediaType("text", "event-stream")
    /// Arbitrary bytes.
    public static let octetStream = MediaType("application", "octet-stream")
    /// PDF (RFC 8118).
    public static let pdf = MediaType("application", "pdf")
    /// A ZIP archive.
    public static let zip = MediaType("application", "zip")
    /// A gzip file (RFC 6713).
    public static let gzip = MediaType("application", "gzip")
    /// A GIF image.
    public static let gif = MediaType("image", "gif")
    /// A PNG image.
    public static let png = MediaType("image", "png")
    /// A JPEG image.
    public static let jpeg = MediaType("image", "jpeg")
    /// An SVG image.
    public static let svg = MediaType("image", "svg+xml")
    /// MP3 audio (RFC 3003).
    public static let mp3 = MediaType("audio", "mpeg")

    /// Bytes of unknown type; an alias of ``octetStream``.
    public static let binary = octetStream

    /// Creates the type for the fields and files of a form, with the boundary between its parts (RFC 7578).
    public static func formData(boundary: String) -> MediaType {
        multipartFormData.parameter("boundary", boundary)
    }
}

// MARK: - File extension

extension MediaType {
    /// Creates the media type for a file extension; `nil` if the extension isn't a common one.
    ///
    /// The table is built in and the same on every platform, so the result doesn't depend on installed software.
    ///
    /// - Parameter fileExtension: The characters after the last dot of the name, such as `jpg`, in any case.
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
