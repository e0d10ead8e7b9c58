import { createPrivateKey } from 'node:crypto';
import { openCertificate, type SigningCertificate } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import type { DocumentFacts } from '../ledger/document-facts.js';
import type { Simulation } from '../simulation.js';

/** The RNC under which the counterpart issues. Source: captured messages of the authority's own counterpart. */
export const PROVIDER_RNC = '131880738';
/** The RNC under which the sandbox's directory lists it as a receiver. */
export const RECEIVER_RNC = '131880681';

const TEN_YEARS_MS = 10 * 365 * 86_400_000;

/** The counterpart's certificate, made when it is first needed. */
export class CounterpartIdentity {
  readonly #clock: () => Date;
  #certificate: SigningCertificate | null = null;

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  get certificate(): SigningCertificate {
    this.#certificate ??= this.#make();
    return this.#certificate;
  }

  #make(): SigningCertificate {
    const now = this.#clock();
    const span = { notBefore: new Date(now.getTime() - 86_400_000), notAfter: new Date(now.getTime() + TEN_YEARS_MS) };
    const authority = createCertificateAuthority({ commonName: 'SIMULADOR EMISOR RECEPTOR CA', ...span });
    const password = 'simulador';
    const { p12 } = authority.issue({
      commonName: 'SIMULADOR EMISOR RECEPTOR',
      holderId: '00199999996',
      rnc: PROVIDER_RNC,
      password,
      // It uses the key of its authority: no test distinguishes the two, and creating another takes time.
      key: createPrivateKey(authority.key),
      ...span,
    });
    return openCertificate(p12, password, now);
  }
}

/** The documents of the counterpart, by `<RNC of the other side>|<eNCF>`. */
interface CounterpartState {
  /** e-CF that it issued, with the answer of the receiver. */
  readonly issued: Map<string, { readonly facts: DocumentFacts; readonly receipt: ReceiptRecord }>;
  /** e-CF that it acknowledged. */
  readonly received: Map<string, DocumentFacts>;
  lastSequence: number;
}

export interface ReceiptRecord {
  readonly estado: string;
  readonly mensajes: readonly string[];
}

/** The dependencies that the counterpart's operations share. */
export interface Counterpart extends Pick<Simulation, 'ledger' | 'facts' | 'signatures' | 'clock' | 'newId'> {
  readonly identity: CounterpartIdentity;
  readonly state: CounterpartState;
}
