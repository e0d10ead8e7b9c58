import { z } from 'zod';
import { environmentSchema, named } from '../values.js';
import { ROLES } from './key-rights.js';
import { BODY_ERRORS, header, operations } from './operation.js';

/** Name of the cookie that holds the session of the console. */
export const SESSION_COOKIE = 'ecf_session';
/** Hours without a request after which a session ends. */
export const SESSION_IDLE_HOURS = 8;

/** Body of `POST /console/session`. */
export const signInSchema = z
  .strictObject({
    api_key: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'A key of the account', examples: ['ecf_...'] }),
    admin_token: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .meta({
        description: 'The token of an administrator, or ADMIN_TOKEN of the deployment',
        examples: ['ecf_admin_...'],
      }),
  })
  .refine(
    ({ api_key, admin_token }) => (api_key === undefined) !== (admin_token === undefined),
    'Send either api_key or admin_token.',
  )
  .meta({ id: 'SignIn' });

const sessionSchema = named('ConsoleSession', {
  kind: z.enum(['account', 'administrator']).describe('Whether an API key or the token of an administrator signed in'),
  id: z
    .string()
    .nullable()
    .meta({
      description: 'The id of the API key or of the administrator; null for ADMIN_TOKEN',
      examples: ['2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e'],
    }),
  name: z.string().meta({ description: 'The name of the API key or of the administrator', examples: ['Billing'] }),
  role: z.enum(ROLES).nullable().describe('The role of the administrator; null for an API key'),
  environments: z.array(environmentSchema).describe('The environments of the API key; empty for an administrator'),
});
export type ConsoleSessionBody = z.infer<typeof sessionSchema>;

const SENT_BY_BROWSERS =
  'A browser sends the cookie itself. It counts only for requests that a page of the same origin makes, and only where neither `x-api-key` nor `authorization` is sent.';

/** The session of the console: a cookie that takes the place of the key. */
export const CONSOLE_SESSION = operations('Console', {
  signIn: {
    route: 'POST /console/session',
    summary: 'Signs in with an API key or the token of an administrator',
    description: `Sets the cookie \`${SESSION_COOKIE}\`, which takes the place of the key until the session ends: by \`DELETE /console/session\`, after ${SESSION_IDLE_HOURS} hours without a request, or with the key. ${SENT_BY_BROWSERS}`,
    body: signInSchema,
    response: sessionSchema,
    responseHeaders: {
      'set-cookie': header('The session', `${SESSION_COOKIE}=...; Path=/; HttpOnly; SameSite=Strict`),
    },
    errors: [...BODY_ERRORS, 'invalid_api_key', 'invalid_admin_token'],
  },
  session: {
    route: 'GET /console/session',
    summary: 'Returns who is signed in',
    description: SENT_BY_BROWSERS,
    response: sessionSchema,
    errors: ['session_ended', 'invalid_api_key', 'invalid_admin_token'],
  },
  signOut: {
    route: 'DELETE /console/session',
    summary: 'Signs out; the session ends on every instance',
    description: 'Without a session it changes nothing.',
    status: 204,
    responseHeaders: {
      'set-cookie': header('Removes the cookie', `${SESSION_COOKIE}=; Path=/; HttpOnly; SameSite=Strict`),
    },
  },
});
