"""A visitor of the page without a browser: raw HTTP, and the events that its buttons send."""

import http.client
import json
import uuid

TIMEOUT = 240  # seconds, for machines on which others compute


class Visitor:
    """One visit to the page; `session` is its identifier."""

    def __init__(self, port: int):
        self.port, self.session = port, uuid.uuid4().hex
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        config = json.loads(self.get("/config"))
        elements = {each["id"]: each["props"].get("elem_id") for each in config["components"]}
        # An element may have further events, which clear other ones; they have no inputs.
        self._events = {
            (elements.get(target), kind): each
            for each in sorted(config["dependencies"], key=lambda each: len(each["inputs"]))
            for target, kind in each["targets"]
        }
        self._elements = elements

    def get(self, path: str) -> bytes:
        """Returns the body of a page that must be there."""
        self.connection.request("GET", path)
        response = self.connection.getresponse()
        body = response.read()
        assert response.status == 200, (response.status, body)
        return body

    def event(self, element: str, kind: str, values: dict) -> dict[str, str]:
        """Sends an event of an element, as its button does, and waits for what it changes.

        `kind` is "click" or "change"; `values` are those of elements by their ids, others are
        empty. Returns the new values by id.
        """
        found = self._events[element, kind]
        body = {
            "data": [values.get(self._elements.get(each)) for each in found["inputs"]],
            "fn_index": found["id"],
            "session_hash": self.session,
            "trigger_id": found["targets"][0][0],
        }
        self.connection.request(
            "POST",
            "/gradio_api/queue/join",
            json.dumps(body),
            {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{self.port}"},
        )
        response = self.connection.getresponse()
        content = response.read()
        assert response.status == 200, (response.status, content)
        event = json.loads(content)["event_id"]
        self.connection.request("GET", f"/gradio_api/queue/data?session_hash={self.session}")
        stream = self.connection.getresponse()
        done = None
        for line in iter(stream.readline, b""):
            if line.startswith(b"data: "):
                message = json.loads(line[6:])
                if message["msg"] == "process_completed":
                    assert message["event_id"] == event
                    assert message["success"], message
                    done = message["output"]["data"]
        assert done is not None
        return {
            self._elements.get(each): value
            for each, value in zip(found["outputs"], done, strict=True)
        }

    def upload(self, name: str, content: bytes) -> list[str]:
        """Uploads a file as the page does. Returns where the server has it."""
        boundary = uuid.uuid4().hex
        body = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
            "Content-Type: text/csv\r\n\r\n"
        ).encode() + content
        body += f"\r\n--{boundary}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        self.connection.request("POST", "/gradio_api/upload", body, kind)
        response = self.connection.getresponse()
        answer = response.read()
        assert response.status == 200, (response.status, answer)
        return json.loads(answer)
