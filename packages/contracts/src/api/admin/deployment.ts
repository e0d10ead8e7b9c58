import { z } from 'zod';
import { timestampSchema } from '../../values.js';
import { type AdminOperation, operations } from '../operation.js';

/** The services that keep XML. */
export const ARCHIVING_SERVICES = ['emission', 'reception', 'approvals'] as const;

export type ArchivingService = (typeof ARCHIVING_SERVICES)[number];

/** An XML document that a row of a service's database names. */
export const storedFileSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  pending: z
    .boolean()
    .meta({ description: 'Whether the document is still in the database, not yet in the archive', examples: [false] }),
});
export type StoredFile = z.infer<typeof storedFileSchema>;

export const storedFilesQuerySchema = z.object({
  after: z
    .string()
    .regex(/^[a-z_]+(:\d{1,19}){1,3}$/, 'is the `next` of a page')
    .optional()
    .meta({ description: 'Where to continue: `next` of a page.', examples: ['attempt:0:0'] }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(1_000)
    .describe('Maximum number of database rows; each may name several files, or none.'),
});

export const storedFilesPageSchema = z.object({
  files: z.array(storedFileSchema).describe('The files of this page'),
  next: z.string().nullable(),
});

export const rebuildStateSchema = z.object({
  building: z.boolean().describe('Whether the read models are being filled: lists and sums are 503'),
  started_at: timestampSchema.nullable(),
  finished_at: timestampSchema.nullable(),
  documents: z.int().describe('Documents copied so far'),
  failure: z.string().nullable().describe('Why the last try of the rebuild failed; null if it did not'),
});

/** The services that keep sealed values. */
export const SEALING_SERVICES = ['gateway', 'emission', 'reception', 'approvals', 'query'] as const;

export type SealingService = (typeof SEALING_SERVICES)[number];

/** The id of a master key: four bytes of a hash, in hex. The key cannot be derived from it. */
export const keyIdSchema = z.string().regex(/^[0-9a-f]{8}$/, 'is 8 hexadecimal digits');

/** The sealed values of a service, and the keys of its instances. */
export const sealedStateSchema = z.object({
  older: z.int().nonnegative().describe('Values that an older master key sealed'),
  instances: z
    .array(
      z.object({
        id: z.string().describe('Id of the instance'),
        key_ids: z.array(keyIdSchema).describe('Ids of the master keys that the instance has'),
        seen_at: timestampSchema.describe('When the instance last reported'),
      }),
    )
    .describe('The instances of the service that run'),
});

const masterKeyStateSchema = z.object({
  key_id: keyIdSchema,
  services: z.array(
    sealedStateSchema.extend({ service: z.enum(SEALING_SERVICES).describe('The name of the service') }),
  ),
});
export type MasterKeyState = z.infer<typeof masterKeyStateSchema>;

export const DEPLOYMENT = operations<AdminOperation>('Archive', {
  startRebuild: {
    tag: 'Read models',
    route: 'POST /admin/rebuilds/query',
    role: 'operator',
    summary: 'Rebuilds the read models from the data of their owners',
    description:
      'The read models are emptied and filled again. Meanwhile lists, counts and sums are 503; single documents are looked up at their owners.',
    response: rebuildStateSchema,
    errors: ['conflict'],
  },
  rebuildState: {
    tag: 'Read models',
    route: 'GET /admin/rebuilds/query',
    role: 'viewer',
    summary: 'Returns the state of the last rebuild',
    description:
      'Until the read models are complete, lists, counts and sums are 503; single documents are looked up at their owners.',
    response: rebuildStateSchema,
  },
  masterKeyState: {
    tag: 'Master keys',
    route: 'GET /admin/master-keys',
    role: 'viewer',
    summary: 'Shows what each service has sealed under older master keys, and which keys its instances have',
    description: 'Instances report every ten seconds, and count for half a minute.',
    response: masterKeyStateSchema,
    errors: ['service_unavailable'],
  },
  resealBlock: {
    tag: 'Master keys',
    route: 'POST /admin/master-keys/reseal',
    role: 'operator',
    summary: 'Seals a block of values in each service under the newest master key',
    description:
      'Repeat it until `older` is 0 everywhere, as `ecf keys reseal` does. It refuses with 409 while an instance seals with another key.',
    response: masterKeyStateSchema,
    errors: ['conflict', 'service_unavailable'],
  },
  storedFiles: {
    route: 'GET /admin/archive/{service}',
    role: 'viewer',
    summary: 'Lists the XML documents that a service has stored',
    description: 'For a comparison of the archive with the database: every file that must be there, with its checksum.',
    params: {
      service: z.enum(ARCHIVING_SERVICES).meta({ description: 'A service that keeps XML.', examples: ['emission'] }),
    },
    query: storedFilesQuerySchema.shape,
    response: storedFilesPageSchema,
    errors: ['validation_error', 'not_found'],
  },
});
