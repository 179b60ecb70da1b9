"""Requests that attack the page: each is made for a target, see `test_page.Target`."""

SECRET = "the-secret-of-another-folder"
LARGEST = 2**20
JOIN, UPLOAD = "/gradio_api/queue/join", "/gradio_api/upload"


def post(path, *headers, body=b'{"data": [], "fn_index": 0, "session_hash": "a"}'):
    """A POST with these headers."""
    kind = ("Content-Type: application/json",)
    return lambda target: target.request("POST", path, *kind, *headers, body=body)


def get(path, *headers, host=None, **rest):
    """A GET; {port}, {secret} and {folder} in it are the target's."""

    def build(target):
        names = {"port": target.port, "secret": target.secret, "folder": target.folder}
        own = None if host is None else host.format(**names)
        lines = [line.format(**names) for line in headers]
        return target.request("GET", path.format(**names), *lines, host=own, **rest)

    return build


def form(filename, content=b"a,b\n1,2\n", fields=1, boundary="xx"):
    """An upload."""
    place = f'Content-Disposition: form-data; name="files"; filename="{filename}"'
    part = f"--{boundary}\r\n{place}\r\n\r\n".encode() + content
    body = b"\r\n".join([part] * fields) + f"\r\n--{boundary}--\r\n".encode()
    kind = f"Content-Type: multipart/form-data; boundary={boundary}"
    return lambda target: target.request("POST", UPLOAD, kind, body=body)


REBINDING = {
    f"host {host or 'empty'}": (get("/config", host=host), {400})
    for host in (
        *("evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}"),
        *("localhost.evil.example", "0.0.0.0:{port}", "169.254.169.254", "[::ffff:127.0.0.2]"),
        *("127.0.0.1@evil.example", "evil.example/127.0.0.1", "localhost:{port}:80", "LOCALHOST."),
        *("127.0.0.1 evil.example", "2130706433:{port}", "127.1:{port}"),
    )
} | {
    "no host": (get("/config", host=""), {400}),
    "no host, HTTP/1.0": (get("/config", host="", version="1.0"), {400}),
    "two hosts": (get("/config", "Host: evil.example"), {400}),
    "host in the target": (get("http://evil.example/config"), {400, 404}),
    "host of a proxy": (get("/config", "X-Forwarded-Host: evil.example"), {200}),
    "address of a proxy": (get("/config", "Forwarded: host=evil.example", host="evil"), {400}),
}
REFUSED = set(range(400, 500))
NAVIGATION = ("Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: cross-site")
CROSS_ORIGIN = {
    f"{where} of {line}": (post(where, line), {403})
    for where in (JOIN, UPLOAD, "/gradio_api/reset", "/gradio_api/cancel")
    for line in (
        *("Origin: http://evil.example", "Origin: null", "Origin: http://127.0.0.1:1"),
        "Sec-Fetch-Site: cross-site",
    )
} | {
    "another port": (post(JOIN, "Sec-Fetch-Site: same-site"), {403}),
    "origin with our name": (post(JOIN, "Origin: http://127.0.0.1.evil.example"), {403}),
    "two origins": (post(JOIN, "Origin: http://127.0.0.1", "Origin: http://evil.example"), {403}),
    "preflight": (
        lambda target: target.request(
            "OPTIONS", JOIN, "Origin: http://evil.example", "Access-Control-Request-Method: POST"
        ),
        {403},
    ),
    "script": (get("/config", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"), {403}),
    "frame": (get("/", *NAVIGATION, "Sec-Fetch-Dest: iframe"), {403}),
    "link to a file": (get("/config", *NAVIGATION, "Sec-Fetch-Dest: document"), {403}),
    "reading by CORS": (get("/config", "Origin: http://localhost:1"), {403}),
}
TRAVERSAL = {
    path: (get(path), REFUSED)
    for path in (
        *("/gradio_api/file=/etc/passwd", "/gradio_api/file=../../../../../../etc/passwd"),
        *("/gradio_api/file=%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/file=/etc/passwd"),
        *("/gradio_api/file={secret}", "/gradio_api/file/{secret}", "/gradio_api/file=//{secret}"),
        *("/gradio_api/file={folder}/../../{secret}", "/gradio_api/file={folder}"),
        *("/gradio_api/file=file://{secret}", "/gradio_api/file=http://127.0.0.1:{port}/config"),
        *("/static/../../../../../../../etc/passwd", "/static/..%2f..%2f..%2f..%2fetc%2fpasswd"),
        *("/assets/..%5c..%5c..%5c..%5cetc%5cpasswd", "/svelte/%2e%2e/%2e%2e/%2e%2e/etc/passwd"),
        *("/gradio_api/proxy=http://127.0.0.1:{port}/config", "/gradio_api/proxy=file://{secret}"),
        "/gradio_api/proxy=https://evil-space.hf.space/x",
        "/gradio_api/custom_component/../../../client/x/../../../../../../etc/passwd",
        *("/gradio_api/stream/a/../b/playlist.m3u8", "/gradio_api/vibe-code/", "/monitoring"),
        *("/docs", "/openapi.json", "/%00", "/static/%00"),
    )
}
OTHER = {
    "a run by name": (post("/gradio_api/run/ask"), REFUSED),
    "a call by name": (post("/gradio_api/call/ask"), REFUSED),
    "a run by number": (post("/gradio_api/run/predict"), REFUSED),
    "a component's function": (
        post(
            "/gradio_api/component_server",
            body=b'{"session_hash":"a","component_id":1,"fn_name":"__init__","data":[]}',
        ),
        REFUSED,
    ),
    "an edit of the program": (post("/gradio_api/vibe-edit/", body=b'{"prompt":"x"}'), REFUSED),
    "a recording": (post("/gradio_api/process_recording"), REFUSED),
    "an origin that is not an address": (get("/config", "Origin: http://["), {403}),
    "a negative number of a function": (post(JOIN, body=b'{"data":[],"fn_index":-1}'), {400}),
    "a function of a visitor": (
        post(JOIN, body=b'{"data":[],"fn_index":-1,"session_hash":"a"}'),
        {400},
    ),
    "no function": (post(JOIN, body=b'{"data":[],"fn_index":99999}'), REFUSED),
    "no JSON": (post(JOIN, body=b"{"), REFUSED),
    "deep JSON": (post(JOIN, body=b"[" * 200_000), REFUSED),
    "a large form": (post(JOIN, body=b" " * (17 * 2**20)), {413}),
    "ten gigabytes": (post(UPLOAD, "Content-Length: 10000000000", body=b"x"), {413}),
    "a large upload": (form("a.csv", bytes(LARGEST + 2**17)), {413}),
    "a negative length": (post(JOIN, "Content-Length: -1"), {400}),
    "two lengths": (post(JOIN, "Content-Length: 3", "Content-Length: 4"), {400}),
    "smuggling": (
        lambda target: target.request(
            "POST", JOIN, "Content-Length: 4", "Transfer-Encoding: chunked, identity", body=b"0\r\n"
        ),
        {400, 501},
    ),
    "a chunk that is none": (
        lambda target: target.request(
            "POST", JOIN, "Transfer-Encoding: chunked", body=b"zz\r\n\r\n"
        ),
        {400},
    ),
    "long headers": (get("/", "X: " + "x" * 10**7), {400, 431}),
    "a long address": (get("/" + "x" * 10**7), {400, 414}),
    "a line break in a header": (get("/", "X: a\nOrigin: http://evil.example"), {400, 403}),
    "no HTTP": (lambda target: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" + b"\r\n\r\n", {400}),
    "TRACE": (lambda target: target.request("TRACE", "/"), REFUSED),
    "CONNECT": (lambda target: target.request("CONNECT", "evil.example:443"), REFUSED),
    "a form without an end": (
        post(UPLOAD, "Content-Type: multipart/form-data", body=b"--x"),
        REFUSED,
    ),
    "many files": (form("a.csv", fields=1001), REFUSED),
}
ATTACKS = {**REBINDING, **CROSS_ORIGIN, **TRAVERSAL, **OTHER}


def forged_events():
    """Yields path and body of requests that the page does not send."""
    paths = (JOIN, *(f"/gradio_api/{path}" for path in ("run/predict", "api/predict", "run/ask")))
    paths += tuple(f"/gradio_api/{path}" for path in ("call/ask", "call/v2/ask", "cancel", "reset"))
    paths += ("/gradio_api/component_server", "/gradio_api/stream/a", "/gradio_api/stream/a/close")
    numbers = (0, 3, -1, 10**6, 2**70, 1.5, "0", None, [], {"a": 1}, True)
    own = {"session_hash": "a", "event_id": "b", "trigger_id": 1, "simple_format": True}
    for path in paths:
        for number in numbers:
            yield path, {"data": [], "fn_index": number} | own
            yield path, {"data": [None] * 9, "fn_index": number, "session_hash": None}
        for data in (None, 3, "x", {}, [[]], [{"path": "/etc/passwd"}], [3] * 1000):
            yield path, {"data": data, "fn_index": 0, "session_hash": "a"}
            yield path, {"data": data, "fn_index": 5, "event_data": data}
        for body in ([], 3, None, "x", {}, {"session_hash": ["a"]}, {"component_id": "x"}):
            yield path, body
