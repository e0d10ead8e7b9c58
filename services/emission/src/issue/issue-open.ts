import { ISSUING_RULES, toCalendarDate } from '@ecf/domain';
import type { Destination } from '../contingency/contingency.js';
import { tokenOrWait } from '../contingency/token-or-wait.js';
import type { Certificates } from '../credentials/certificates.js';
import { certificateTokens } from '../credentials/token-source.js';
import { CommitUnconfirmed, EmissionError, MAX_ROUNDS, overtaken, refuseFaults } from '../errors.js';
import {
  type DrawnNumber,
  drawNumber,
  keyRequired,
  NumberLost,
  needsStatedExpiry,
  noNumberLeft,
  openRanges,
} from '../numbers/automatic-number.js';
import { checkStatedExpiry } from '../numbers/number-ranges.js';
import type { Ports } from '../ports.js';
import { checkReference } from '../references/referenced-document.js';
import type { ComparePorts } from './compare-documents.js';
import { filledIn, submissionOfKey } from './idempotency-key.js';
import type { Invoice } from './invoice-json.js';
import { type IssuedJson, type IssueNumbered, type Parties, sentDocument } from './issue-numbered.js';
import type { GivenNumber, InvoiceJson } from './read-invoice-json.js';

/** An invoice that leaves its number to the service. */
export interface OpenInvoice {
  /** Reads it again under a number. */
  read(given: GivenNumber): Promise<InvoiceJson>;
  /** Without number; its key has a placeholder for the number to be drawn. */
  readonly invoice: Invoice;
}

export interface IssueOpen {
  /** A dry run: nothing is drawn. */
  check(parties: Parties, offer: OpenInvoice): Promise<IssuedJson>;
  /** Issues the invoice under the next number. The same invoice under its key gets the first outcome. */
  issue(parties: Parties, offer: OpenInvoice, idempotencyKey: string | null): Promise<IssuedJson>;
}

export type OpenPorts = ComparePorts &
  Pick<
    Ports,
    | 'numbers'
    | 'emissions'
    | 'authority'
    | 'contingency'
    | 'tokens'
    | 'observer'
    | 'clock'
    | 'sleep'
    | 'settings'
    | 'checkpoint'
  >;

/** Issues invoices whose number the service gives. Everything that can be refused is checked before the draw. */
export function createIssueOpen(ports: OpenPorts, certificates: Certificates, numbered: IssueNumbered): IssueOpen {
  return {
    async check(parties, offer) {
      const { warnings } = await checked(parties, offer);
      return numbered.checked(parties, offer.invoice, null, warnings);
    },
    async issue(parties, offer, idempotencyKey) {
      const { invoice } = offer;
      const { caller, taxpayer } = parties;
      const { key, type, contentHash } = invoice;
      const { env, issuerRnc } = key;
      if (idempotencyKey === null) throw keyRequired();
      const scope = { accountId: caller.accountId, env, idempotencyKey };
      const sent = sentDocument(caller, invoice);
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const before = await submissionOfKey(ports, scope, { issuerRnc, sent, ignored: filledIn(invoice.tree) });
        if (before !== null) return numbered.repeated(parties, before, true);
        const { ranges, warnings } = await checked(parties, offer);
        numbered.warningsOf(parties, invoice, warnings);
        await login(parties, { env, route: invoice.route });
        const number = await drawNumber(
          ports,
          scope,
          { issuerRnc, ecfType: type, contentHash },
          ranges,
          parties.signal,
        );
        if (number === 'none') throw noNumberLeft(taxpayer.ranges, ranges, env, type);
        const issued = number === null ? null : await issueUnder(number, parties, offer);
        if (issued !== null) return issued;
      }
      throw overtaken(`The number drawn for this document went to another one at each of ${MAX_ROUNDS} tries.`);
    },
  };

  /** The checks that need no number. */
  async function checked({ caller, taxpayer }: Parties, { read, invoice }: OpenInvoice) {
    const { key, type, summary, tree } = invoice;
    const ranges = openRanges(taxpayer.ranges, key.env, type, toCalendarDate(ports.clock()));
    if (needsStatedExpiry(type, ranges)) await read({ encf: key.encf, expiry: null });
    const { faults, warnings } = await checkReference(
      ports.emissions,
      { caller, ranges: taxpayer.ranges },
      key,
      summary,
      tree,
    );
    // The number that the check assumes has an expiry too; only the document's own statement counts.
    refuseFaults([...faults, ...checkStatedExpiry(ranges, tree)]);
    return { ranges, warnings };
  }

  async function login({ caller, taxpayer, uploaded, mayWait }: Parties, destination: Destination): Promise<void> {
    const { env } = destination;
    const certificate = uploaded ?? certificates.stored(taxpayer);
    const tokens = certificateTokens(ports, { env, account: caller.accountId, rnc: taxpayer.rnc, certificate });
    await tokenOrWait(ports, destination, tokens, mayWait);
  }

  /**
   * Null if the number went to another document, or its range expired, meanwhile. A failure gives the number back; an
   * unconfirmed commit keeps it until the reservation ends.
   */
  async function issueUnder(
    { encf, expiry, drawn }: DrawnNumber,
    parties: Parties,
    { read }: Pick<OpenInvoice, 'read'>,
  ): Promise<IssuedJson | null> {
    try {
      await ports.checkpoint('drawn');
      const { invoice } = await read({ encf, expiry });
      return await numbered.issue(parties, invoice, { drawn, idempotencyKey: null }, false);
    } catch (error) {
      if (error instanceof CommitUnconfirmed) throw error;
      await ports.numbers.giveBack(drawn.token).catch((failure) => {
        ports.observer.failed('giving a number back, which is free when its reservation ends', failure);
      });
      if (error instanceof NumberLost || isExpired(error)) return null;
      throw error;
    }
  }
}

function isExpired(error: unknown): boolean {
  const faults = error instanceof EmissionError ? (error.faults ?? []) : [];
  return faults.some(({ rule }) => rule === ISSUING_RULES.numberExpired.name);
}
