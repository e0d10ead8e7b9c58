import { z } from 'zod';
import { named } from '../values.js';

/** A fault or warning of a document: place, rule, the authority's code, words, source, and whether it refuses. */
export const faultSchema = named('Fault', {
  path: z.string().describe('Field path, e.g. ECF.DetallesItems.Item[2].MontoItem'),
  rule: z.string().describe('Stable name: schema.*, business.* or signature.*'),
  code: z.string().nullable().describe("The authority's code where it has one"),
  message: z.string().describe('What is wrong and how to correct it'),
  source: z.string().describe('Document and page the rule comes from'),
  severity: z
    .enum(['error', 'warning'])
    .describe('warning: the document is refused only where warnings are refused (`warnings=refuse`)'),
});
export type FaultBody = z.infer<typeof faultSchema>;

/** One item of a 422: the place, the reason, the kind. */
const validationItemSchema = named('ValidationItem', {
  loc: z
    .array(z.union([z.string(), z.number()]))
    .describe('The place: header, query, path or body, then the names and positions that lead to it'),
  msg: z.string().describe('What is wrong there'),
  type: z.string().describe('The kind of fault, e.g. missing, unknown, format'),
});
export type ValidationItem = z.infer<typeof validationItemSchema>;

/** What is wrong with a request: a sentence or, with 422, the items. */
export type ErrorDetail = string | readonly ValidationItem[];

/** The body of every error, whatever its status. */
export const errorBodySchema = named('ErrorBody', {
  code: z.string().describe('The stable name of the error; `GET /errors` lists all of them'),
  message: z.string().describe('What is wrong and what to do about it, as text for people'),
  faults: z.array(faultSchema).describe('The faults of a document; empty for other errors'),
  items: z
    .array(validationItemSchema)
    .describe('The places of the request that are missing or malformed (422); empty for other errors'),
  messages: z
    .array(z.string())
    .describe('The same as text: one sentence for each fault or item, otherwise the message'),
  request_id: z.string().describe('The id of the request, also in the header x-request-id and in the logs'),
  detail: z.union([z.string(), z.array(validationItemSchema)]).meta({
    description: 'Read `message` and `items` instead: this is the message or, with 422, the items',
    deprecated: true,
  }),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;

/** The items of which `message` names the place and the reason; `items` has all. */
const ITEMS_IN_MESSAGE = 3;

/** The sentence about what is wrong with a request. */
export function errorMessage(detail: ErrorDetail): string {
  if (typeof detail === 'string') return detail;
  const first = detail.slice(0, ITEMS_IN_MESSAGE).map((item) => itemMessage(item).replace(/\.$/, ''));
  const more = detail.length - first.length;
  return `The request is not valid: ${first.join('; ')}${more > 0 ? `; and ${more} more, see items` : ''}.`;
}

/** The body of an error. */
export function errorBody(
  error: {
    readonly code: string;
    readonly detail: ErrorDetail;
    readonly faults?: readonly FaultBody[] | undefined;
  },
  requestId: string,
): ErrorBody {
  const { code, detail, faults = [] } = error;
  const message = errorMessage(detail);
  const items = typeof detail === 'string' ? [] : [...detail];
  const reasons = [...faults.map((fault) => `${fault.path}: ${fault.message}`), ...items.map(itemMessage)];
  return {
    code,
    message,
    faults: [...faults],
    items,
    messages: reasons.length > 0 ? reasons : [message],
    request_id: requestId,
    detail: typeof detail === 'string' ? detail : items,
  };
}

function itemMessage({ loc, msg }: ValidationItem): string {
  return `${loc.join('.')}: ${msg}`;
}
