import { z } from 'zod';
import { freeTextSchema, named, pageQuerySchema } from '../../values.js';
import { type AdminOperation, BODY_ERRORS, operations } from '../operation.js';
import * as P from '../parameters.js';
import { documentSchema } from '../service.js';

/** A name for people: 1 to 200 characters without control characters. */
export const displayNameSchema = freeTextSchema
  .trim()
  .min(1, 'A name is required.')
  .max(200, 'A name has at most 200 characters.')
  .regex(/^\P{Cc}*$/u, 'A name has no control characters.');

export const newAccountSchema = z.strictObject({ name: displayNameSchema }).meta({ id: 'NewAccount' });

export const activeSchema = z.strictObject({ active: z.boolean() }).meta({ id: 'Active' });

export const accountSchema = named('Account', {
  id: z.string(),
  name: z.string(),
  active: z.boolean(),
  created_at: z.string(),
});
export type AccountBody = z.infer<typeof accountSchema>;

export const ACCOUNTS = operations<AdminOperation>('Accounts', {
  adminOpenApi: {
    route: 'GET /admin/openapi.json',
    tag: 'Administration',
    role: null,
    summary: 'This document',
    description: 'OpenAPI 3.1 of the administration.',
    response: documentSchema,
  },
  createAccount: {
    route: 'POST /admin/accounts',
    role: 'operator',
    summary: 'Creates an account',
    description: 'An account is a customer with its taxpayers and API keys. Accounts do not see each other.',
    body: newAccountSchema,
    status: 201,
    response: accountSchema,
    errors: BODY_ERRORS,
  },
  listAccounts: {
    route: 'GET /admin/accounts',
    role: 'viewer',
    summary: 'Lists the accounts',
    description: 'Oldest first.',
    query: pageQuerySchema().shape,
    response: z.array(accountSchema),
    errors: ['validation_error'],
  },
  findAccount: {
    route: 'GET /admin/accounts/{id}',
    role: 'viewer',
    summary: 'Returns one account',
    description: 'An account that is not active cannot make new calls.',
    params: { id: P.accountId },
    response: accountSchema,
    errors: ['not_found'],
  },
  setAccountActive: {
    route: 'PATCH /admin/accounts/{id}',
    role: 'operator',
    summary: 'Activates or deactivates an account',
    description:
      'A deactivated account cannot call. Documents that are already signed are still sent, followed and delivered.',
    params: { id: P.accountId },
    body: activeSchema,
    response: accountSchema,
    errors: [...BODY_ERRORS, 'not_found'],
  },
});
