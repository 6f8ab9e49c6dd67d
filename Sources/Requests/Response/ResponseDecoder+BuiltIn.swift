// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ResponseDecoder where Value == Void {
    /// Ignores the content.
    public static var none: ResponseDecoder { ResponseDecoder { _ in } }
}

extension ResponseDecoder where Value == Data {
    /// Leaves the content as it is.
    public static var data: ResponseDecoder { ResponseDecoder { $0.body } }
}

extension ResponseDecoder where Value == HTTPResponse<Data> {
    /// Gives the whole response.
    public static var response: ResponseDecoder { ResponseDecoder { $0 } }
}

extension ResponseDecoder where Value == String {
    /// Text in the charset that the response names, or else in UTF-8.
    ///
    /// Content that isn't text in that charset is an error of code `decoding`; so is a charset that the platform
    /// doesn't know.
    public static var text: ResponseDecoder { ResponseDecoder { try $0.text() } }

    /// Text in an encoding, whatever the response says.
    public static func text(encoding: String.Encoding) -> ResponseDecoder {
        ResponseDecoder { try $0.text(encoding: encoding) }
    }
}

extension ResponseDecoder where Value == JSONValue {
    /// JSON of any shape.
    public static var jsonObject: ResponseDecoder {
        ResponseDecoder(accepting: [.json]) { try $0.jsonDecoder.decode(JSONValue.self, from: $0) }
    }
}

extension ResponseDecoder where Value: Decodable {
    /// JSON, decoded by the decoder of the environment.
    ///
    /// Empty content is an error of code `emptyResponse`, unless the value is an optional, which it makes nil.
    public static var json: ResponseDecoder { json() }

    /// JSON, decoded by the decoder of the environment.
    public static func json(_ type: Value.Type = Value.self) -> ResponseDecoder {
        ResponseDecoder(accepting: [.json]) { try $0.jsonDecoder.decode(type, from: $0) }
    }

    /// JSON, decoded by a decoder of your own.
    ///
    /// - Parameters:
    ///   - type: What it decodes to; known from the context, where there is one.
    ///   - decoder: Makes the decoder, for each response one.
    /// - Returns: The decoder.
    public static func json(
        _ type: Value.Type = Value.self,
        decoder: @autoclosure @escaping @Sendable () -> JSONDecoder
    ) -> ResponseDecoder {
        ResponseDecoder(accepting: [.json]) { try decoder().decode(type, from: $0) }
    }

    /// JSON; the same as `json(_:)`, spelled for the side that encodes.
    public static func json(encoded type: Value.Type) -> ResponseDecoder {
        json(type)
    }

    /// JSON; the same as `json(_:decoder:)`, spelled for the side that encodes.
    public static func json(
        encoded type: Value.Type,
        decoder: @autoclosure @escaping @Sendable () -> JSONDecoder
    ) -> ResponseDecoder {
        json(type, decoder: decoder())
    }

    /// The part of a JSON document that stands at a path of keys, such as `data.user`, decoded by the decoder of the
    /// environment.
    ///
    /// - Parameters:
    ///   - type: What it decodes to; known from the context, where there is one.
    ///   - keyPath: The keys from the outside in, separated by dots; a number is an index into an array.
    /// - Returns: The decoder.
    public static func json(_ type: Value.Type = Value.self, atKeyPath keyPath: String) -> ResponseDecoder {
        json(at: keyPath) { $0.jsonDecoder }
    }

    /// The part of a JSON document that stands at a path of keys, decoded by a decoder of your own.
    ///
    /// - Parameters:
    ///   - type: What it decodes to; known from the context, where there is one.
    ///   - keyPath: The keys from the outside in, separated by dots; a number is an index into an array.
    ///   - decoder: Makes the decoder, for each response one.
    /// - Returns: The decoder.
    public static func json(
        _ type: Value.Type = Value.self,
        atKeyPath keyPath: String,
        decoder: @autoclosure @escaping @Sendable () -> JSONDecoder
    ) -> ResponseDecoder {
        json(at: keyPath) { _ in decoder() }
    }

    private static func json(
        at keyPath: String,
        _ makeDecoder: @escaping @Sendable (HTTPResponse<Data>) -> JSONDecoder
    ) -> ResponseDecoder {
        ResponseDecoder(accepting: [.json]) { response in
            let decoder = makeDecoder(response)
            NestedPath.set(keyPath.split(separator: ".").map(String.init), of: decoder)
            return try decoder.decode(NestedValue<Value>.self, from: response).value
        }
    }
}

extension ResponseDecoder where Value: HTTPDecodableResponse {
    /// The way that the value decodes itself.
    public static var custom: ResponseDecoder { ResponseDecoder { try Value.decode($0) } }
}
