import { writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import type { Seed } from '../answers/verdicts.js';

/** Signs seeds with a key that is held elsewhere. */
export interface SeedSigner {
  /** Fingerprint of its certificate. */
  readonly fingerprint: string;
  /** The seed as {@link signSeed} makes it. */
  signSeed(seed: Seed): Promise<string>;
}

/** The seed as a signed document. It came pretty-printed; it is signed compact, as its canonical form must be sent. */
export async function signSeed(seed: Seed, by: SigningCertificate | SeedSigner): Promise<string> {
  if ('signSeed' in by) return by.signSeed(seed);
  const written = writeXml({ SemillaModel: { valor: seed.value, fecha: seed.date } });
  return (await signXml(written, by)).xml;
}
