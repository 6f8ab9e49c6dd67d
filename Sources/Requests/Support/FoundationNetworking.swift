// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// On Linux, URLRequest and URLSession live in a module of their own. Re-exporting it lets a file that imports
// Foundation and Requests read the same on every platform.
#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
