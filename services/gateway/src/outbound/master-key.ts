import { ConfigError } from '@ecf/service-kit/config';
import { SealError, unseal } from '@ecf/service-kit/security';
import type { PrismaClient } from '../generated/prisma/client.js';

/** A MASTER_KEY other than the one that sealed the stored certificates would be noticed only when the first invoice fails. */
export async function requireMasterKey(prisma: PrismaClient, masterKey: Uint8Array): Promise<void> {
  const sample = await prisma.certificate.findFirst({ select: { rnc: true, sealed: true } });
  if (sample === null) return;
  try {
    unseal(masterKey, sample.sealed, sample.rnc);
  } catch (error) {
    if (!(error instanceof SealError) || error.code !== 'other_key') throw error;
    const message = 'is not the key that the stored certificates were sealed with; restore that key';
    throw new ConfigError([{ variable: 'MASTER_KEY', message }]);
  }
}
