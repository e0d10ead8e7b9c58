// A client whose types are generated from the gateway's OpenAPI document:
//   npm install openapi-fetch openapi-typescript
//   npx openapi-typescript https://gateway.example/openapi.json --output gateway.ts
import createClient from 'openapi-fetch';
import type { components, paths } from './gateway.js';

export type Invoice = components['schemas']['InvoiceDocument'];

const ATTEMPTS = 10;

/**
 * Sends a request. It is repeated after an answer with Retry-After, once that time has passed, and after a connection that ended
 * without an answer. Every other answer is final: the same request would get it again.
 */
async function fetchPatiently(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    let pauseSeconds = attempt;
    try {
      const answer = await fetch(request.clone());
      const retryAfter = answer.headers.get('retry-after');
      if (retryAfter === null || attempt === ATTEMPTS) return answer;
      pauseSeconds = Number(retryAfter);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseSeconds * 1_000));
  }
}

export function createGateway(baseUrl: string, apiKey: string) {
  // JSON, where an operation also answers with CSV.
  const client = createClient<paths, 'application/json'>({
    baseUrl,
    headers: { 'x-api-key': apiKey },
    fetch: fetchPatiently,
  });

  return {
    /** Submits an invoice. `reference` is the ERP's own name of the sale, so that a repeat never makes a second invoice. */
    async submit(invoice: Invoice, reference: string) {
      const { data, error } = await client.POST('/fe_Submit', {
        params: { header: { 'idempotency-key': reference, 'x-reference': reference } },
        body: invoice,
      });
      if (error !== undefined)
        throw new Error([error.message, ...error.faults.map((fault) => `${fault.path}: ${fault.message}`)].join('\n'));
      return data;
    },
  };
}
