import { z } from 'zod';
import { environmentSchema, named, rncSchema, timestampSchema } from '../values.js';
import { AUTHORITY_ERRORS, CERTIFICATE_ERRORS, publicOperations } from './operation.js';
import * as P from './parameters.js';

/** An entry of the authority's directory; addresses are null when absent. */
export const directoryEntrySchema = named('DirectoryEntry', {
  rnc: rncSchema,
  name: z.string().describe('RazonSocial of the taxpayer'),
  reception_url: z.string().nullable().describe('Where the taxpayer receives e-CF; null if it has no such address'),
  approval_url: z.string().nullable().describe('Where the taxpayer receives approvals; null if it has no such address'),
  authentication_url: z
    .string()
    .nullable()
    .describe('Where the taxpayer issues tokens; null if it has no such address'),
});

export const monitoringStatusSchema = named('MonitoringStatus', {
  env: environmentSchema,
  available: z.boolean().describe('Whether all services are available'),
  services: z.array(
    z.object({
      service: z.string().describe("The authority's name of the service"),
      status: z.enum(['available', 'unavailable']).describe('Whether it is available'),
      environment: z.string().describe("The authority's name of the environment"),
    }),
  ),
  maintenance_windows: z
    .array(
      z.object({
        environment: z.string().describe("The authority's name of the environment"),
        start_time: z.string().describe('Start of the maintenance, HH:MM in Dominican time'),
        end_time: z.string().describe('End of the maintenance, HH:MM in Dominican time'),
        days: z.array(z.string()).describe('Days of the week, in Spanish'),
      }),
    )
    .describe('When the authority has announced maintenance'),
  checked_at: timestampSchema.describe('When the authority was queried'),
});
export type DirectoryEntry = z.infer<typeof directoryEntrySchema>;
export type MonitoringStatus = z.infer<typeof monitoringStatusSchema>;

const QUERIES_AUTHORITY = [...AUTHORITY_ERRORS, ...CERTIFICATE_ERRORS, 'service_not_in_environment'] as const;

export const AUTHORITY = publicOperations('Authority', 'query', {
  monitoringStatus: {
    route: 'GET /monitoring/status',
    scopes: ['read'],
    summary: "Returns the state of the authority's services",
    description: 'The data are those of the status service of the authority; the deployment needs STATUS_KEY for it.',
    response: monitoringStatusSchema,
    errors: ['status_key_missing', 'authority_unreachable', 'authority_unreadable', 'service_not_in_environment'],
  },
  listDirectory: {
    route: 'GET /directory/taxpayers',
    scopes: ['read'],
    summary: 'Lists every authorised electronic taxpayer with its addresses',
    description: 'The gateway queries the directory of the authority.',
    response: z.array(directoryEntrySchema),
    errors: QUERIES_AUTHORITY,
  },
  findInDirectory: {
    route: 'GET /directory/taxpayers/{rnc}',
    scopes: ['read'],
    summary: 'Returns one entry of the directory',
    description: 'The addresses are those to which e-CF and approvals are delivered.',
    params: { rnc: P.rnc },
    response: directoryEntrySchema,
    hasEtag: true,
    errors: ['not_found', ...QUERIES_AUTHORITY],
  },
});
