import type { Judge, JudgedDocument, Verdict } from '@ecf/authority-simulator/judge';
import type { AuthorityMessage } from '@ecf/contracts';
import type { Fault } from '@ecf/domain';
import { parseXml, XmlRefused } from '@ecf/ecf-xml';
import { verifyXml } from '@ecf/xml-signing';
import { examine } from '../check/examine.js';

/** What the authority or the simulator says about a document, in the words of the gateway's interface. */
export interface Opinion {
  readonly status: string;
  /** `codigo` without leading zeros; the empty message of an acceptance is left out. */
  readonly messages: readonly AuthorityMessage[];
  /** Whether the number is used; null if that was not said. */
  readonly sequence_used: boolean | null;
}

/** What our rules say about the signed bytes: schema, business rules and signature. */
export interface RulesOpinion {
  readonly valid: boolean;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

/** An opinion with its messages in the form in which they are compared. */
export function opinion(status: string, messages: readonly AuthorityMessage[], sequence_used: boolean | null): Opinion {
  const kept = messages.filter(({ codigo, valor }) => codigo !== 'gateway' && (Number(codigo) !== 0 || valor !== ''));
  return { status, messages: kept.map((each) => ({ ...each, codigo: plainCode(each.codigo) })), sequence_used };
}

/** The result query has numbers for codes, the consumer reception has text: `004` and `4` are the same code. */
function plainCode(code: string): string {
  return /^\d+$/.test(code) ? String(Number(code)) : code;
}

const STATUS: Readonly<Record<number, string>> = { 1: 'Aceptado', 2: 'Rechazado', 4: 'AceptadoCondicional' };

/** The simulator's verdict about the bytes. */
export async function simulatorOpinion(judge: Judge, document: JudgedDocument): Promise<Opinion> {
  const { code, messages, sequenceUsed }: Verdict = await judge.judge(document);
  const texts = messages.map(({ code: codigo, text: valor }) => ({ codigo, valor }));
  return opinion(STATUS[Number(code)] ?? code, texts, sequenceUsed);
}

/** What our rules say about all documents that were sent for one number: an e-CF, or also its summary. */
export function rulesOpinion(documents: readonly Uint8Array[], now: Date): RulesOpinion {
  const faults: Fault[] = [];
  const warnings: Fault[] = [];
  for (const bytes of documents) {
    const verdict = examine(bytes, { now, strict: false });
    faults.push(...verdict.faults, ...signatureFaults(bytes));
    warnings.push(...verdict.warnings);
  }
  return { valid: faults.length === 0, faults, warnings };
}

function signatureFaults(bytes: Uint8Array): Fault[] {
  try {
    const { reason } = verifyXml(parseXml(bytes));
    if (reason === null) return [];
    const source = 'XML Signature';
    return [
      { path: 'Signature', rule: 'signature.invalid', code: null, message: reason.message, source, severity: 'error' },
    ];
  } catch (error) {
    // `examine` has named the fault.
    if (error instanceof XmlRefused) return [];
    throw error;
  }
}

/** Where the authority differs from our rules and from the simulator, each as a sentence. */
export function differences(authority: Opinion, rules: RulesOpinion, simulator: Opinion): string[] {
  const found: string[] = [];
  const isRejected = authority.status === 'Rechazado';
  if (rules.valid === isRejected)
    found.push(
      isRejected
        ? 'our rules find no fault in what the authority rejects'
        : 'our rules refuse what the authority accepts',
    );
  if (authority.status !== simulator.status)
    return [...found, `the authority ${verb(authority)} it, the simulator ${verb(simulator)} it`];
  const [ours, theirs] = [codes(simulator), codes(authority)];
  if (ours !== theirs) found.push(`the authority gives ${theirs}, the simulator ${ours}`);
  if (isRejected && authority.sequence_used !== null && authority.sequence_used !== simulator.sequence_used)
    found.push(
      `the number is ${authority.sequence_used ? 'used' : 'free'} for the authority and ${simulator.sequence_used ? 'used' : 'free'} for the simulator`,
    );
  return found;
}

const VERBS: Readonly<Record<string, string>> = {
  Aceptado: 'accepts',
  AceptadoCondicional: 'conditionally accepts',
  Rechazado: 'rejects',
};

function verb({ status }: Opinion): string {
  return VERBS[status] ?? `says ${status} of`;
}

function codes({ messages }: Opinion): string {
  const distinct = [...new Set(messages.map(({ codigo }) => codigo))].sort();
  return distinct.length === 0 ? 'no code' : `code ${distinct.join(', ')}`;
}
