import { z } from 'zod';

/**
 * The certificate that signed a received document, acknowledgement or approval. Anybody can make a certificate: its texts prove
 * nothing unless `trusted` or `known` is true.
 */
export const signerSchema = z.object({
  subject: z.string(),
  serial_number: z.string(),
  issuer: z.string(),
  fingerprint: z.string().describe('SHA-256 of the certificate in hexadecimal'),
  trusted: z
    .boolean()
    .nullable()
    .describe(
      'Whether the certificate led to an issuer of TRUSTED_ISSUERS_FILE when the document was received; null if no file is set',
    ),
  known: z
    .boolean()
    .describe(
      'Whether the RNC that the document names as its signer used this key before in a document that the authority confirmed; or another certificate of the same holder, both from trusted issuers',
    ),
});
export type Signer = z.infer<typeof signerSchema>;
