"""A bridge from an ERP: reads a CSV of sales, submits their invoices and saves the printed forms.

    ECF_URL=http://127.0.0.1:8080 ECF_API_KEY=ecf_test_... python3 erp-bridge.py sales.csv invoices

sales.csv is UTF-8 with commas and has one sale a row: reference,FechaEmision (2026-06-15),RNCComprador,RazonSocialComprador,
NombreItem,CantidadItem,PrecioUnitarioItem (without ITBIS, taxed at 18 %). It is not the CSV of docs/batches.md. Run it again
whenever you like, also after a crash: the gateway makes one invoice for each reference. invoices/refused.csv has the reasons;
rows that share a reference are refused. Exit code 0: all are printed.
"""

import collections, csv, json, os, pathlib, sys, time, urllib.error, urllib.parse, urllib.request
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

ISSUER = {"RNCEmisor": "199999991", "RazonSocialEmisor": "Comercial Palma Ficticia, SRL", "DireccionEmisor": "Calle Ejemplo 12"}

def sentence(refusal):
    text = refusal.read().decode(errors="replace")
    try:
        error = json.loads(text)
    except ValueError:  # not from the gateway, but from a proxy before it
        return f"{refusal.code}: {text[:200]}"
    return " ".join([error["message"]] + [fault["message"] for fault in error["faults"]])

def call(path, document=None, **headers):
    headers = {"x-api-key": os.environ["ECF_API_KEY"], "content-type": "application/json",
               **{name.replace("_", "-"): value for name, value in headers.items()}}
    data = None if document is None else json.dumps(document).encode()
    for attempt in range(1, 11):
        try:
            request = urllib.request.Request(os.environ["ECF_URL"] + path, data, headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as refusal:
            if refusal.code in (400, 409, 422):  # this sale is at fault
                raise ValueError(sentence(refusal))
            pause = refusal.headers["retry-after"] or ""
            if not pause.isdigit():  # the gateway states seconds
                raise SystemExit(sentence(refusal))
        except OSError:  # the connection ended without an answer
            pause = attempt
        time.sleep(float(pause))
    raise SystemExit("The gateway is unreachable. Run this program again later.")

def cents(amount):
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)

def text(fields):
    return {name: str(value) for name, value in fields.items()}

def invoice(sale):
    try:
        amount = cents(Decimal(sale["CantidadItem"]) * Decimal(sale["PrecioUnitarioItem"]))
    except ArithmeticError:
        raise ValueError("CantidadItem and PrecioUnitarioItem must be numbers, for example 2 and 1500.50.")
    tax = cents(amount * Decimal("0.18"))
    header = {"TipoeCF": 31, "IndicadorMontoGravado": 0, "TipoIngresos": "01", "TipoPago": 1}
    issued = date.fromisoformat(sale["FechaEmision"]).strftime("%d-%m-%Y")
    buyer = {"RNCComprador": sale["RNCComprador"], "RazonSocialComprador": sale["RazonSocialComprador"]}
    totals = {"MontoGravadoTotal": amount, "MontoGravadoI1": amount, "ITBIS1": 18,
              "TotalITBIS": tax, "TotalITBIS1": tax, "MontoTotal": amount + tax}
    item = {"NumeroLinea": 1, "IndicadorFacturacion": 1, "NombreItem": sale["NombreItem"], "IndicadorBienoServicio": 1,
            "CantidadItem": sale["CantidadItem"], "PrecioUnitarioItem": sale["PrecioUnitarioItem"], "MontoItem": amount}
    return {"ECF": {"Encabezado": {"Version": "1.0", "IdDoc": text(header), "Emisor": {**ISSUER, "FechaEmision": issued},
            "Comprador": buyer, "Totales": text(totals)}, "DetallesItems": {"Item": [text(item)]}}}

out, waiting, refused = pathlib.Path(sys.argv[2]), 0, []
out.mkdir(exist_ok=True)
sales = list(csv.DictReader(open(sys.argv[1], encoding="utf-8-sig", newline=""), restval=""))
rows = collections.Counter(sale["reference"] for sale in sales)
for sale in sales:
    reference = sale["reference"]
    if rows[reference] > 1:
        refused.append([reference, f"{rows[reference]} rows have this reference, so none of them is sent. Give each sale its own."])
        continue
    pdf = out / (urllib.parse.quote(reference, safe="") + ".pdf")
    if pdf.exists():  # printed by an earlier run
        continue
    try:
        answer = json.loads(call("/fe_Submit", invoice(sale), idempotency_key=reference, x_reference=reference))
        if answer["status"] == "Rechazado":
            raise ValueError(" ".join(message["valor"] for message in answer["messages"]))
        if answer["status"] == "EnProceso":
            waiting += 1
            continue
        part = pdf.with_suffix(".part")
        part.write_bytes(call(f"/invoices/{answer['encf']}/pdf", rnc_issuing=ISSUER["RNCEmisor"]))
        part.rename(pdf)  # after a crash there is no incomplete PDF
    except ValueError as error:
        refused.append([reference, error])
with open(out / "refused.csv", "w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([["reference", "reason"], *refused])
print(f"{len(list(out.glob('*.pdf')))} printed, {waiting} waiting for the authority, {len(refused)} refused")
sys.exit(1 if waiting or refused else 0)
