"""From the first invoice to the webhook, with Python's standard library only.

    export ECF_URL=http://127.0.0.1:8080 ECF_API_KEY=ecf_test_...
    python3 first-invoice.py sale-1001 https://erp.example.do/events

submits the invoice of a sale, waits for the authority's verdict, saves the printed form and creates a webhook. Then

    WEBHOOK_SECRET=whsec_... PORT=9000 python3 first-invoice.py receive

receives the events at that address.
"""

import base64
import hmac
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ISSUER = "199999991"
ATTEMPTS = 10


class GatewayError(Exception):
    """A refusal, which is final: the same request would get it again. It names each fault."""


def call(method, path, body=None, **headers):
    """Returns the bytes of the answer.

    Repeats the request after an answer with Retry-After, once that time has passed. After a connection that ended without
    an answer it repeats what cannot be done twice: a GET, or a request with an idempotency-key.
    """
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(
        os.environ["ECF_URL"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"x-api-key": os.environ["ECF_API_KEY"], "content-type": "application/json", **headers},
    )
    safe = method == "GET" or "idempotency-key" in headers
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as refusal:
            pause = refusal.headers["retry-after"]
            if pause is None or attempt == ATTEMPTS:
                raise GatewayError(explain(refusal)) from None
        except (OSError, http.client.HTTPException):
            if not safe or attempt == ATTEMPTS:
                raise
            pause = attempt
        time.sleep(float(pause))


def explain(refusal):
    """The sentence of an error, and a line for each fault of the document."""
    text = refusal.read().decode(errors="replace")
    try:
        error = json.loads(text)
    except ValueError:
        return f"{refusal.code}: {text[:200]}"  # not from the gateway, but from a proxy before it
    return "\n".join([error["message"]] + [f"{fault['path']}: {fault['message']}" for fault in error["faults"]])


def invoice():
    """An invoice for one taxed line. Without eNCF the gateway takes the next number of your range."""
    today = datetime.now(timezone(timedelta(hours=-4))).strftime("%d-%m-%Y")
    return {
        "ECF": {
            "Encabezado": {
                "Version": "1.0",
                "IdDoc": {"TipoeCF": "31", "IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1"},
                "Emisor": {
                    "RNCEmisor": ISSUER,
                    "RazonSocialEmisor": "Comercial Palma Ficticia, SRL",
                    "DireccionEmisor": "Calle Ejemplo 12, Ensanche Muestra",
                    "FechaEmision": today,
                },
                "Comprador": {"RNCComprador": "188888885", "RazonSocialComprador": "Taller Caoba Imaginario, SRL"},
                "Totales": {
                    "MontoGravadoTotal": "1000.00",
                    "MontoGravadoI1": "1000.00",
                    "ITBIS1": "18",
                    "TotalITBIS": "180.00",
                    "TotalITBIS1": "180.00",
                    "MontoTotal": "1180.00",
                },
            },
            "DetallesItems": {
                "Item": [
                    {
                        "NumeroLinea": "1",
                        "IndicadorFacturacion": "1",
                        "NombreItem": "Silla de oficina",
                        "IndicadorBienoServicio": "1",
                        "CantidadItem": "2.00",
                        "PrecioUnitarioItem": "500.0000",
                        "MontoItem": "1000.00",
                    }
                ]
            },
        }
    }


def submit(document, sale):
    """Submits a document. The key names the sale, so a repeat never makes a second invoice."""
    return json.loads(call("POST", "/fe_Submit", document, idempotency_key=sale, x_reference=sale))


def wait_for_verdict(encf):
    """Reads the invoice until the authority has decided."""
    while True:
        found = json.loads(call("GET", f"/invoices/{encf}", rnc_issuing=ISSUER))
        if found["status"] != "EnProceso":
            return found
        time.sleep(5)


def verify(secret, headers, body):
    """Returns the event of a webhook, or None if the signature is not ours or older than five minutes."""
    event_id, timestamp, given = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"{event_id}.{timestamp}.".encode() + body, "sha256")
    expected = "v1," + base64.b64encode(digest).decode()
    # After a rotation of the secret there are two signatures.
    signed = any(hmac.compare_digest(expected.encode(), one.encode()) for one in given.split(" "))
    recent = timestamp.isdigit() and abs(time.time() - int(timestamp)) < 300
    return json.loads(body) if signed and recent else None


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        event = verify(os.environ["WEBHOOK_SECRET"], self.headers, body)
        # Answer first, then work. An event may arrive twice: store the ids that you have handled.
        self.send_response(400 if event is None else 204)
        self.end_headers()
        if event is not None:
            # One write for each line, because several requests are handled at a time.
            print(f'{event["type"]} {event["subject"]["encf"]}\n', end="", flush=True)

    def log_message(self, *_):
        pass


def main(sale, webhook_url=None):
    encf = submit(invoice(), sale)["encf"]
    decided = wait_for_verdict(encf)
    print(encf, decided["status"])
    for message in decided["messages"]:
        print(message["codigo"], message["valor"])

    with open(f"{encf}.pdf", "wb") as file:
        file.write(call("GET", f"/invoices/{encf}/pdf", rnc_issuing=ISSUER))
    print(f"saved {encf}.pdf")

    if webhook_url is not None:
        webhook = json.loads(call("POST", "/account/webhooks", {"url": webhook_url}))
        print(f"webhook {webhook['id']}, its secret is shown only now: {webhook['secret']}")


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
    try:
        main(*sys.argv[1:])
    except GatewayError as error:
        sys.exit(str(error))
