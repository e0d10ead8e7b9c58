/** How long a seed may be answered. The authority publishes no figure; receivers in the field use this one. */
const LIFETIME_MS = 5 * 60_000;

/** Seeds that wait for their signature: each is good for one answer, in the place that gave it. */
export class Seeds {
  readonly #waiting = new Map<string, { readonly scope: string; readonly expiresAt: number }>();
  readonly #randomBytes: (length: number) => Buffer;

  constructor(randomBytes: (length: number) => Buffer) {
    this.#randomBytes = randomBytes;
  }

  /** @param scope the environment or service that gives the seed */
  issue(scope: string, now: Date): string {
    for (const [value, seed] of this.#waiting) {
      if (seed.expiresAt > now.getTime()) break;
      this.#waiting.delete(value);
    }
    const value = this.#randomBytes(96).toString('base64');
    this.#waiting.set(value, { scope, expiresAt: now.getTime() + LIFETIME_MS });
    return value;
  }

  /** Uses a seed up. False: it is unknown, of another scope, used before or too old. */
  redeem(scope: string, value: string, now: Date): boolean {
    const seed = this.#waiting.get(value);
    if (!seed || seed.scope !== scope) return false;
    this.#waiting.delete(value);
    return seed.expiresAt > now.getTime();
  }
}
