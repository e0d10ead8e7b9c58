import { z } from 'zod';
import { environmentSchema, rncSchema, timestampSchema } from '../environment.js';

/** An entry of the authority's directory; addresses are null when absent. */
export const directoryEntrySchema = z.object({
  rnc: rncSchema,
  name: z.string().meta({ description: 'RazonSocial of the taxpayer' }),
  reception_url: z.string().nullable(),
  approval_url: z.string().nullable(),
  authentication_url: z.string().nullable(),
});

/** Answer of `GET /monitoring/status`. */
export const monitoringStatusSchema = z.object({
  env: environmentSchema,
  available: z.boolean(),
  services: z.array(
    z.object({
      service: z.string().meta({ description: "The authority's name of the service" }),
      status: z.enum(['available', 'unavailable']).meta({ description: 'Whether it is available' }),
      environment: z.string().meta({ description: "The authority's name of the environment" }),
    }),
  ),
  maintenance_windows: z.array(
    z.object({
      environment: z.string().meta({ description: "The authority's name of the environment" }),
      start_time: z.string(),
      end_time: z.string(),
      days: z.array(z.string()),
    }),
  ),
  checked_at: timestampSchema,
});

export type DirectoryEntry = z.infer<typeof directoryEntrySchema>;
export type MonitoringStatus = z.infer<typeof monitoringStatusSchema>;
