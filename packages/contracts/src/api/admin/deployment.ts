import { z } from 'zod';
import { timestampSchema } from '../../environment.js';
import { type AdminOperation, operations, optional } from '../operation.js';

/** The services that keep XML. */
export const ARCHIVING_SERVICES = ['emission', 'reception', 'approvals'] as const;

export type ArchivingService = (typeof ARCHIVING_SERVICES)[number];

/** An XML document that a row of a service's database names. */
export const storedFileSchema = z.object({
  path: z.string(),
  /** In lower-case hex. */
  sha256: z.string(),
  pending: z
    .boolean()
    .meta({ description: 'Whether the document is still in the database, not yet in the archive', examples: [false] }),
});
export type StoredFile = z.infer<typeof storedFileSchema>;

export const storedFilesQuerySchema = z.object({
  /** Where to continue: `next` of the answer. */
  after: z
    .string()
    .regex(/^[a-z_]+(:\d{1,19}){1,3}$/, 'is the `next` of a page')
    .optional(),
  /** Most rows of the database; each may name several files, or none. */
  limit: z.coerce.number().int().min(1).max(1_000).default(1_000),
});

export const storedFilesPageSchema = z.object({ files: z.array(storedFileSchema), next: z.string().nullable() });

export const rebuildStateSchema = z.object({
  /** A new generation of the read models is being filled. */
  building: z.boolean(),
  started_at: timestampSchema.nullable(),
  finished_at: timestampSchema.nullable(),
  documents: z.int().describe('Documents copied so far'),
  /** The reason why the last rebuild ended without effect. */
  failure: z.string().nullable(),
});

/** The services that keep sealed values. */
export const SEALING_SERVICES = ['gateway', 'emission', 'reception', 'approvals', 'query'] as const;

export type SealingService = (typeof SEALING_SERVICES)[number];

/** The id of a master key: four bytes of a hash, in hex. It tells nothing about the key. */
export const keyIdSchema = z.string().regex(/^[0-9a-f]{8}$/, 'is 8 hexadecimal digits');

/** The sealed values of a service, and the keys of its instances. */
export const sealedStateSchema = z.object({
  /** Values that another key than the named one sealed. */
  older: z.int().nonnegative(),
  /** Instances that reported within the last half minute. `key_ids` are those of MASTER_KEY, in its order. */
  instances: z.array(
    z.object({
      id: z.string().describe('Id of the instance'),
      key_ids: z.array(keyIdSchema),
      seen_at: timestampSchema,
    }),
  ),
});

/** Answer of `GET /admin/master-keys` and `POST /admin/master-keys/reseal`. */
export const masterKeyStateSchema = z.object({
  /** The newest key of the gateway that answers. */
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
    description: 'The present read models answer queries until the new ones replace them.',
    response: rebuildStateSchema,
    errors: ['conflict'],
  },
  rebuildState: {
    tag: 'Read models',
    route: 'GET /admin/rebuilds/query',
    role: 'viewer',
    summary: 'Returns the state of the last rebuild',
    description: 'Reads are answered from the former read models until the new ones are complete.',
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
    query: {
      after: optional(
        storedFilesQuerySchema.shape.after.unwrap(),
        'Where to continue: `next` of a page.',
        'attempt:0:0',
      ),
      limit: z
        .int()
        .min(1)
        .max(1_000)
        .default(1_000)
        .describe('Most rows of the database; each may name several files, or none.'),
    },
    response: storedFilesPageSchema,
    errors: ['validation_error', 'not_found'],
  },
});
