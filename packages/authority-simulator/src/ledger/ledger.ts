import { hash } from 'node:crypto';
import type { Environment } from '@ecf/domain';
import { ACCEPTED } from '../verdicts/verdict.js';
import type { Journal, JournalEntry } from './journal.js';
import { Numbers } from './numbers.js';
import type { NewSubmission, Place, Submission } from './submission.js';

interface SubmissionFilter {
  readonly rnc?: string | null;
  readonly encf?: string | null;
  readonly operation?: string | null;
}

/** Every document that arrived, in order. Its bytes are in the journal only, written before `note` returns. */
export class Ledger {
  readonly #journal: Journal;
  readonly #byId = new Map<number, Submission>();
  readonly #byTrackId = new Map<string, Submission>();
  readonly #approvals = new Map<string, Submission>();
  readonly numbers = new Numbers();
  #lastId = 0;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Stores a document with its verdict. The journal counts it as answered unless a later entry says otherwise. */
  note(entry: NewSubmission, bytes: Uint8Array): Submission {
    const { rnc = null, buyer = null, encf = null, reference = null } = entry;
    const known = {
      id: this.#lastId + 1,
      trackId: null,
      decidedAt: entry.receivedAt,
      heldBy: null,
      annulled: null,
      ...entry,
      rnc: detached(rnc),
      buyer: detached(buyer),
      encf: detached(encf),
      filename: detached(entry.filename),
      reference: reference && {
        rnc: detached(reference.rnc),
        encf: detached(reference.encf),
        total: detached(reference.total),
      },
      sha256: hash('sha256', bytes, 'hex'),
    };
    const place = this.#journal.append({ t: 'submission', ...known, xml: Buffer.from(bytes).toString('base64') });
    const submission = { ...known, answered: false, place };
    this.#index(submission);
    return submission;
  }

  /** The answer to a submission has left, or has not and will not. */
  answered(submission: Submission, left: boolean): void {
    submission.answered = left;
    if (!left) this.#journal.append({ t: 'unanswered', id: submission.id });
  }

  find(id: number): Submission | null {
    return this.#byId.get(id) ?? null;
  }

  byTrackId(env: Environment, trackId: string): Submission | null {
    const submission = this.#byTrackId.get(trackId.toLowerCase());
    return submission?.env === env ? submission : null;
  }

  /** The approval that the authority took for an e-CF. */
  approvalOf(env: Environment, rnc: string, encf: string): Submission | null {
    return this.#approvals.get(`${env}|${rnc}|${encf}`) ?? null;
  }

  bytesOf(submission: Submission): Buffer {
    const entry = this.#journal.read(submission.place);
    return Buffer.from(entry.t === 'submission' ? entry.xml : '', 'base64');
  }

  *list(filter: SubmissionFilter = {}): Generator<Submission> {
    for (const submission of this.#byId.values()) if (passes(submission, filter)) yield submission;
  }

  /** Lets documents that a fault keeps in process be decided (null: those of every fault); says whether there were any. */
  release(fault: string | null, at: number): boolean {
    let released = false;
    for (const submission of this.#byId.values()) {
      if (submission.heldBy === null || (fault !== null && submission.heldBy !== fault)) continue;
      submission.heldBy = null;
      released = true;
    }
    if (released) this.#journal.append({ t: 'released', fault, at });
    return released;
  }

  /**
   * Frees the numbers of a taxpayer and forgets its approvals, given and received. The documents stay, and their trackIds answer
   * as before.
   */
  restart(env: Environment, rnc: string): void {
    this.#journal.append({ t: 'restarted', env, rnc });
    this.#free(env, rnc);
  }

  /** Deletes all documents; the numbering of submissions continues. */
  clear(): void {
    this.#journal.forgetDocuments();
    this.#byId.clear();
    this.#byTrackId.clear();
    this.#approvals.clear();
    this.numbers.clear();
  }

  #free(env: Environment, rnc: string): void {
    this.numbers.forget(env, rnc);
    for (const [name, approval] of this.#approvals)
      if (approval.env === env && (approval.rnc === rnc || approval.buyer === rnc)) this.#approvals.delete(name);
  }

  /** Takes up an entry of the journal at the start; other kinds of entries are ignored. */
  replay(entry: JournalEntry, place: Place): void {
    if (entry.t === 'submission') {
      const { t: _, xml: __, ...known } = entry;
      // All acceptances share one object, as while they were made.
      const { verdict } = known;
      const submission = { ...known, answered: true, place };
      this.#index(
        verdict.code === '1' && isFiller(verdict.messages) ? { ...submission, verdict: ACCEPTED } : submission,
      );
    } else if (entry.t === 'unanswered') {
      const submission = this.#byId.get(entry.id);
      if (submission) submission.answered = false;
    } else if (entry.t === 'restarted') {
      this.#free(entry.env, entry.rnc);
    } else if (entry.t === 'released') {
      for (const submission of this.#byId.values()) {
        if (entry.fault === null || submission.heldBy === entry.fault) submission.heldBy = null;
      }
    }
  }

  #index(submission: Submission): void {
    this.#lastId = Math.max(this.#lastId, submission.id);
    this.#byId.set(submission.id, submission);
    if (submission.trackId !== null) this.#byTrackId.set(submission.trackId.toLowerCase(), submission);
    const { operation, env, rnc, encf } = submission;
    if (operation === 'recepcion' || operation === 'recepcionfc') this.numbers.add(submission);
    if (submission.annulled && rnc !== null) this.numbers.annul(env, rnc, submission.annulled);
    if (operation === 'aprobacioncomercial' && submission.effective && rnc !== null && encf !== null) {
      this.#approvals.set(`${env}|${rnc}|${encf}`, submission);
    }
  }
}

/** A piece of text that was cut out of a document would keep the whole document in memory; its copy does not. */
function detached<T extends string | null>(text: T): T {
  return (text === null ? null : Buffer.from(text, 'utf8').toString('utf8')) as T;
}

function isFiller(messages: Submission['verdict']['messages']): boolean {
  return messages.length === 1 && messages[0]?.text === '' && messages[0].code === '0';
}

function passes(submission: Submission, { rnc, encf, operation }: SubmissionFilter): boolean {
  if (operation && submission.operation !== operation) return false;
  if (rnc && submission.rnc !== rnc && submission.buyer !== rnc) return false;
  if (!encf || submission.encf === encf) return true;
  const type = encf.slice(1, 3);
  const sequence = Number(encf.slice(3));
  return (submission.annulled ?? []).some(
    (range) => range.type === type && range.from <= sequence && sequence <= range.to,
  );
}
