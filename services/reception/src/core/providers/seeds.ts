import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { ENVIRONMENTS, type Environment, groupOf, textOf, toIsoDominican } from '@ecf/domain';
import { readXml, writeXml, XmlRefused } from '@ecf/ecf-xml';
import { type Gate, isQuicklyJudged, parseReceived, type TrustCheck, type Turns } from '@ecf/public-door';
import { type CertificateFacts, verifyXml } from '@ecf/xml-signing';
import { ReceptionError } from '../errors.js';
import type { SpentSeeds } from '../ports.js';

/** Field receivers keep seeds for five minutes. */
export const SEED_LIFE_MS = 5 * 60_000;
/** Clocks of two instances may differ by that much. */
const SKEW_MS = 30_000;
/** A signed seed is a few kilobytes, most of it certificates. */
const MAX_SEED_BYTES = 32 * 1024;

const NONCE = 16;
const BODY = NONCE + 8 + 1;
const MAC = 32;

/**
 * Seeds of the sender's authentication (semilla). A seed carries its own time, environment and proof that it is ours, so
 * that asking for seeds leaves nothing behind here; only seeds that bought a token are remembered, until they expire.
 */
export class Seeds {
  constructor(
    private readonly ports: { spent: SpentSeeds; clock: () => Date; turns: Turns; gate: Gate },
    private readonly key: Uint8Array,
    private readonly trust: TrustCheck,
    private readonly random: (size: number) => Buffer = randomBytes,
  ) {}

  /** A new seed as XML, the authority's SemillaModel. */
  issue(env: Environment): string {
    const now = this.ports.clock();
    const body = Buffer.alloc(BODY);
    this.random(NONCE).copy(body);
    body.writeBigUInt64BE(BigInt(now.getTime()), NONCE);
    body.writeUInt8(ENVIRONMENTS.indexOf(env), NONCE + 8);
    const valor = Buffer.concat([body, this.#mac(body)]).toString('base64');
    return `<?xml version="1.0" encoding="utf-8"?>${writeXml({ SemillaModel: { valor, fecha: seedTime(now) } }).output}`;
  }

  /**
   * Checks a signed seed and spends it for what `use` makes of the certificate that signed it; resolves with that. Seeds wait their
   * turn and take a place of the gate like documents, so that who redeems many keeps nobody waiting.
   * @param sender network of the sender, what limits count by
   * Throws ReceptionError `seed_refused`, ApiError where too much waits.
   */
  async redeem<R>(
    bytes: Uint8Array,
    env: Environment,
    sender: string,
    use: (certificate: CertificateFacts) => Promise<R>,
  ): Promise<R> {
    const now = this.ports.clock();
    const read = () => readSignedSeed(bytes, now);
    const { valor, certificate } = await this.ports.turns.take(sender, bytes.length, read);
    const { id, issuedAt } = this.#open(valor, env);
    const age = now.getTime() - issuedAt;
    if (age > SEED_LIFE_MS) throw refused('The seed is older than five minutes; ask for a new one.', 'seed.expired');
    if (age < -SKEW_MS) throw refused('The seed is from the future.', 'seed.unknown');
    if (!certificate.valid_at_signing) {
      throw refused(
        `The certificate is valid from ${certificate.not_before} to ${certificate.not_after}, not now.`,
        'seed.certificate_not_valid',
      );
    }
    const distrust = this.trust(certificate, now);
    if (distrust !== null) throw refused(distrust, 'seed.certificate_not_trusted');
    return this.ports.gate.pass(sender, bytes.length, async () => {
      if (!(await this.ports.spent.spend(id, new Date(issuedAt + SEED_LIFE_MS + SKEW_MS)))) {
        throw refused('The seed was used before; ask for a new one.', 'seed.used');
      }
      return use(certificate);
    });
  }

  #open(valor: string, env: Environment): { id: string; issuedAt: number } {
    const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(valor) ? Buffer.from(valor, 'base64') : Buffer.alloc(0);
    const body = bytes.subarray(0, BODY);
    if (bytes.length !== BODY + MAC || !timingSafeEqual(bytes.subarray(BODY), this.#mac(body))) {
      throw refused('The seed is not one of this receiver.', 'seed.unknown');
    }
    const seedEnv = ENVIRONMENTS[body.readUInt8(NONCE + 8)];
    if (seedEnv !== env) throw refused(`The seed is of ${seedEnv}, the request of ${env}.`, 'seed.other_environment');
    return { id: body.subarray(0, NONCE).toString('hex'), issuedAt: Number(body.readBigUInt64BE(NONCE)) };
  }

  #mac(body: Uint8Array): Buffer {
    return createHmac('sha256', this.key).update(body).digest();
  }
}

function readSignedSeed(bytes: Uint8Array, now: Date): { valor: string; certificate: CertificateFacts } {
  try {
    // Seeds are judged where everybody is answered; a real one has some twenty elements.
    if (bytes.length <= MAX_SEED_BYTES && !isQuicklyJudged(bytes)) {
      throw refused('The document has more tags or namespace declarations than any seed.', 'seed.too_costly');
    }
    const xml = parseReceived(bytes, MAX_SEED_BYTES);
    if (xml.rootName !== 'SemillaModel') throw refused('This is no SemillaModel.', 'seed.not_a_seed');
    const { reason, certificate, verified } = verifyXml(xml, now);
    if (certificate === null || verified === null) {
      throw refused(`The signature does not hold: ${reason?.message ?? 'it cannot be verified'}`, 'seed.signature');
    }
    const valor = textOf(groupOf(readXml(verified), 'SemillaModel'), 'valor')?.trim() ?? '';
    return { valor, certificate };
  } catch (error) {
    if (error instanceof XmlRefused) throw refused(error.message, `seed.xml_${error.code}`, error);
    throw error;
  }
}

/** xs:dateTime as the authority writes it, with seven fractional digits. */
function seedTime(now: Date): string {
  const fraction = String(now.getUTCMilliseconds()).padStart(3, '0');
  return toIsoDominican(now).replace('-04:00', `.${fraction}0000-04:00`);
}

function refused(message: string, kind: string, cause?: unknown): ReceptionError {
  return new ReceptionError('seed_refused', message, kind, cause === undefined ? {} : { cause });
}
