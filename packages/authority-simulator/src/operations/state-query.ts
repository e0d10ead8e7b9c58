import { mayActFor } from '../authentication/delegation.js';
import { type Answer, type Handler, sentenceAnswer } from '../http/call.js';
import type { DocumentFacts } from '../ledger/document-facts.js';
import { isDecided, type Submission } from '../ledger/submission.js';
import type { Simulation } from '../simulation.js';
import { NOT_FOUND, statusWord, type Verdict } from '../verdicts/verdict.js';
import { forced } from './result-query.js';

type StateQuery = Pick<Simulation, 'ledger' | 'facts' | 'taxpayers' | 'clock'>;

const CODE_NEEDED = 'Para consultar el estado de esta factura, es necesario completar el campo Cod_Seguridad.';

/**
 * State of an e-CF by its data, for its issuer or its buyer. A summary's code is obligatory; whatever else is given has
 * to fit. A conditional acceptance shows as such only for a summary. Source: technical description pp.21-24.
 */
export function queryState(services: StateQuery): Handler {
  return ({ env, query, holder, fault }) => {
    const rnc = query.get('rncemisor', 'rnc_emisor');
    const encf = query.get('ncfelectronico', 'encf')?.toUpperCase() ?? null;
    if (rnc === null) return sentenceAnswer(400, 'El campo RNC Emisor es requerido.');
    if (encf === null) return sentenceAnswer(400, 'El campo NCF Electronico es requerido.');
    const code = query.get('codigoseguridad', 'cod_seguridad');
    if (encf.startsWith('E32') && code === null) return sentenceAnswer(400, CODE_NEEDED);
    const submission = latestDecided(services, env, rnc, encf);
    const facts = submission && readable(services, submission);
    const buyer = query.get('rnccomprador', 'rnc_comprador');
    const fits =
      facts &&
      (code === null || facts.securityCode === code) &&
      (buyer === null || facts.buyer === buyer) &&
      maySee(services, holder ?? '', rnc, facts.buyer);
    if (!submission || !fits) return stateAnswer(rnc, encf, NOT_FOUND, null);
    return stateAnswer(rnc, encf, forced(fault, asShown(submission)), facts);
  };
}

/** The document that holds the number, else the latest one that was decided. */
export function latestDecided(
  { ledger, clock }: Pick<Simulation, 'ledger' | 'clock'>,
  env: Submission['env'],
  rnc: string,
  encf: string,
): Submission | null {
  const now = clock().getTime();
  const decided = ledger.numbers.of(env, rnc, encf).filter((submission) => isDecided(submission, now));
  return decided.find((submission) => submission.effective) ?? decided.at(-1) ?? null;
}

/** Facts of a document; null for one that was refused because it cannot be read. */
function readable({ facts }: StateQuery, submission: Submission): DocumentFacts | null {
  return submission.encf === null ? null : facts.of(submission);
}

function maySee({ taxpayers }: StateQuery, holder: string, issuer: string, buyer: string | null): boolean {
  return mayActFor(taxpayers, holder, issuer) || (buyer !== null && mayActFor(taxpayers, holder, buyer));
}

function asShown({ operation, verdict }: Submission): Verdict {
  if (verdict.code !== '4' || operation === 'recepcionfc') return verdict;
  return { ...verdict, code: '1', status: statusWord('1') ?? '' };
}

function stateAnswer(rnc: string, encf: string, { code, status }: Verdict, facts: DocumentFacts | null): Answer {
  const value = {
    codigo: Number(code),
    estado: status,
    rncEmisor: rnc,
    ncfElectronico: encf,
    montoTotal: Number(facts?.total ?? 0),
    totalITBIS: Number(facts?.itbis ?? 0),
    fechaEmision: facts?.issueDate ?? null,
    fechaFirma: facts?.signedAt ?? null,
    rncComprador: facts?.buyer ?? null,
    codigoSeguridad: facts?.securityCode ?? null,
    idExtranjero: facts?.foreignBuyer ?? null,
  };
  return { status: 200, body: { root: 'RespuestaConsultaEstado', value } };
}
