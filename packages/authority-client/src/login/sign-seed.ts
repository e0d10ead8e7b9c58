import { writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import type { Seed } from '../answers/verdicts.js';

/** The seed as a signed document. It came pretty-printed; it is signed compact, as its canonical form must be sent. */
export async function signSeed(seed: Seed, certificate: SigningCertificate): Promise<string> {
  const written = writeXml({ SemillaModel: { valor: seed.value, fecha: seed.date } });
  return (await signXml(written, certificate)).xml;
}
