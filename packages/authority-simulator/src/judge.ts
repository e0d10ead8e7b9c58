import type { Environment } from '@ecf/domain';
import { Query } from './http/call.js';
import { CertificationSets } from './ledger/certification-sets.js';
import { DocumentReader } from './ledger/document-facts.js';
import { Journal } from './ledger/journal.js';
import { Ledger } from './ledger/ledger.js';
import { TaxpayerRegister } from './ledger/taxpayer-register.js';
import type { TaxpayerEntry } from './ledger/taxpayers.js';
import { receiveApproval } from './operations/commercial-approval.js';
import { receiveSummary } from './operations/consumer-reception.js';
import { receiveEcf } from './operations/reception.js';
import type { Verdict } from './verdicts/verdict.js';

export type { NumberRange, TaxpayerEntry } from './ledger/taxpayers.js';
export type { Verdict } from './verdicts/verdict.js';

/** A signed document as it would arrive at the authority. */
export interface JudgedDocument {
  /** The operation that receives it: e-CF, consumer summary (RFCE) or commercial approval (ACECF). */
  readonly operation: 'recepcion' | 'recepcionfc' | 'aprobacioncomercial';
  readonly env: Environment;
  readonly filename: string;
  readonly bytes: Uint8Array;
}

/** The simulator's verdicts without a server and without files. Documents that were judged before count as received. */
export interface Judge {
  judge(document: JudgedDocument): Promise<Verdict>;
}

/**
 * A judge for the documents of these taxpayers. As in the simulator, every RNC that is not registered is an active issuer with all
 * numbers, and any certificate whose key verifies is accepted.
 */
export function createJudge(taxpayers: readonly TaxpayerEntry[], clock: () => Date = () => new Date()): Judge {
  const journal = new Journal(null);
  const ledger = new Ledger(journal);
  const register = new TaxpayerRegister(journal);
  for (const taxpayer of taxpayers) register.put(taxpayer);
  let lastTrackId = 0;
  const services = {
    ledger,
    taxpayers: register,
    facts: new DocumentReader(ledger),
    certification: new CertificationSets(false, journal),
    signatures: { strict: false },
    processingMs: 0,
    clock,
    newId: () => String(++lastTrackId),
  };
  const operations = {
    recepcion: receiveEcf(services),
    recepcionfc: receiveSummary(services),
    aprobacioncomercial: receiveApproval(services),
  };
  return {
    async judge({ operation, env, filename, bytes }) {
      const upload = { filename, bytes: Buffer.from(bytes) };
      const call = { env, upload, body: upload.bytes, query: new Query(''), headers: {}, holder: null, fault: null };
      const { noted } = await operations[operation](call);
      if (noted === undefined) throw new Error(`The simulator has noted nothing of ${filename}.`);
      return noted.verdict;
    },
  };
}
