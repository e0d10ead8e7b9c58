#!/bin/sh
# From the first invoice to the webhook, with curl, jq and openssl.
#
#   export ECF_URL=http://127.0.0.1:8080 ECF_API_KEY=ecf_test_...
#   sh first-invoice.sh sale-1001 https://erp.example.do/events
#
# submits the invoice of a sale, waits for the authority's verdict, saves the printed form and creates a webhook. A web server that
# runs this file as a CGI program, with WEBHOOK_SECRET in its environment, receives the events at that address.
set -eu

issuer=199999991
attempts=10
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# call ARGUMENTS-OF-CURL: leaves the body of the answer in $work/body. It repeats the request after an answer with Retry-After, once
# that time has passed. After a connection that ended without an answer it repeats what cannot be done twice: a GET, or a request with
# an idempotency-key. Every other refusal is final.
call() {
  case $* in
    *idempotency-key:*) safe=yes ;;
    *--data*) safe=no ;;
    *) safe=yes ;;
  esac
  attempt=1
  while :; do
    rm -f "$work/body"
    status=$(curl -sS -m 60 -D "$work/headers" -o "$work/body" -w '%{http_code}' \
      -H "x-api-key: $ECF_API_KEY" -H 'content-type: application/json' "$@") || status=000
    case $status in
      2*) return ;;
      000) [ "$safe" = yes ] && pause=$attempt || pause= ;;
      *) pause=$(tr -d '\r' <"$work/headers" | awk 'tolower($1) == "retry-after:" { print $2 }') ;;
    esac
    if [ -z "$pause" ] || [ "$attempt" -ge "$attempts" ]; then
      # The sentence of the error, and a line for each fault of the document; an answer of a proxy is not JSON.
      jq -r '.message, (.faults[] | "\(.path): \(.message)")' "$work/body" >&2 2>/dev/null || echo "status $status" >&2
      exit 1
    fi
    sleep "$pause"
    attempt=$((attempt + 1))
  done
}

# An invoice for one taxed line. Without eNCF the gateway takes the next number of your range.
invoice() {
  cat <<JSON
{
  "ECF": {
    "Encabezado": {
      "Version": "1.0",
      "IdDoc": { "TipoeCF": "31", "IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1" },
      "Emisor": {
        "RNCEmisor": "$issuer",
        "RazonSocialEmisor": "Comercial Palma Ficticia, SRL",
        "DireccionEmisor": "Calle Ejemplo 12, Ensanche Muestra",
        "FechaEmision": "$(TZ=AST4 date +%d-%m-%Y)"
      },
      "Comprador": { "RNCComprador": "188888885", "RazonSocialComprador": "Taller Caoba Imaginario, SRL" },
      "Totales": {
        "MontoGravadoTotal": "1000.00",
        "MontoGravadoI1": "1000.00",
        "ITBIS1": "18",
        "TotalITBIS": "180.00",
        "TotalITBIS1": "180.00",
        "MontoTotal": "1180.00"
      }
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
          "MontoItem": "1000.00"
        }
      ]
    }
  }
}
JSON
}

# verify ID TIMESTAMP SIGNATURES, the body in $work/event: true if one of the signatures is ours and five minutes old at most.
# For production, use a language with HMAC, as in first-invoice.py: openssl takes the key on its command line, which other users of
# the machine can read, and the shell does not compare in constant time.
verify() {
  key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
  digest=$({ printf '%s.%s.' "$1" "$2"; cat "$work/event"; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
  case $2 in '' | *[!0-9]*) return 1 ;; esac
  age=$(($(date +%s) - $2))
  [ "$age" -lt 300 ] && [ "$age" -gt -300 ] || return 1
  case " $3 " in *" v1,$digest "*) return 0 ;; esac
  return 1
}

# Answers a call of the webhook, as CGI passes it. An event may arrive twice: store the ids that you have handled.
receive() {
  head -c "$CONTENT_LENGTH" >"$work/event"
  if verify "${HTTP_WEBHOOK_ID-}" "${HTTP_WEBHOOK_TIMESTAMP-}" "${HTTP_WEBHOOK_SIGNATURE-}"; then
    jq -r '"\(.type) \(.subject.encf)"' "$work/event" >&2
    printf 'Status: 204 No Content\r\n\r\n'
  else
    printf 'Status: 400 Bad Request\r\n\r\n'
  fi
}

if [ -n "${REQUEST_METHOD-}" ]; then
  receive
  exit
fi

# Submit. The key names the sale, so a repeat never makes a second invoice.
invoice >"$work/invoice.json"
call "$ECF_URL/fe_Submit" -H "idempotency-key: $1" -H "x-reference: $1" --data-binary "@$work/invoice.json"
encf=$(jq -r .encf "$work/body")

# Wait for the verdict.
while call "$ECF_URL/invoices/$encf" -H "rnc-issuing: $issuer" && [ "$(jq -r .status "$work/body")" = EnProceso ]; do
  sleep 5
done
jq -r '"\(.encf) \(.status)", (.messages[] | "\(.codigo) \(.valor)")' "$work/body"

# Save the printed form.
call "$ECF_URL/invoices/$encf/pdf" -H "rnc-issuing: $issuer"
cp "$work/body" "$encf.pdf"
echo "saved $encf.pdf"

# Create a webhook.
if [ $# -gt 1 ]; then
  jq -n --arg url "$2" '{url: $url}' >"$work/webhook.json"
  call "$ECF_URL/account/webhooks" --data-binary "@$work/webhook.json"
  jq -r '"webhook \(.id), its secret is shown only now: \(.secret)"' "$work/body"
fi
