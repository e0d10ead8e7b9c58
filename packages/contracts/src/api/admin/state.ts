import { z } from 'zod';
import { invoiceStatusSchema } from '../../events/invoice.js';
import { SERVICE_NAMES } from '../../services.js';
import { environmentSchema, freeTextSchema, named, timestampSchema } from '../../values.js';
import { type AdminOperation, BODY_ERRORS, operations } from '../operation.js';

/** Work that waits, by the name under which the state reports it. */
export const QUEUE_NAMES = [
  'undecided_documents',
  'held_documents',
  'contingency_documents',
  'batch_lines',
  'status_queries',
  'cancellations',
  'deliveries',
  'approvals',
  'webhook_events',
  'unpublished_events',
  'unhandled_events',
  'archive_documents',
] as const;

const queueSchema = named('Queue', {
  queue: z.enum(QUEUE_NAMES).describe('What waits'),
  waiting: z
    .number()
    .nonnegative()
    .meta({ description: 'How many wait', examples: [3] }),
  oldest_seconds: z
    .number()
    .nonnegative()
    .nullable()
    .meta({ description: 'Age of the oldest one; null where it is not measured', examples: [41.5] }),
});
export type QueueBody = z.infer<typeof queueSchema>;

const firingAlarmSchema = named('FiringAlarm', {
  alarm: z.string().meta({ description: 'Name of the alarm rule', examples: ['EcfDeadLetters'] }),
  severity: z
    .enum(['page', 'ticket'])
    .describe('page: a person is needed immediately. ticket: it can wait for working hours'),
  labels: z.record(z.string(), z.string()).meta({
    description: 'What it concerns',
    examples: [{ topic: 'invoices.v1', group: 'query' }],
  }),
  value: z.number().meta({ description: 'The measured value', examples: [2] }),
  limit: z.number().meta({ description: 'The value of the rule, beyond which the alarm fires', examples: [0] }),
  runbook: z.string().meta({
    description: 'Address of the section that says what to do, on the site of the documentation',
    examples: ['/docs/guide/runbooks/events#ecfdeadletters'],
  }),
});
export type FiringAlarmBody = z.infer<typeof firingAlarmSchema>;

/** The programs that a service runs on. */
export const softwareSchema = z.object({
  version: z.string().meta({ description: 'Version of the service', examples: ['1.0.0'] }),
  node: z.string().meta({ description: 'Version of Node', examples: ['24.11.1'] }),
  postgres: z
    .string()
    .nullable()
    .meta({ description: 'Version of its database; null while that does not answer', examples: ['18.4'] }),
  migration: z.string().nullable().describe('Its newest migration; null while the database does not answer'),
});

const reportedServiceSchema = named('ReportedService', {
  service: z.enum(SERVICE_NAMES).describe('The service'),
  ...softwareSchema.shape,
  clocks: z
    .array(
      z.object({
        against: z.string().meta({ description: 'The other clock', examples: ['database'] }),
        seconds_ahead: z
          .number()
          .meta({ description: 'Seconds by which the clock of the process is ahead', examples: [0.2] }),
      }),
    )
    .describe('Comparisons of the clock of the process with others'),
  storage: z
    .object({
      free_bytes: z.number().describe('Bytes free for documents'),
      floor_bytes: z.number().describe('MIN_FREE_BYTES: with fewer, the public routes refuse documents'),
    })
    .nullable()
    .describe('The disk of its documents; null if the service does not measure it'),
});
export type ReportedService = z.infer<typeof reportedServiceSchema>;

const documentCountSchema = named('DocumentCount', {
  env: environmentSchema,
  status: invoiceStatusSchema,
  count: z.int().nonnegative().describe('Documents of all accounts'),
});

const deploymentStateSchema = named('DeploymentState', {
  unreachable: z
    .array(z.enum(SERVICE_NAMES))
    .describe('Services that did not answer; the rest of the answer lacks their part'),
  alarms: z.array(firingAlarmSchema).describe('Alarms whose condition holds, `page` first'),
  queues: z.array(queueSchema).describe('Work that waits'),
  documents_today: z
    .array(documentCountSchema)
    .describe('Documents created on the present Dominican day, as far as the read models have them'),
  authority: z
    .array(
      z.object({
        env: environmentSchema,
        reachable: z.boolean().describe('Whether it answers submissions; also true if there were none'),
      }),
    )
    .describe('Whether the authority can be reached from the emission service'),
  services: z
    .array(reportedServiceSchema)
    .describe('The services that answered, with their versions, clocks and disks'),
});
export type DeploymentStateBody = z.infer<typeof deploymentStateSchema>;

/** A dead letter, without its event's data. */
export const deadLetterSchema = z.object({
  event_id: z.string().describe('Id of the event'),
  group: z.string().meta({ description: 'The consumer that gave it up', examples: ['query'] }),
  topic: z.string().meta({ description: 'The topic of the event', examples: ['invoices.v1'] }),
  type: z.string().meta({ description: 'The type of the event', examples: ['invoice.changed'] }),
  key: z.string().describe('The key of the event'),
  reason: z.string().describe('Why the last try failed'),
  attempts: z.int().positive().describe('Number of tries'),
  failed_at: timestampSchema.describe('When it was given up'),
  replaying: z.boolean().describe('Whether it waits for its replay'),
});

const listedDeadLetterSchema = named('DeadLetter', {
  service: z.enum(SERVICE_NAMES).describe('The service whose database has it'),
  ...deadLetterSchema.shape,
});
export type DeadLetterBody = z.infer<typeof listedDeadLetterSchema>;

/** The query of `GET /admin/dead-letters`. */
export const deadLetterQuerySchema = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(100)
    .describe('Maximum number of rows of each service; the oldest are listed.'),
});

const deadLettersSchema = z.object({
  unreachable: z.array(z.enum(SERVICE_NAMES)).describe('Services that did not answer; their dead letters are missing'),
  dead_letters: z.array(listedDeadLetterSchema).describe('Dead letters, the oldest first'),
});

/** Names a dead letter. */
export const deadLetterNameSchema = z.object({
  service: z.enum(SERVICE_NAMES).describe('The service whose database has it'),
  group: freeTextSchema
    .min(1)
    .max(200)
    .meta({ description: 'The consumer that gave it up', examples: ['query'] }),
  event_id: freeTextSchema.min(1).max(300).describe('Id of the event'),
});

/** A dead letter that is deleted, with the reason of the person. */
export const dismissalSchema = deadLetterNameSchema.extend({
  reason: freeTextSchema.trim().min(1).max(1_000).describe('Why the event is not needed; the audit log keeps it'),
});

const PARTS =
  'One instance of each service is queried. Alarms that compare rates, several metrics or all instances are evaluated by Prometheus only.';

export const STATE = operations<AdminOperation>('State', {
  deploymentState: {
    route: 'GET /admin/state',
    role: 'viewer',
    summary: 'Returns the alarms that fire now, the work that waits, the documents of today, and the services',
    description: `${PARTS} An alarm appears as soon as its condition holds, without the waiting time of its rule.`,
    response: deploymentStateSchema,
  },
  listDeadLetters: {
    route: 'GET /admin/dead-letters',
    role: 'viewer',
    summary: 'Lists the events that services gave up',
    description: 'A service keeps an event that it could not handle, until the event is replayed or dismissed.',
    query: deadLetterQuerySchema.shape,
    response: deadLettersSchema,
    errors: ['validation_error'],
  },
  replayDeadLetter: {
    route: 'POST /admin/dead-letters/replay',
    role: 'operator',
    summary: 'Gives an event to the service that gave it up, once more',
    description: 'The service handles it within seconds. If it fails again, it is listed again.',
    body: deadLetterNameSchema,
    status: 202,
    response: listedDeadLetterSchema,
    errors: [...BODY_ERRORS, 'not_found', 'service_unavailable'],
  },
  dismissDeadLetter: {
    route: 'POST /admin/dead-letters/dismiss',
    role: 'operator',
    summary: 'Deletes an event that a service gave up, without handling it',
    description: 'What the event says is lost for this service.',
    body: dismissalSchema,
    response: listedDeadLetterSchema,
    errors: [...BODY_ERRORS, 'not_found', 'service_unavailable'],
  },
});
