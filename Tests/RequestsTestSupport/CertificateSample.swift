// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Certificates that OpenSSL made, and its output about their keys.
package struct CertificateSample: Sendable {
    package let pem: String
    /// Of `openssl x509 -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`.
    package let pin: String

    package static let all = [rsa, ec, ed25519]

    package static let rsa = CertificateSample(
        pem: """
            -----BEGIN CERTIFICATE-----
            MIIDDTCCAfWgAwIBAgIURQR8I4tIoNayYuvHsJxIRkXfHfcwDQYJKoZIhvcNAQEL
            BQAwFjEUMBIGA1UEAwwLcnNhLmV4YW1wbGUwHhcNMjYxMTIxMTAzMzI3WhcNMzYx
            MTE4MTAzMzI3WjAWMRQwEgYDVQQDDAtyc2EuZXhhbXBsZTCCASIwDQYJKoZIhvcN
            AQEBBQADggEPADCCAQoCggEBAL46wqYt967Cxk9iVzIyjJoOsPWWlFPbfZX050MM
            Y+6l8nubCoCE2J+S473xnSgPNDMuTecjVEyRjm8aRbbdkUZ0c2nVkP/nh4F49gvW
            gkaJtu2qvyCxaVy2y+/Nuy1BGPm65WezX2Jwm0XTsVuWGw/KHkLv0YAHW8sStZjL
            HhT9wJ7RBwlWGf3obq+CVs2Ujfu4hXw09HtVt67QW9ljXfohVs69sWg1kTPu/2C1
            mrmdBvh3t8U2mBQcWhXmmX/TaaVodY+xxhbJvdaRK1t2BK3RxvV5jXJt5V96Z49E
            R8c/V6rhOvPvrchXXeV2nf5yUk52AF/OMBndh7DjRrkDxRECAwEAAaNTMFEwHQYD
            VR0OBBYEFOUtCK0mKhTwFjfpe7lXaoApZiF8MB8GA1UdIwQYMBaAFOUtCK0mKhTw
            Fjfpe7lXaoApZiF8MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADggEB
            AFMgVTZ2jxJYxeufOOyotOyUhX4IfBgsUCkF4LUl3BsSllqOFawX7nkiO+/rYIWR
            LKcwlbYgaY4RQKLpHx7wvYXEQ2qRI2tgeu9rNf3oevDP/mj7BIoAGZ+r1/9vqQ0J
            N9pPjO2fDoKAUlQOgtWk+9GiiX1ZSeigmgYgQUhuCuBKw0oVF8LYM6MuABk185IG
            UOdfqd19xo3Q6LZ0iuBXBg8zUPKWL+fkStGciOJAfBrvCnuqgOdBF9kmEPkeMHKN
            YYMggI3NsXvm6dc3us8LVs14kxYyRvrIXe9VRedS3bM1KXkrtaN5mqMvROddn4dj
            qJkrfXj/q1xr2X75AjZQI+U=
            -----END CERTIFICATE-----

            """,
        pin: "sha256/jbAAyRLF2B2p4PnXarvClfh2gq7GJSXDUdw054nERpY="
    )
    package static let ec = CertificateSample(
        pem: """
            -----BEGIN CERTIFICATE-----
            MIIBfzCCASWgAwIBAgIUIr0AcPe7v0c5hsz2wwSEhoByXkAwCgYIKoZIzj0EAwIw
            FTETMBEGA1UEAwwKZWMuZXhhbXBsZTAeFw0yNjExMjExMDMzMjdaFw0zNjExMTgx
            MDMzMjdaMBUxEzARBgNVBAMMCmVjLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjO
            PQMBBwNCAATGJ/72cVBZtevMBdv/azuCro3I6Q/qSrdE/gBvehwFmNGCP5ZGGfF5
            gtzSpVfArQwxAJkzQCsD2XG//tS14A+Go1MwUTAdBgNVHQ4EFgQU1XrBznh1iVNb
            fLz0HWQqwzZkVDkwHwYDVR0jBBgwFoAU1XrBznh1iVNbfLz0HWQqwzZkVDkwDwYD
            VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiB3KCsIVExXPslYksWBjNMj
            gMEcH4NQkJZa6SbvfDo+AgIhALf6/sNBSSUJOVUZrntHHMliWtD9EF3nZS1s/VY1
            806v
            -----END CERTIFICATE-----

            """,
        pin: "sha256/dRu8nTsKdrwle6OqtPDs9ALsgOEgtSfZR5mpuSq5U8I="
    )
    package static let ed25519 = CertificateSample(
        pem: """
            -----BEGIN CERTIFICATE-----
            MIIBPjCB8aADAgECAhReUgBx7mltrzdeXJJCXgh/p8TuVTAFBgMrZXAwFTETMBEG
            A1UEAwwKZWQuZXhhbXBsZTAeFw0yNjExMjExMDMzMjdaFw0zNjExMTgxMDMzMjda
            MBUxEzARBgNVBAMMCmVkLmV4YW1wbGUwKjAFBgMrZXADIQDa/2GPoCotBn7Rc9aU
            0zsfb+sYP/QS83sn8Yk6o5oPwKNTMFEwHQYDVR0OBBYEFLthpei5tss1nBlrp2Qi
            YqOvF4cWMB8GA1UdIwQYMBaAFLthpei5tss1nBlrp2QiYqOvF4cWMA8GA1UdEwEB
            /wQFMAMBAf8wBQYDK2VwA0EA9VoHTY5mEGp2TM5A4g0snA6b5O3aiMvAkwUVTgZJ
            YoUIIpwBT98p8eO3YTh/R1h+vsYgN2jegRm3vczgXSmQBw==
            -----END CERTIFICATE-----

            """,
        pin: "sha256/cWdEudXjp5RQA5skDWUJj0Nb+Pa4YR77/8uq8IZWBmc="
    )

    /// The private key of ``ec``, which isn't used anywhere.
    package static let ecKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgx1jVHA8v3D/PaQSX
        s8Qzgucxp/R5IVxS04VMXNXkwuOhRANCAATGJ/72cVBZtevMBdv/azuCro3I6Q/q
        SrdE/gBvehwFmNGCP5ZGGfF5gtzSpVfArQwxAJkzQCsD2XG//tS14A+G
        -----END PRIVATE KEY-----

        """
}
