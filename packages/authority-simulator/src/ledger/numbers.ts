import type { Environment } from '@ecf/domain';
import type { AnnulledRange, Submission } from './submission.js';

/** The used numbers with their submissions, and the annulled ones. A type 32 shares its numbers with its summary. */
export class Numbers {
  readonly #submissions = new Map<string, Submission[]>();
  readonly #annulled = new Map<string, AnnulledRange[]>();
  /** Notes by the document that they modify. */
  readonly #notes = new Map<string, Submission[]>();

  add(submission: Submission): void {
    const { env, rnc, encf, reference } = submission;
    if (rnc === null || encf === null) return;
    push(this.#submissions, key(env, rnc, encf), submission);
    if (reference && submission.effective) push(this.#notes, key(env, reference.rnc, reference.encf), submission);
  }

  annul(env: Environment, rnc: string, ranges: readonly AnnulledRange[]): void {
    for (const range of ranges) push(this.#annulled, key(env, rnc, range.type), range);
  }

  /** Everything that came under a number, oldest first. */
  of(env: Environment, rnc: string, encf: string): readonly Submission[] {
    return this.#submissions.get(key(env, rnc, encf)) ?? [];
  }

  /** The submission that the number belongs to. */
  holder(env: Environment, rnc: string, encf: string): Submission | null {
    return this.of(env, rnc, encf).find((submission) => submission.effective) ?? null;
  }

  /** Notes that hold their own number and modify this document, oldest first. */
  notesOn(env: Environment, rnc: string, encf: string): readonly Submission[] {
    return this.#notes.get(key(env, rnc, encf)) ?? [];
  }

  isAnnulled(env: Environment, rnc: string, type: string, sequence: number): boolean {
    return this.annulledIn(env, rnc, type).some(({ from, to }) => from <= sequence && sequence <= to);
  }

  annulledIn(env: Environment, rnc: string, type: string): readonly AnnulledRange[] {
    return this.#annulled.get(key(env, rnc, type)) ?? [];
  }

  /** The used numbers of an issuer, each as a range of one. */
  taken(env: Environment, rnc: string): AnnulledRange[] {
    const taken: AnnulledRange[] = [];
    const start = key(env, rnc, 'E');
    for (const [name, submissions] of this.#submissions) {
      if (!name.startsWith(start) || !submissions.some((submission) => submission.effective)) continue;
      const sequence = Number(name.slice(start.length + 2));
      taken.push({ type: name.slice(start.length, start.length + 2), from: sequence, to: sequence });
    }
    return taken;
  }

  /** Frees every number of an issuer. */
  forget(env: Environment, rnc: string): void {
    const start = key(env, rnc, '');
    for (const map of [this.#submissions, this.#annulled, this.#notes])
      for (const name of map.keys()) if (name.startsWith(start)) map.delete(name);
  }

  clear(): void {
    this.#submissions.clear();
    this.#annulled.clear();
    this.#notes.clear();
  }
}

function key(env: Environment, rnc: string, of: string): string {
  return `${env}|${rnc}|${of}`;
}

function push<T>(map: Map<string, T[]>, name: string, value: T): void {
  const list = map.get(name);
  if (list) list.push(value);
  else map.set(name, [value]);
}
