import { type DocumentNode, withoutTrailingSlashes } from '@ecf/domain';
import { parseXml, writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';

const TIMEOUT_MS = 30_000;

/** A taxpayer's service could not be called, or did not answer as it should. The message is a sentence. */
export class DeliveryFailed extends Error {
  override readonly name = 'DeliveryFailed';
}

/** Signs a document without an XML declaration, as the authority's counterpart sends it. */
export async function signed(tree: DocumentNode, certificate: SigningCertificate): Promise<string> {
  const { xml } = await signXml(writeXml(tree), certificate);
  return xml.replace(/^<\?xml[^>]*\?>\s*/, '');
}

/** The headers of the part are the caller's: the authority's own messages have odd ones. */
interface OutboundPart {
  readonly headers: readonly string[];
  readonly content: string;
}

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Posts a document as multipart.
 *
 * @throws DeliveryFailed
 */
export async function post(url: string, { headers, content }: OutboundPart, token: string | null): Promise<Reply> {
  const boundary = '73fb62d1-9ebf-4d2f-a5b8-5e1ac62f2b0c';
  const body = `--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n${content}\r\n--${boundary}--\r\n`;
  return call(url, {
    method: 'POST',
    headers: {
      'Content-Type': `multipart/form-data; boundary="${boundary}"`,
      ...(token === null ? {} : { Authorization: `bearer ${token}` }),
    },
    body,
  });
}

/**
 * A token of a receiver that publishes authentication: its seed, signed.
 *
 * @throws DeliveryFailed
 */
export async function logIn(base: string, certificate: SigningCertificate): Promise<string> {
  const seed = await call(address(base, '/fe/Autenticacion/api/Semilla'), {});
  const { text } = parseXml(seed.body);
  const tree = { SemillaModel: { valor: leaf(text, 'valor'), fecha: leaf(text, 'fecha') } };
  const part = {
    headers: ['Content-Disposition: form-data; name="xml"; filename="semilla.xml"', 'Content-Type: text/xml'],
    content: await signed(tree, certificate),
  };
  const reply = await post(address(base, '/fe/Autenticacion/api/ValidacionCertificado'), part, null);
  const answer = reply.body.toString('utf8');
  const token = /"token"\s*:\s*"([^"]+)"/i.exec(answer)?.[1] ?? /<token>([^<]+)</i.exec(answer)?.[1];
  if (!token) throw new DeliveryFailed(`${base} answered the signed seed with HTTP ${reply.status} and no token.`);
  return token;
}

/** Base addresses get the standard path; an address that has it already stays. */
export function address(base: string, standardPath: string): string {
  const marker = standardPath.split('/').slice(0, 3).join('/').toLowerCase();
  return base.toLowerCase().includes(marker) ? base : withoutTrailingSlashes(base) + standardPath;
}

function leaf(xml: string, name: string): string {
  // linear: each attempt ends at the next `<`
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
}

async function call(url: string, init: RequestInit): Promise<Reply> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
  } catch (cause) {
    throw new DeliveryFailed(`${url} cannot be reached.`, { cause });
  }
}
