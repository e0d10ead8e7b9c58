import { z } from 'zod';
import { named, pageQuerySchema } from '../../values.js';
import { ROLES } from '../key-rights.js';
import { type AdminOperation, BODY_ERRORS, operations } from '../operation.js';
import * as P from '../parameters.js';
import { displayNameSchema } from './accounts.js';
import { expirySchema } from './api-keys.js';

/** How the holder of ADMIN_TOKEN is named wherever an administrator is. */
export const ADMIN_TOKEN_ACTOR = 'ADMIN_TOKEN';

/**
 * A name in the audit log, where two that look alike would hide who acted: compatibility forms become plain characters (NFKC,
 * full-width `Ａ` is `A`), runs of blanks become one, and only printable ASCII is left. Names with a colon are those of keys,
 * senders and services.
 */
const administratorNameSchema = displayNameSchema.pipe(
  z
    .string()
    .normalize('NFKC')
    .trim()
    .overwrite((name) => name.replace(/ +/g, ' '))
    .max(200, 'A name has at most 200 characters.')
    .regex(
      /^[\x20-\x7e]*$/,
      'The name of an administrator has printable ASCII characters only, so that no two look alike; write it without accents.',
    )
    .refine(
      (name) => !name.includes(':') && name.toUpperCase() !== ADMIN_TOKEN_ACTOR,
      `The name of an administrator has no colon and is not ${ADMIN_TOKEN_ACTOR}.`,
    ),
);

export const newAdministratorSchema = z
  .strictObject({
    name: administratorNameSchema.meta({ examples: ['Ana'] }),
    role: z.enum(ROLES),
    expires_at: expirySchema.nullish().default(null),
  })
  .meta({ id: 'NewAdministrator' });

const administratorSchema = named('Administrator', {
  id: z.string(),
  name: z.string().meta({ examples: ['Ana'] }),
  role: z.enum(ROLES),
  created_at: z.string(),
  expires_at: z.string().nullable(),
});

/** Response of `POST /admin/administrators`, the only one that shows the token. */
const createdAdministratorSchema = named('CreatedAdministrator', {
  id: z.string(),
  token: z.string().meta({ description: 'The token; it is not shown again', examples: ['ecf_admin_...'] }),
});
export type AdministratorBody = z.infer<typeof administratorSchema>;

export const ADMINISTRATORS = operations<AdminOperation>('Administrators', {
  createAdministrator: {
    route: 'POST /admin/administrators',
    role: 'owner',
    summary: 'Creates an administrator; only this response shows the token',
    description:
      'A `viewer` may read. An `operator` may do everything except administrators, API keys and the export of the audit log. An `owner` may do everything. A name that another administrator has or had, deleted ones included, is refused.',
    body: newAdministratorSchema,
    status: 201,
    response: createdAdministratorSchema,
    errors: [...BODY_ERRORS, 'conflict'],
  },
  listAdministrators: {
    route: 'GET /admin/administrators',
    role: 'owner',
    summary: 'Lists the administrators, oldest first',
    description: 'The tokens are not shown.',
    query: pageQuerySchema().shape,
    response: z.array(administratorSchema),
    errors: ['validation_error'],
  },
  findAdministrator: {
    route: 'GET /admin/administrators/{administratorId}',
    role: 'owner',
    summary: 'Returns one administrator',
    description: 'The token is not shown.',
    params: { administratorId: P.administratorId },
    response: administratorSchema,
    errors: ['not_found'],
  },
  deleteAdministrator: {
    route: 'DELETE /admin/administrators/{administratorId}',
    role: 'owner',
    summary: 'Deletes an administrator immediately',
    description: 'Its token is refused from now on. The audit log keeps the name.',
    params: { administratorId: P.administratorId },
    status: 204,
    errors: ['not_found'],
  },
});
