import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { ENVIRONMENTS, type Environment, toIsoDominican } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import type { TrustCheck } from '@ecf/public-ingress/signed-document';
import type { CertificateFacts } from '@ecf/xml-signing';
import type { SeedValidation, SpentSeeds } from './ports.js';
import { seedRefused } from './signed-seed.js';

/** Field receivers keep seeds for five minutes. */
export const SEED_LIFE_MS = 5 * 60_000;
/** The clocks of two instances may differ by this much. */
const SKEW_MS = 30_000;

const NONCE = 16;
const BODY = NONCE + 8 + 1;
const MAC = 32;

/**
 * Seeds of the sender's authentication (semilla). A seed contains its time, its environment and an authentication code, so
 * issuing seeds stores nothing. Only seeds that were exchanged for a token are stored, until they expire.
 *
 * @param keys of the authentication code, the newest first; it makes new codes, and codes of any of them are accepted
 */
export function createSeeds(
  ports: { spent: SpentSeeds; validation: SeedValidation; clock: () => Date },
  keys: readonly [Uint8Array, ...Uint8Array[]],
  trust: TrustCheck,
  random: (size: number) => Buffer = randomBytes,
) {
  const [newest] = keys;

  /** A new seed as XML, the authority's SemillaModel. */
  function issue(env: Environment): string {
    const now = ports.clock();
    const body = Buffer.alloc(BODY);
    random(NONCE).copy(body);
    body.writeBigUInt64BE(BigInt(now.getTime()), NONCE);
    body.writeUInt8(ENVIRONMENTS.indexOf(env), NONCE + 8);
    const valor = Buffer.concat([body, mac(newest, body)]).toString('base64');
    return `<?xml version="1.0" encoding="utf-8"?>${writeXml({ SemillaModel: { valor, fecha: seedTime(now) } }).output}`;
  }

  /**
   * Checks a signed seed, spends it, and resolves with the result of `use` on the certificate that signed it.
   * Throws ReceptionError `seed_refused`, or `overloaded` if too many documents wait for validation.
   */
  async function redeem<R>(
    bytes: Uint8Array,
    env: Environment,
    use: (certificate: CertificateFacts) => Promise<R>,
  ): Promise<R> {
    const now = ports.clock();
    const { valor, certificate } = await ports.validation.seed(bytes, now);
    const { id, issuedAt } = openSeed(valor, env);
    const age = now.getTime() - issuedAt;
    if (age > SEED_LIFE_MS)
      throw seedRefused('The seed is older than five minutes; request a new one.', 'seed.expired');
    if (age < -SKEW_MS) throw seedRefused('The seed is from the future.', 'seed.unknown');
    if (!certificate.valid_at_signing) {
      throw seedRefused(
        `The certificate is valid from ${certificate.not_before} to ${certificate.not_after}, not now.`,
        'seed.certificate_not_valid',
      );
    }
    const { doubt } = trust(certificate, now, now);
    if (doubt !== null) throw seedRefused(doubt, 'seed.certificate_not_trusted');
    if (!(await ports.spent.spend(id, new Date(issuedAt + SEED_LIFE_MS + SKEW_MS)))) {
      throw seedRefused('The seed was used before; request a new one.', 'seed.used');
    }
    return use(certificate);
  }

  function openSeed(valor: string, env: Environment): { id: string; issuedAt: number } {
    const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(valor) ? Buffer.from(valor, 'base64') : Buffer.alloc(0);
    const body = bytes.subarray(0, BODY);
    if (bytes.length !== BODY + MAC || !keys.some((key) => timingSafeEqual(bytes.subarray(BODY), mac(key, body)))) {
      throw seedRefused('The seed is not one of this receiver.', 'seed.unknown');
    }
    const seedEnv = ENVIRONMENTS[body.readUInt8(NONCE + 8)];
    if (seedEnv !== env)
      throw seedRefused(`The seed is of ${seedEnv}, the request of ${env}.`, 'seed.other_environment');
    return { id: body.subarray(0, NONCE).toString('hex'), issuedAt: Number(body.readBigUInt64BE(NONCE)) };
  }

  function mac(key: Uint8Array, body: Uint8Array): Buffer {
    return createHmac('sha256', key).update(body).digest();
  }

  return { issue, redeem };
}

export type Seeds = ReturnType<typeof createSeeds>;

/** xs:dateTime as the authority writes it, with seven fractional digits. */
function seedTime(now: Date): string {
  const fraction = String(now.getUTCMilliseconds()).padStart(3, '0');
  return toIsoDominican(now).replace('-04:00', `.${fraction}0000-04:00`);
}
