<?php
// From the first invoice to the webhook, with PHP 8.1 or later and its curl extension.
//
//   export ECF_URL=http://127.0.0.1:8080 ECF_API_KEY=ecf_test_...
//   php first-invoice.php sale-1001 https://erp.example.do/events
//
// submits the invoice of a sale, waits for the authority's verdict, saves the printed form and creates a webhook. Then
//
//   WEBHOOK_SECRET=whsec_... php -S 127.0.0.1:9000 first-invoice.php
//
// receives the events at that address.
declare(strict_types=1);

const ISSUER = '199999991';
const ATTEMPTS = 10;

/** A refusal, which is final: the same request would get it again. It names each fault. */
final class GatewayError extends RuntimeException
{
}

/**
 * Returns the body of the answer. Repeats the request after an answer with Retry-After, once that time has passed. After a
 * connection that ended without an answer it repeats what cannot be done twice: a GET, or a request with an idempotency-key.
 */
function call(string $method, string $path, ?array $body = null, array $headers = []): string
{
    $lines = ['x-api-key: ' . getenv('ECF_API_KEY'), 'content-type: application/json'];
    foreach ($headers as $name => $value) {
        $lines[] = "$name: $value";
    }
    $safe = $method === 'GET' || isset($headers['idempotency-key']);
    for ($attempt = 1; ; $attempt++) {
        $retryAfter = null;
        $curl = curl_init(getenv('ECF_URL') . $path);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => $lines,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => 60,
            CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$retryAfter): int {
                if (preg_match('/^retry-after:\s*(\d+)/i', $line, $found)) {
                    $retryAfter = (int) $found[1];
                }
                return strlen($line);
            },
        ]);
        if ($body !== null) {
            curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE));
        }
        $text = curl_exec($curl);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if ($text === false) {
            if (!$safe || $attempt === ATTEMPTS) {
                throw new RuntimeException(curl_error($curl));
            }
            $retryAfter = $attempt;
        } elseif ($status < 300) {
            return $text;
        } elseif ($retryAfter === null || $attempt === ATTEMPTS) {
            throw new GatewayError(explain($status, $text));
        }
        sleep($retryAfter);
    }
}

function callJson(string $method, string $path, ?array $body = null, array $headers = []): array
{
    return json_decode(call($method, $path, $body, $headers), true, 512, JSON_THROW_ON_ERROR);
}

/** The sentence of an error, and a line for each fault of the document. */
function explain(int $status, string $text): string
{
    $error = json_decode($text, true);
    if (!isset($error['message'])) {
        return "$status: " . substr($text, 0, 200); // not from the gateway, but from a proxy before it
    }
    $faults = array_map(fn (array $fault): string => "{$fault['path']}: {$fault['message']}", $error['faults']);
    return implode("\n", [$error['message'], ...$faults]);
}

/** An invoice for one taxed line. Without eNCF the gateway takes the next number of your range. */
function invoice(): array
{
    $today = (new DateTimeImmutable('now', new DateTimeZone('America/Santo_Domingo')))->format('d-m-Y');
    return ['ECF' => [
        'Encabezado' => [
            'Version' => '1.0',
            'IdDoc' => ['TipoeCF' => '31', 'IndicadorMontoGravado' => '0', 'TipoIngresos' => '01', 'TipoPago' => '1'],
            'Emisor' => [
                'RNCEmisor' => ISSUER,
                'RazonSocialEmisor' => 'Comercial Palma Ficticia, SRL',
                'DireccionEmisor' => 'Calle Ejemplo 12, Ensanche Muestra',
                'FechaEmision' => $today,
            ],
            'Comprador' => ['RNCComprador' => '188888885', 'RazonSocialComprador' => 'Taller Caoba Imaginario, SRL'],
            'Totales' => [
                'MontoGravadoTotal' => '1000.00',
                'MontoGravadoI1' => '1000.00',
                'ITBIS1' => '18',
                'TotalITBIS' => '180.00',
                'TotalITBIS1' => '180.00',
                'MontoTotal' => '1180.00',
            ],
        ],
        'DetallesItems' => ['Item' => [[
            'NumeroLinea' => '1',
            'IndicadorFacturacion' => '1',
            'NombreItem' => 'Silla de oficina',
            'IndicadorBienoServicio' => '1',
            'CantidadItem' => '2.00',
            'PrecioUnitarioItem' => '500.0000',
            'MontoItem' => '1000.00',
        ]]],
    ]];
}

/** Submits a document. The key names the sale, so a repeat never makes a second invoice. */
function submit(array $document, string $sale): array
{
    return callJson('POST', '/fe_Submit', $document, ['idempotency-key' => $sale, 'x-reference' => $sale]);
}

/** Reads the invoice until the authority has decided. */
function waitForVerdict(string $encf): array
{
    for (;;) {
        $found = callJson('GET', "/invoices/$encf", null, ['rnc-issuing' => ISSUER]);
        if ($found['status'] !== 'EnProceso') {
            return $found;
        }
        sleep(5);
    }
}

/** Returns the event of a webhook, or null if the signature is not ours or older than five minutes. */
function verify(string $secret, string $id, string $timestamp, string $given, string $body): ?array
{
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    $signed = false;
    foreach (explode(' ', $given) as $one) { // after a rotation of the secret there are two signatures
        $signed = $signed || hash_equals($expected, $one);
    }
    $recent = abs(time() - (int) $timestamp) < 300;
    return $signed && $recent ? json_decode($body, true, 512, JSON_THROW_ON_ERROR) : null;
}

/** Answers a call of the webhook. */
function receive(): void
{
    $event = verify(
        (string) getenv('WEBHOOK_SECRET'),
        $_SERVER['HTTP_WEBHOOK_ID'] ?? '',
        $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '',
        $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '',
        (string) file_get_contents('php://input'),
    );
    http_response_code($event === null ? 400 : 204);
    if ($event !== null) {
        // Work after the answer. An event may arrive twice: store the ids that you have handled.
        error_log("{$event['type']} {$event['subject']['encf']}");
    }
}

function main(string $sale, ?string $webhookUrl = null): void
{
    $encf = submit(invoice(), $sale)['encf'];
    $decided = waitForVerdict($encf);
    echo "$encf {$decided['status']}\n";
    foreach ($decided['messages'] as $message) {
        echo "{$message['codigo']} {$message['valor']}\n";
    }

    file_put_contents("$encf.pdf", call('GET', "/invoices/$encf/pdf", null, ['rnc-issuing' => ISSUER]));
    echo "saved $encf.pdf\n";

    if ($webhookUrl !== null) {
        $webhook = callJson('POST', '/account/webhooks', ['url' => $webhookUrl]);
        echo "webhook {$webhook['id']}, its secret is shown only now: {$webhook['secret']}\n";
    }
}

if (PHP_SAPI !== 'cli') {
    receive();
    return;
}
try {
    main(...array_slice($argv, 1));
} catch (GatewayError $error) {
    fwrite(STDERR, $error->getMessage() . "\n");
    exit(1);
}
