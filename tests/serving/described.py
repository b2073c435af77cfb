"""Requests drawn by Schemathesis from the OpenAPI document of a server.

    python -m tests.serving.described 200

With the number of requests for each operation, half of them as the document says, half not so.
"""

import sys
import tempfile
from collections import Counter

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, checks

from .malformed import application
from .servers import Client

CHECKED = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def run_described(app, token, examples):
    """Send so many requests to each operation; count them."""
    client = Client(app)
    client.headers["authorization"] = f"Bearer {token}"
    document = client.get("/v1/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    asked = Counter()
    how = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for result in schema.get_all_operations():
        operation = result.ok()
        name = f"{operation.method.upper()} {operation.path}"
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if mode is GenerationMode.NEGATIVE and operation.method != "post":
                continue

            _ask(client, operation, mode, how, asked, name)
    return asked


def _ask(client, operation, mode, how, asked, name):
    @how
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        answer = _send(client, case.as_transport_kwargs(base_url="http://127.0.0.1"))
        if answer is not None:
            asked[name] += 1
            case.validate_response(answer, checks=CHECKED)

    ask()


def _send(client, sent):
    """Send what was drawn; what no client could send is left out."""
    path = sent["url"].removeprefix("http://127.0.0.1")
    given = {k: v for k, v in (sent.get("headers") or {}).items() if k.lower() != "authorization"}
    more = {}
    if sent.get("json") is not None:
        more["json"] = sent["json"]
    elif sent.get("data") is not None:
        more["content"] = sent["data"]
    try:
        return client.request(sent["method"], path, headers=given, **more)
    except (UnicodeEncodeError, ValueError, TypeError):
        return None


def main():
    import warnings

    warnings.simplefilter("ignore")
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        asked = run_described(*application(folder), n)
    for name, times in asked.items():
        print(f"{times:6}  {name}")
    print(f"{sum(asked.values()):,} requests: no status of 500, and all as the document says")


if __name__ == "__main__":
    main()
