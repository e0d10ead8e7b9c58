import { z } from 'zod';
import {
  encfSchema,
  environmentSchema,
  givenTrackIdSchema,
  rncSchema,
  runSchema,
  timestampSchema,
} from '../../values.js';
import { ISSUER, TRACK_ID } from '../examples.js';
import { type AdminOperation, AUTHORITY_ERRORS, BODY_ERRORS, operations } from '../operation.js';

/** A document that needs a person. */
const alarmedDocumentSchema = z.object({
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
  run: runSchema.describe('The certification run of the issuer; 1 in eCF'),
  account_id: z.string(),
  state: z.string(),
  alarm: z
    .string()
    .describe('Why a person must look at it: no-query, no-certificate, document-lost, overdue, contingency-late'),
  committed_at: timestampSchema.describe('When the document was stored'),
});

/** The query of `GET /admin/documents/alarmed`. */
export const alarmedFilterSchema = z.object({
  env: environmentSchema.optional().describe('Only this environment.'),
  issuer_rnc: rncSchema.optional().describe('Only this issuer.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('Maximum number of rows in the response.'),
  after: z.coerce.number().int().nonnegative().default(0).describe('Where to continue: `next` of a page.'),
});

/** In the order of their submission; `next` is null at the end. */
export const alarmedPageSchema = z.object({
  documents: z.array(alarmedDocumentSchema),
  next: z.int().nullable(),
});

/** A person's decision about a document that the gateway cannot query. */
export const resolutionSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    run: runSchema
      .optional()
      .describe('The certification run of the document, as the list of alarms states it; absent means the present one'),
    action: z
      .enum(['adopt', 'resend'])
      .describe(
        'adopt: the authority has the document, under track_id. resend: it does not, and the gateway sends the same bytes again',
      ),
    track_id: givenTrackIdSchema
      .optional()
      .describe('The trackId at the authority; required with adopt, not allowed with resend'),
  })
  .refine(({ action, track_id }) => (action === 'adopt') === (track_id !== undefined), {
    path: ['track_id'],
    message: 'is required with adopt, and belongs to it alone',
  })
  .meta({
    examples: [{ env: 'CerteCF', issuer_rnc: ISSUER, encf: 'E310000000101', action: 'adopt', track_id: TRACK_ID }],
  });

/** The result. */
export const resolvedDocumentSchema = z.object({
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
  state: z.string(),
  status: z.string(),
  track_id: z.string().nullable(),
  adopted: z.boolean().describe('Whether the trackId was adopted by this request'),
  resent: z.boolean().describe('Whether this request made the gateway send the bytes again'),
});

export const DOCUMENTS = operations<AdminOperation>('Documents', {
  listAlarmed: {
    route: 'GET /admin/documents/alarmed',
    role: 'viewer',
    summary: 'Lists documents that need a decision of a person',
    description: 'The gateway cannot find out by itself whether the authority has these documents.',
    query: alarmedFilterSchema.shape,
    response: alarmedPageSchema,
    errors: ['validation_error'],
  },
  resolveDocument: {
    route: 'POST /admin/documents/resolve',
    role: 'operator',
    summary: 'Records the outcome of a document that the gateway cannot query',
    description:
      '`adopt` records the trackId under which the authority has the document. The gateway queries the authority first: a trackId of another number, or one that the authority does not have, is a conflict. `resend` sends the same bytes again, because the authority does not have the document.',
    body: resolutionSchema,
    response: resolvedDocumentSchema,
    errors: [...BODY_ERRORS, 'not_found', 'conflict', ...AUTHORITY_ERRORS, 'certificate_missing'],
  },
});
