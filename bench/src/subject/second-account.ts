import type { Demo } from '@ecf/test-servers/deployment';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { encfOf, invoice } from '../inputs/sample.js';

const BUYER = '131999999';
const SECOND_ISSUER = '101000171';
const PASSWORD = 'bench';

/** An account that sends invoices. */
export interface Account {
  readonly key: string;
  readonly issuer: string;
  /** The next invoices as JSON, each with its own number. */
  nextDocuments(count: number): string[];
}

/** Creates an account beside that of the sandbox, with its own taxpayer and certificate. */
export async function createSecondAccount(demo: Demo, date: string, lines: number): Promise<Account> {
  const headers = { authorization: `Bearer ${demo.admin_token}` };
  const admin = async (
    method: string,
    where: string,
    body: object | FormData,
  ): Promise<{ id: string; key: string }> => {
    const form = body instanceof FormData;
    const answer = await fetch(`${demo.base_url}/admin${where}`, {
      method,
      headers: form ? headers : { ...headers, 'content-type': 'application/json' },
      body: form ? body : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${where} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { id: string; key: string };
  };
  const { id } = await admin('POST', '/accounts', { name: 'the second account' });
  await admin('POST', `/accounts/${id}/taxpayers`, { rnc: SECOND_ISSUER, name: 'COMERCIAL EL MUELLE SRL' });
  const { p12 } = createCertificateAuthority().issue({
    commonName: 'THE SECOND ISSUER',
    holderId: '00100000001',
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    password: PASSWORD,
  });
  const form = new FormData();
  form.append('certificate', new Blob([new Uint8Array(p12)]), 'certificate.p12');
  form.append('password', PASSWORD);
  await admin('PUT', `/accounts/${id}/taxpayers/${SECOND_ISSUER}/certificate`, form);
  const { key } = await admin('POST', `/accounts/${id}/api-keys`, { name: 'bench', environments: ['TesteCF'] });
  const json = JSON.stringify(invoice(encfOf(0), lines, { issuer: SECOND_ISSUER, buyer: BUYER, date }));
  let last = 0;
  const nextDocuments = (count: number) =>
    Array.from({ length: count }, () => {
      last += 1;
      return json.replace(encfOf(0), encfOf(last));
    });
  return { key, issuer: SECOND_ISSUER, nextDocuments };
}
