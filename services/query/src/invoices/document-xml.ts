import type { DocumentReader } from '@ecf/archive';
import { type Environment, storedEnvironment } from '@ecf/domain';
import { type AccountPorts, type Caller, readAccount } from '@ecf/taxpayer-replica';
import { requireTaxpayer } from '../account-taxpayers.js';
import { mayExist, QueryError } from '../errors.js';
import type { IssuedInvoice } from './issued-invoice.js';
import type { Owners } from './owners.js';
import type { InvoiceStore, ReceivedStore, RunStore } from './ports.js';
import type { StoredXml } from './received-record.js';

/** The parameters of `GET /{encf}/xml`. */
export interface XmlQuery {
  readonly caller: Caller;
  readonly env: Environment;
  readonly encf: string;
  readonly issuerRnc: string | null;
  /** The taxpayer of the account that received the document; null = not given. */
  readonly buyerRnc: string | null;
  /** The full signed e-CF, or the consumer summary that went to the authority. */
  readonly document: 'ecf' | 'rfce';
  /** Which copies the key of the call may read. */
  readonly may: { readonly issued: boolean; readonly received: boolean };
  /** Checksum of the wanted bytes. */
  readonly sha256: string | null;
  /** The certification run of an issued document; null = the present one. */
  readonly run: number | null;
}

export interface FoundXml {
  readonly issuerRnc: string;
  readonly bytes: Uint8Array;
  /** The issued document; null for a received one. */
  readonly invoice: IssuedInvoice | null;
}

type Copy = StoredXml & { readonly issuerRnc: string; readonly invoice: IssuedInvoice | null };
/** No document was found, or it is unknown whether there is one, because the owner did not answer. */
type Missing = 'none' | 'unknown';

interface XmlPorts extends AccountPorts {
  readonly invoices: Pick<InvoiceStore, 'byNumber'>;
  readonly runs: Pick<RunStore, 'present'>;
  readonly received: ReceivedStore;
  readonly issuedXml: DocumentReader;
  readonly receivedXml: DocumentReader;
}

/**
 * Finds the stored XML of an issued or received document and returns its bytes, verified by their checksum.
 *
 * Without an issuer, documents that the account's taxpayers issued come first, then received ones. An issuer may also be the
 * provider; if one account is both, the issued copy is returned. If several taxpayers of the account received documents under
 * the number, the caller has to name the buyer.
 */
export function createDocumentXml(ports: XmlPorts, owners: Owners): (query: XmlQuery) => Promise<FoundXml> {
  async function byNumber({ env, encf, run }: XmlQuery, issuers: readonly string[]): Promise<IssuedInvoice[]> {
    const present = run === null ? await ports.runs.present(env, issuers) : [];
    const keys = issuers.map((issuerRnc, index) => ({
      env: storedEnvironment({ env, run: run ?? present[index] ?? 1 }),
      issuerRnc,
    }));
    return ports.invoices.byNumber(keys, encf);
  }

  async function issuedCopy(query: XmlQuery, own: readonly string[]): Promise<Copy | Missing> {
    const issuers = query.issuerRnc === null ? own : own.filter((rnc) => rnc === query.issuerRnc);
    if (issuers.length === 0) return 'none';
    let ownerAnswered = true;
    const settled = (await byNumber(query, issuers)).filter((one) => one.settled);
    const open = issuers.filter((rnc) => !settled.some(({ issuerRnc }) => issuerRnc === rnc));
    let found = settled;
    if (open.length > 0) {
      ownerAnswered = await owners.issued(query.env, open, query.encf, query.run);
      // The settled ones are not read again: a rebuild may have emptied the read model since.
      found = [...settled, ...(await byNumber(query, open))];
    }
    const listed = found.filter((one) => one.listed);
    const missing = ownerAnswered ? 'none' : 'unknown';
    if (query.sha256 !== null) return filesOf(listed).find(({ checksum }) => checksum === query.sha256) ?? missing;
    const [first, ...others] = listed;
    if (others.length > 0) throw ambiguous(`Several taxpayers of this account issued ${query.encf}`);
    if (first === undefined) return missing;
    const { issuerRnc } = first;
    if (query.document === 'ecf')
      return { issuerRnc, invoice: first, path: first.xmlPath, checksum: first.xmlChecksum };
    if (first.rfcePath !== null && first.rfceChecksum !== null)
      return { issuerRnc, invoice: first, path: first.rfcePath, checksum: first.rfceChecksum };
    throw new QueryError('not_found', `${query.encf} was sent to the authority in full; it has no consumer summary.`);
  }

  async function receivedCopy(query: XmlQuery, own: readonly string[]): Promise<Copy | Missing> {
    const buyerRncs = query.buyerRnc === null ? own : [query.buyerRnc];
    const search = { env: query.env, buyerRncs, issuerRnc: query.issuerRnc, encf: query.encf };
    const findCopy = async () => {
      const received = await ports.received.byNumber(search);
      const fitting = received.flatMap(({ issuerRnc, xmlPath, xmlChecksum, conflicts }) => {
        const xml = { path: xmlPath, checksum: xmlChecksum };
        return (
          query.sha256 === null ? [xml] : [xml, ...conflicts].filter(({ checksum }) => checksum === query.sha256)
        ).map((file) => ({ ...file, issuerRnc, invoice: null }));
      });
      // Several providers or buyers, but one checksum: the bytes are the same.
      if (fitting.length > 1 && query.sha256 === null) {
        const providers = new Set(fitting.map(({ issuerRnc }) => issuerRnc)).size;
        if (providers > 1) throw ambiguous(`Several providers sent ${query.encf}`);
        throw ambiguous(`Several taxpayers of this account received ${query.encf}`, 'the header buyer-rnc');
      }
      return fitting[0] ?? null;
    };
    // Without provider and buyer, the number may have documents whose events are still on their way.
    const decided = (query.issuerRnc !== null && buyerRncs.length === 1) || query.sha256 !== null;
    const known = decided ? await findCopy() : null;
    if (known !== null) return known;
    const ownerAnswered = await owners.received(search);
    return (await findCopy()) ?? (ownerAnswered ? 'none' : 'unknown');
  }

  return async (query) => {
    const { taxpayers, current } = await readAccount(ports, query.caller);
    const own = taxpayers.map(({ rnc }) => rnc);
    if (query.buyerRnc !== null) await requireTaxpayer(ports, query.caller, query.buyerRnc);
    const issued = query.may.issued ? await issuedCopy(query, own) : 'none';
    const mayBeReceived = query.may.received && query.document === 'ecf' && query.run === null;
    const received = typeof issued === 'string' && mayBeReceived ? await receivedCopy(query, own) : 'none';
    const file = typeof issued === 'string' ? received : issued;
    if (typeof file === 'string') {
      if (!current || issued === 'unknown' || received === 'unknown')
        throw mayExist(`whether this account issued or received ${query.encf} in ${query.env}`);
      throw new QueryError(
        'not_found',
        `This account has neither issued nor received a matching ${query.encf} in ${query.env}.`,
      );
    }
    const reader = file === issued ? ports.issuedXml : ports.receivedXml;
    return { issuerRnc: file.issuerRnc, invoice: file.invoice, bytes: await reader.get(file.path, file.checksum) };
  };
}

function filesOf(invoices: readonly IssuedInvoice[]): Copy[] {
  return invoices.flatMap((invoice) => {
    const { issuerRnc, xmlPath, xmlChecksum, rfcePath, rfceChecksum } = invoice;
    return [
      { issuerRnc, invoice, path: xmlPath, checksum: xmlChecksum },
      ...(rfcePath !== null && rfceChecksum !== null
        ? [{ issuerRnc, invoice, path: rfcePath, checksum: rfceChecksum }]
        : []),
    ];
  });
}

function ambiguous(what: string, where = 'issuer_rnc'): QueryError {
  return new QueryError('ambiguous_encf', `${what}; name one of them in ${where}.`);
}
