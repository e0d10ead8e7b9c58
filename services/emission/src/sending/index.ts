import type { EmissionConfig } from '../config.js';
import type { DocumentTokens } from '../credentials/document-credentials.js';
import { createBackground } from './background.js';
import { createFollowUp } from './follow-up.js';
import type { SendingPorts } from './ports.js';
import { createResolveByOperator } from './resolve-by-operator.js';
import { createSendAttempt } from './send-attempt.js';

export type Sending = ReturnType<typeof createSending>;

/**
 * Sends committed documents, and follows them up until they are decided.
 *
 * @param instance the name of this instance, and milliseconds for which it leases an attempt
 */
export function createSending(
  config: EmissionConfig,
  ports: SendingPorts,
  documentTokens: DocumentTokens,
  instance: { readonly owner: string; readonly leaseMs: number },
) {
  const send = createSendAttempt(ports);
  const followUp = createFollowUp(ports, send, documentTokens);
  return {
    send,
    followUp,
    resolve: createResolveByOperator(ports.emissions, ports.recorder, ports.authority, documentTokens),
    background: createBackground(ports, followUp, {
      ...instance,
      concurrency: config.BACKGROUND_CONCURRENCY,
      idleMs: config.BACKGROUND_IDLE_MS,
    }),
  };
}
