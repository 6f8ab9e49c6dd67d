"""The certificates and servers of the interop tests; `Scripts/interop --help` has a table of them."""

import contextlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


class Failure(Exception):
    """A message for the user, and the log that explains it."""

    def __init__(self, message, log=None):
        text = log.read_text(errors="replace") if log and log.exists() else ""
        super().__init__("\n".join([message, text]).strip())


class Servers(contextlib.ExitStack):
    """A temporary folder with certificates, and the processes that use it. All of it is gone when the block ends.

    `environment` has the variables that the tests read, `left_out` the reasons why some of them are missing.
    """

    def __init__(self):
        super().__init__()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="requests-interop-"))
        self.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.ports = {}
        self.environment = {"no_proxy": "*"}  # the tests set their proxies themselves
        self.left_out = []

    # MARK: Processes

    def run(self, *command, **options):
        """Runs a command to its end, and returns its output."""
        result = subprocess.run(command, capture_output=True, text=True, **options)
        if result.returncode != 0:
            raise Failure(f"{command[0]} {command[1]} failed:\n{result.stdout}{result.stderr}")
        return result.stdout

    def start(self, name, *command, **options):
        """Starts a process that ends with the block; its output goes to the file `name`.out."""
        with open(self.folder / f"{name}.out", "wb") as output:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, **options
            )
        self.callback(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        process.stdin.close()
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def announced(self, name, process, pattern):
        """Returns what a process has printed that matches a pattern: the first group of it."""
        log = self.folder / f"{name}.out"
        for _ in range(200):
            if match := re.search(pattern, log.read_text(errors="replace"), re.MULTILINE):
                return match.group(1)
            if process.poll() is not None:
                break
            time.sleep(0.05)
        raise Failure(f"{name} doesn't start", log)

    # MARK: Certificates

    def key(self, name):
        self.run("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.folder / f"{name}.key")

    def certificate(self, name, subject, *, issuer=None, days=30, extensions=""):
        """Makes `name`.key and `name`.pem, signed by an issuer, or by itself."""
        self.key(name)
        path = self.folder / name
        if issuer is None:
            self.run(
                "openssl", "req", "-x509", "-new", "-key", f"{path}.key", "-out", f"{path}.pem", "-days", str(days),
                "-subj", f"/CN={subject}", *(["-addext", extensions] if extensions else [])
            )
            return
        pathlib.Path(f"{path}.ext").write_text(extensions)
        self.run("openssl", "req", "-new", "-key", f"{path}.key", "-subj", f"/CN={subject}", "-out", f"{path}.csr")
        self.run(
            "openssl", "x509", "-req", "-in", f"{path}.csr", "-CA", self.folder / f"{issuer}.pem", "-CAkey",
            self.folder / f"{issuer}.key", "-CAcreateserial", "-days", str(days), "-extfile", f"{path}.ext",
            "-out", f"{path}.pem"
        )

    def make_certificates(self):
        here = "subjectAltName=" + ",".join(
            f"DNS:{name}" for name in ["localhost", "api.localhost", "www.localhost", "a.b.localhost"]
        ) + ",IP:127.0.0.1"
        for name in ["authority", "stranger"]:
            self.certificate(name, f"Interop {name}")
        self.certificate("own", "localhost", extensions=here)
        for name, issuer, days, extensions in [
            ("server", "authority", 30, here),
            ("elsewhere", "authority", 30, "subjectAltName=DNS:elsewhere.example"),
            ("expired", "authority", -1, here),
            ("client", "authority", 30, "extendedKeyUsage=clientAuth"),
            ("intruder", "stranger", 30, "extendedKeyUsage=clientAuth"),
        ]:
            self.certificate(name, f"interop-{name}", issuer=issuer, days=days, extensions=extensions)
        client = self.folder / "client"
        self.run(
            "openssl", "ec", "-in", f"{client}.key", "-aes256", "-passout", "pass:secret",
            "-out", f"{client}-encrypted.key"
        )
        self.run(
            "openssl", "pkcs12", "-export", "-inkey", f"{client}.key", "-in", f"{client}.pem",
            "-passout", "pass:secret", "-out", f"{client}.p12"
        )

    def make_status(self):
        """Makes the file `status`: the server's certificate is good for a day, says the authority."""
        serial = self.run("openssl", "x509", "-in", "server.pem", "-noout", "-serial", cwd=self.folder)
        expiry = time.strftime("%y%m%d%H%M%SZ", time.gmtime(time.time() + 30 * 86400))
        entry = ["V", expiry, "", serial.strip().partition("=")[2], "unknown", "/CN=interop-server"]
        (self.folder / "index.txt").write_text("\t".join(entry) + "\n")
        self.run(
            "openssl", "ocsp", "-issuer", "authority.pem", "-cert", "server.pem", "-no_nonce",
            "-reqout", "status.request", cwd=self.folder
        )
        self.run(
            "openssl", "ocsp", "-index", "index.txt", "-CA", "authority.pem", "-rsigner", "authority.pem",
            "-rkey", "authority.key", "-reqin", "status.request", "-respout", "status", "-ndays", "1", cwd=self.folder
        )

    # MARK: nginx

    def start_nginx(self):
        briefs = {f"brief{count}": count for count in [1, 2, 5, 20, 100, 1000]}
        sites = ["trusted", "elsewhere", "expired", "own", "clients", "plain", *briefs]
        with open(self.folder / "large", "wb") as large:
            large.truncate(64 << 20)

        def site(name, port):
            certificate = self.folder / (name if name in ["elsewhere", "expired", "own"] else "server")
            lines = [f"listen 127.0.0.1:{port}" + ("" if name == "plain" else " ssl http2")]
            if name != "plain":
                lines += [f"ssl_certificate {certificate}.pem", f"ssl_certificate_key {certificate}.key"]
            if name == "clients":
                lines += ["ssl_verify_client optional", f"ssl_client_certificate {self.folder}/authority.pem"]
            if name in briefs:
                lines += [f"keepalive_requests {briefs[name]}", f"access_log {self.folder}/{name}.log combined"]
            lines += [f"location = /large {{ root {self.folder}; add_header X-Connection $connection; }}"]
            facts = ["connection", "server_protocol", "ssl_client_verify", "ssl_client_s_dn", "ssl_protocol"]
            answer = "|".join(f"${fact}" for fact in [*facts, "ssl_session_reused"])
            lines += [f'location / {{ return 200 "{answer}"; }}']
            return "server { " + " ".join(line if line.endswith("}") else line + ";" for line in lines) + " }"

        temporary = " ".join(
            f"{kind}_temp_path {self.folder};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        )
        # nginx can't choose a port. A port that was free a moment ago may be taken, so it gets a second chance.
        for attempt in range(3):
            ports = dict(zip(sites, free_ports(len(sites))))
            (self.folder / "nginx.conf").write_text("\n".join([
                f"daemon off; pid {self.folder}/nginx.pid; error_log {self.folder}/nginx.log; worker_processes 1;",
                "events { worker_connections 1024; }",
                "http {",
                "access_log off; default_type text/plain; ssl_protocols TLSv1.2 TLSv1.3;",
                temporary,
                *(site(name, port) for name, port in ports.items()),
                "}",
            ]))
            nginx = self.start(
                "nginx", "nginx", "-c", self.folder / "nginx.conf", "-e", self.folder / "nginx.log"
            )
            if is_open(ports["plain"], nginx):
                self.ports.update(ports)
                return
        raise Failure("nginx doesn't start", self.folder / "nginx.out")

    # MARK: The other servers

    def start_openssl(self, name, *options):
        process = self.start(
            name, "openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", self.folder / "server.pem",
            "-key", self.folder / "server.key", *options
        )
        self.ports[name] = self.announced(name, process, r"^ACCEPT .*:(\d+)$")

    def start_openssl_servers(self):
        self.make_status()
        authority = self.folder / "authority.pem"
        asking = ["-Verify", "1", "-verify_return_error", "-CAfile", authority]
        self.start_openssl("decoy", "-tls1_3", "-cert_chain", self.folder / "stranger.pem")
        # libcurl looks for the issuer among the certificates that are sent.
        self.start_openssl("stapled", "-tls1_3", "-cert_chain", authority, "-status_file", self.folder / "status")
        self.start_openssl("tls11", "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
        self.start_openssl("tls12", "-tls1_2")
        self.start_openssl("tls13", "-tls1_3")
        self.start_openssl("asking12", "-tls1_2", *asking)
        self.start_openssl("asking13", "-tls1_3", *asking)

    def start_peer(self):
        if not importlib.util.find_spec("h2"):
            self.left_out.append("the faults of HTTP/2: Python has no package h2")
            return
        # A flood takes all the time of a process.
        for name in ["peer", "floods"]:
            process = self.start(
                name, sys.executable, HERE / "http2-peer.py", self.folder / "server.pem", self.folder / "server.key"
            )
            self.ports[name] = self.announced(name, process, r"^(\d+)$")

    def start_tls_peer(self):
        process = self.start(
            "updates", sys.executable, HERE / "tls-peer.py", self.folder / "server.pem", self.folder / "server.key"
        )
        self.ports["updates"] = self.announced("updates", process, r"^(\d+)$")

    def start_websockets(self):
        if not importlib.util.find_spec("websockets"):
            self.left_out.append("WebSockets: Python has no package websockets")
            return
        process = self.start(
            "websockets", sys.executable, HERE / "websocket-peer.py", self.folder / "server.pem",
            self.folder / "server.key"
        )
        ports = self.announced("websockets", process, r"^ready (\d+ \d+)$").split()
        self.ports["sockets"], self.ports["secureSockets"] = ports

    def start_httpbin(self):
        if not importlib.util.find_spec("httpbin"):
            self.left_out.append("the challenges of httpbin: Python has no package httpbin")
            return
        program = (
            "import httpbin, werkzeug.serving as serving\n"
            "server = serving.make_server('127.0.0.1', 0, httpbin.app, threaded=True)\n"
            "print('port', server.server_port, flush=True)\n"
            "server.serve_forever()"
        )
        process = self.start("httpbin", sys.executable, "-c", program)
        port = self.announced("httpbin", process, r"^port (\d+)$")
        self.environment["REQUESTS_INTEROP_HTTPBIN"] = f"http://127.0.0.1:{port}/"

    def start_cache_tests(self):
        suite = foreign_suite("http-tests/cache-tests", "b55b8bd")
        if not suite or not shutil.which("node"):
            self.left_out.append("the tests of caches: there is no Node, or github.com isn't reached")
            return
        tests = json.dumps((suite / "tests/index.mjs").as_uri())
        program = f"import tests from {tests}; console.log(JSON.stringify(tests))"
        (self.folder / "cache-tests.json").write_text(
            self.run("node", "--no-warnings", "--input-type=module", "-e", program, cwd=suite)
        )
        # It would listen on every interface.
        loopback = (
            "import net from 'node:net'; const listen = net.Server.prototype.listen;"
            "net.Server.prototype.listen = function (port, ...rest) {"
            " return listen.call(this, { port, host: '127.0.0.1' }, ...rest) }"
        )
        settings = {"protocol": "http", "port": "0", "pidfile": str(self.folder / "node.pid")}
        process = self.start(
            "node", "node", "--no-warnings", "--import", f"data:text/javascript,{loopback}",
            "test-engine/server/server.mjs", cwd=suite,
            env=os.environ | {f"npm_config_{name}": value for name, value in settings.items()}
        )
        self.environment["REQUESTS_INTEROP_CACHE"] = self.announced("node", process, r"^Listening on (\S+)$")

    def find_cookie_tests(self):
        if suite := foreign_suite("abarth/http-state", "155e45c"):
            self.environment["REQUESTS_INTEROP_COOKIES"] = str(suite / "tests/data")
        else:
            self.left_out.append("the tests of cookies: github.com isn't reached")

    def mount_volume(self):
        volume = self.folder / "volume"
        volume.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", volume]
        if subprocess.run(mount, stderr=subprocess.DEVNULL).returncode != 0:
            self.left_out.append("the full disk: nothing may be mounted")
            return
        self.callback(subprocess.run, ["umount", volume], check=True)
        self.environment["REQUESTS_INTEROP_VOLUME"] = str(volume)

    def start_all(self):
        self.make_certificates()
        self.start_nginx()
        self.start_openssl_servers()
        self.start_peer()
        self.start_tls_peer()
        self.start_websockets()
        self.start_httpbin()
        self.start_cache_tests()
        self.find_cookie_tests()
        self.mount_volume()
        self.name_all()

    def name_all(self):
        self.environment["REQUESTS_INTEROP_FOLDER"] = str(self.folder)
        self.environment["REQUESTS_INTEROP_SERVERS"] = " ".join(f"{name}={port}" for name, port in self.ports.items())


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def is_open(port, process):
    """Waits until a process listens on a port; false if the process ends."""
    for _ in range(200):
        if process.poll() is not None:
            return False
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.05)
    return False


def foreign_suite(name, commit):
    """Returns the folder of a suite on GitHub at a commit, or `None` without a way to it.

    It is looked for in REQUESTS_INTEROP_SUITES, or else kept in .build/suites.
    """
    path = pathlib.Path(os.environ.get("REQUESTS_INTEROP_SUITES", ".build/suites")).resolve() / name.partition("/")[2]
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        for command in [["clone", f"https://github.com/{name}", path], ["-C", path, "checkout", commit]]:
            if subprocess.run(["git", command[0], *command[1:]], capture_output=True).returncode != 0:
                shutil.rmtree(path, ignore_errors=True)
                return None
    return path
