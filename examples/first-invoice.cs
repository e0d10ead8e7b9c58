// From the first invoice to the webhook, with .NET Framework 4.8 or Mono and no package.
//
//   csc first-invoice.cs /r:System.Net.Http.dll /r:System.Web.Extensions.dll     (with Mono: mcs, and -r: in place of /r:)
//   set ECF_URL=http://127.0.0.1:8080
//   set ECF_API_KEY=ecf_test_...
//   first-invoice sale-1001 https://erp.example.do/events
//
// submits the invoice of a sale, waits for the authority's verdict, saves the printed form and creates a webhook. Then, with
// WEBHOOK_SECRET=whsec_... and PORT=9000,
//
//   first-invoice receive
//
// receives the events at that address. On .NET 8 and later use JsonSerializer of System.Text.Json in Json below.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;
using System.Web.Script.Serialization;

/// <summary>A refusal, which is final: the same request would get it again. It names each fault.</summary>
class GatewayException : Exception
{
    public GatewayException(string message) : base(message) { }
}

static class Json
{
    public static string Write(object value) => new JavaScriptSerializer().Serialize(value);

    public static T Read<T>(string text) => new JavaScriptSerializer().Deserialize<T>(text);
}

// The parts of the answers that this program reads, named as in the interface.
class Submitted { public string encf { get; set; } }
class Message { public string codigo { get; set; } public string valor { get; set; } }
class Invoice { public string status { get; set; } public Message[] messages { get; set; } }
class Webhook { public string id { get; set; } public string secret { get; set; } }
class Subject { public string encf { get; set; } }
class Event { public string type { get; set; } public Subject subject { get; set; } }
class Fault { public string path { get; set; } public string message { get; set; } }
class Error { public string message { get; set; } public Fault[] faults { get; set; } }

class Gateway
{
    const int Attempts = 10;
    readonly HttpClient client;

    public Gateway(string url, string apiKey)
    {
        client = new HttpClient { BaseAddress = new Uri(url), Timeout = TimeSpan.FromSeconds(60) };
        client.DefaultRequestHeaders.Add("x-api-key", apiKey);
    }

    /// <summary>
    /// Returns the body of the answer. Repeats the request after an answer with Retry-After, once that time has passed. After a
    /// connection that ended without an answer it repeats what cannot be done twice: a GET, or a request with an idempotency-key.
    /// </summary>
    public async Task<byte[]> Call(HttpMethod method, string path, object body = null, Dictionary<string, string> headers = null)
    {
        headers = headers ?? new Dictionary<string, string>();
        var safe = method == HttpMethod.Get || headers.ContainsKey("idempotency-key");
        for (var attempt = 1; ; attempt++)
        {
            var pause = TimeSpan.FromSeconds(attempt);
            try
            {
                using (var request = new HttpRequestMessage(method, path))
                {
                    foreach (var header in headers) request.Headers.Add(header.Key, header.Value);
                    if (body != null) request.Content = new StringContent(Json.Write(body), Encoding.UTF8, "application/json");
                    using (var answer = await client.SendAsync(request))
                    {
                        var bytes = await answer.Content.ReadAsByteArrayAsync();
                        if (answer.IsSuccessStatusCode) return bytes;
                        var retryAfter = answer.Headers.RetryAfter?.Delta;
                        if (retryAfter == null || attempt == Attempts)
                            throw new GatewayException(Explain(answer.StatusCode, Encoding.UTF8.GetString(bytes)));
                        pause = retryAfter.Value;
                    }
                }
            }
            // A time-out is reported as a cancelled task.
            catch (Exception error) when (error is HttpRequestException || error is IOException || error is TaskCanceledException)
            {
                if (!safe || attempt == Attempts) throw;
            }
            await Task.Delay(pause);
        }
    }

    public async Task<T> Call<T>(HttpMethod method, string path, object body = null, Dictionary<string, string> headers = null) =>
        Json.Read<T>(Encoding.UTF8.GetString(await Call(method, path, body, headers)));

    /// <summary>The sentence of an error, and a line for each fault of the document.</summary>
    static string Explain(HttpStatusCode status, string text)
    {
        try
        {
            var error = Json.Read<Error>(text);
            return string.Join("\n", new[] { error.message }.Concat(error.faults.Select(fault => $"{fault.path}: {fault.message}")));
        }
        catch (Exception)
        {
            return $"{(int)status}: {text}"; // not from the gateway, but from a proxy before it
        }
    }
}

static class Program
{
    const string Issuer = "199999991";
    static readonly Dictionary<string, string> OfIssuer = new Dictionary<string, string> { ["rnc-issuing"] = Issuer };

    /// <summary>An invoice for one taxed line. Without eNCF the gateway takes the next number of your range.</summary>
    static object NewInvoice() => new
    {
        ECF = new
        {
            Encabezado = new
            {
                Version = "1.0",
                IdDoc = new { TipoeCF = "31", IndicadorMontoGravado = "0", TipoIngresos = "01", TipoPago = "1" },
                Emisor = new
                {
                    RNCEmisor = Issuer,
                    RazonSocialEmisor = "Comercial Palma Ficticia, SRL",
                    DireccionEmisor = "Calle Ejemplo 12, Ensanche Muestra",
                    FechaEmision = DateTime.UtcNow.AddHours(-4).ToString("dd-MM-yyyy", CultureInfo.InvariantCulture),
                },
                Comprador = new { RNCComprador = "188888885", RazonSocialComprador = "Taller Caoba Imaginario, SRL" },
                Totales = new
                {
                    MontoGravadoTotal = "1000.00",
                    MontoGravadoI1 = "1000.00",
                    ITBIS1 = "18",
                    TotalITBIS = "180.00",
                    TotalITBIS1 = "180.00",
                    MontoTotal = "1180.00",
                },
            },
            DetallesItems = new
            {
                Item = new[]
                {
                    new
                    {
                        NumeroLinea = "1",
                        IndicadorFacturacion = "1",
                        NombreItem = "Silla de oficina",
                        IndicadorBienoServicio = "1",
                        CantidadItem = "2.00",
                        PrecioUnitarioItem = "500.0000",
                        MontoItem = "1000.00",
                    },
                },
            },
        },
    };

    /// <summary>Submits a document. The key names the sale, so a repeat never makes a second invoice.</summary>
    static Task<Submitted> Submit(Gateway gateway, object document, string sale) =>
        gateway.Call<Submitted>(HttpMethod.Post, "/fe_Submit", document,
            new Dictionary<string, string> { ["idempotency-key"] = sale, ["x-reference"] = sale });

    /// <summary>Reads the invoice until the authority has decided.</summary>
    static async Task<Invoice> WaitForVerdict(Gateway gateway, string encf)
    {
        while (true)
        {
            var found = await gateway.Call<Invoice>(HttpMethod.Get, $"/invoices/{encf}", null, OfIssuer);
            if (found.status != "EnProceso") return found;
            await Task.Delay(TimeSpan.FromSeconds(5));
        }
    }

    /// <summary>Returns the event of a webhook, or null if the signature is not ours or older than five minutes.</summary>
    static Event Verify(string secret, string id, string timestamp, string given, byte[] body)
    {
        byte[] digest;
        using (var hmac = new HMACSHA256(Convert.FromBase64String(secret.Replace("whsec_", ""))))
            digest = hmac.ComputeHash(Encoding.UTF8.GetBytes($"{id}.{timestamp}.").Concat(body).ToArray());
        var expected = "v1," + Convert.ToBase64String(digest);
        // After a rotation of the secret there are two signatures.
        var signed = (given ?? "").Split(' ').Count(one => Same(one, expected)) > 0;
        long seconds;
        var now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        var recent = long.TryParse(timestamp, out seconds) && Math.Abs(now - seconds) < 300;
        return signed && recent ? Json.Read<Event>(Encoding.UTF8.GetString(body)) : null;
    }

    /// <summary>Compares in a time that does not depend on where the texts differ.</summary>
    static bool Same(string one, string other) =>
        one.Length == other.Length && one.Zip(other, (a, b) => a ^ b).Aggregate(0, (sum, difference) => sum | difference) == 0;

    static async Task Receive(string secret, string port)
    {
        var listener = new HttpListener();
        listener.Prefixes.Add($"http://127.0.0.1:{port}/");
        listener.Start();
        while (true)
        {
            var context = await listener.GetContextAsync();
            var body = new MemoryStream();
            await context.Request.InputStream.CopyToAsync(body);
            var headers = context.Request.Headers;
            var found = Verify(secret, headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"], body.ToArray());
            // Answer first, then work. An event may arrive twice: store the ids that you have handled.
            context.Response.StatusCode = found == null ? 400 : 204;
            context.Response.Close();
            if (found != null) Console.WriteLine($"{found.type} {found.subject.encf}");
        }
    }

    static async Task Run(string sale, string webhookUrl)
    {
        var gateway = new Gateway(Setting("ECF_URL"), Setting("ECF_API_KEY"));
        var encf = (await Submit(gateway, NewInvoice(), sale)).encf;
        var decided = await WaitForVerdict(gateway, encf);
        Console.WriteLine($"{encf} {decided.status}");
        foreach (var message in decided.messages) Console.WriteLine($"{message.codigo} {message.valor}");

        File.WriteAllBytes($"{encf}.pdf", await gateway.Call(HttpMethod.Get, $"/invoices/{encf}/pdf", null, OfIssuer));
        Console.WriteLine($"saved {encf}.pdf");

        if (webhookUrl != null)
        {
            var webhook = await gateway.Call<Webhook>(HttpMethod.Post, "/account/webhooks", new { url = webhookUrl });
            Console.WriteLine($"webhook {webhook.id}, its secret is shown only now: {webhook.secret}");
        }
    }

    static string Setting(string name) => Environment.GetEnvironmentVariable(name);

    static int Main(string[] args)
    {
        try
        {
            if (args[0] == "receive") Receive(Setting("WEBHOOK_SECRET"), Setting("PORT")).GetAwaiter().GetResult();
            else Run(args[0], args.ElementAtOrDefault(1)).GetAwaiter().GetResult();
            return 0;
        }
        catch (GatewayException error)
        {
            Console.Error.WriteLine(error.Message);
            return 1;
        }
    }
}
