import { ENVIRONMENTS } from '@ecf/domain';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { ConfirmationReport } from './ports.js';

/** Metrics and log lines about what the authority says of received documents. */
export function createConfirmationReport(metrics: Metrics, logger: Logger): ConfirmationReport {
  const queries = metrics.counter({
    name: 'ecf_reception_confirmation_queries_total',
    help: 'Queries to the authority about received documents, by answer: confirmed, rejected, unknown, pending, none.',
    labels: ['env', 'answer'],
  });
  const disputed = metrics.counter({
    name: 'ecf_reception_disputed_documents_total',
    help: 'Documents from providers that the authority rejected, or did not know after 72 hours.',
    labels: ['env', 'status'],
  });
  // A counter that begins with its first document would hide that one from `increase`, and so from the alarm.
  for (const env of ENVIRONMENTS) for (const status of ['rejected', 'unknown']) disputed.inc({ env, status }, 0);
  const promoted = metrics.counter({
    name: 'ecf_reception_promoted_documents_total',
    help: 'Documents that took a number from another one because the authority confirmed them.',
    labels: ['env'],
  });
  const named = ({
    env,
    issuerRnc: issuer_rnc,
    encf,
    buyerRnc: buyer_rnc,
    documentId: id,
  }: Parameters<ConfirmationReport['promoted']>[0]) => ({ env, issuer_rnc, encf, buyer_rnc, id });

  return {
    queried(env, answer) {
      queries.inc({ env, answer: answer ?? 'none' });
    },
    disputed(document, status) {
      disputed.inc({ env: document.env, status });
      logger.warn(
        { ...named(document), status },
        'the authority does not confirm a document that came from a provider',
      );
    },
    promoted(document) {
      promoted.inc({ env: document.env });
      logger.warn(named(document), 'a document that the authority confirmed took the number of another one');
    },
  };
}
