import { z } from 'zod';

/** A fault or warning of a document: place, rule, the authority's code, words, source, and whether it refuses. */
export const faultSchema = z.object({
  path: z.string().meta({ description: 'Field path, e.g. ECF.DetallesItems.Item[2].MontoItem' }),
  rule: z.string().meta({ description: 'Stable name: schema.* or business.*' }),
  code: z.string().nullable().meta({ description: "The authority's code where it has one" }),
  message: z.string(),
  source: z.string().meta({ description: 'Document and page the rule comes from' }),
  severity: z.enum(['error', 'warning']).meta({
    description: 'warning: the document is refused only where warnings are refused (`warnings=refuse`)',
  }),
});
export type FaultBody = z.infer<typeof faultSchema>;

/** One item of a 422: the place, the reason, the kind. */
export const validationItemSchema = z.object({
  loc: z.array(z.union([z.string(), z.number()])),
  msg: z.string(),
  type: z.string(),
});
export type ValidationItem = z.infer<typeof validationItemSchema>;

/** The body of every error except 422; the emission endpoints add `messages` and `faults` to a 400. */
export const errorBodySchema = z.object({
  detail: z.string(),
  code: z.string(),
  request_id: z.string(),
  messages: z.array(z.string()).optional(),
  faults: z.array(faultSchema).optional(),
});

/** The body of a 422. */
export const validationBodySchema = z.object({
  detail: z.array(validationItemSchema),
  code: z.string(),
  request_id: z.string(),
});
