import type { FiringAlarmBody, GaugeValue } from '@ecf/contracts';

/** A rule of deploy/observability/alerts.yaml that compares one gauge with a limit. */
export interface AlarmRule {
  readonly alarm: string;
  readonly severity: 'page' | 'ticket';
  readonly gauge: string;
  /** Only values with these labels. */
  readonly where?: Readonly<Record<string, string>>;
  /** The labels that tell alarms of one rule apart. */
  readonly by: readonly string[];
  /** Which of the values of several instances or other labels counts. */
  readonly of: 'max' | 'min';
  /** Whether it fires above the limit, below it, or at it. */
  readonly is: '>' | '<' | '==';
  readonly limit: number;
  /** Page of docs/runbooks. */
  readonly page: string;
}

const DAY = 86_400;

const above = (
  alarm: string,
  severity: AlarmRule['severity'],
  gauge: string,
  by: readonly string[],
  limit: number,
  page: string,
): AlarmRule => ({ alarm, severity, gauge, by, of: 'max', is: '>', limit, page });

/** The rules of this kind. The others need rates, several metrics or the labels of Prometheus. */
export const ALARM_RULES: readonly AlarmRule[] = [
  above('EcfDocumentNeedsPerson', 'page', 'ecf_alarmed_documents', ['kind'], 0, 'submissions'),
  above('EcfCancellationNeedsPerson', 'page', 'ecf_alarmed_cancellations', ['kind'], 0, 'submissions'),
  above('EcfDocumentsUndecided', 'ticket', 'ecf_oldest_undecided_seconds', [], 3_600, 'submissions'),
  above('EcfBatchWaiting', 'ticket', 'ecf_oldest_batch_line_seconds', [], 3_600, 'submissions'),
  above('EcfContingency', 'ticket', 'ecf_contingency_documents', ['env'], 0, 'submissions'),
  {
    ...above('EcfContingencyDeadlineNear', 'page', 'ecf_contingency_seconds_left', ['env'], DAY, 'submissions'),
    of: 'min',
    is: '<',
  },
  above('EcfCertificateExpiring', 'ticket', 'ecf_certificates_expiring', [], 0, 'submissions'),
  above('EcfRangesEnding', 'ticket', 'ecf_ranges_ending', ['env'], 0, 'submissions'),
  above('EcfOutboxLag', 'page', 'ecf_outbox_lag_seconds', ['service'], 60, 'events'),
  above('EcfEventsRefused', 'ticket', 'ecf_outbox_refused', ['service'], 0, 'events'),
  above('EcfConsumerLag', 'ticket', 'ecf_consumer_lag', ['topic', 'group'], 1_000, 'events'),
  { ...above('EcfConsumerDisconnected', 'page', 'ecf_consumer_connected', ['topic', 'group'], 0, 'events'), is: '==' },
  above('EcfDeadLetters', 'ticket', 'ecf_dead_letters', ['topic', 'group'], 0, 'events'),
  {
    ...above('EcfStatusOverdue', 'page', 'ecf_status_polls', ['env'], 0, 'submissions'),
    where: { state: 'overdue' },
  },
  {
    ...above('EcfPollsPileUp', 'ticket', 'ecf_status_polls', ['env'], 1_000, 'submissions'),
    where: { state: 'due' },
  },
  above('EcfIntegrityErrors', 'page', 'ecf_damaged_documents', ['service'], 0, 'storage'),
  above('EcfArchiveBehind', 'page', 'ecf_archive_oldest_pending_seconds', ['service'], 900, 'storage'),
  above('EcfRevocationFileUnreadable', 'page', 'ecf_revocation_file_unreadable', ['service'], 0, 'reception'),
  above('EcfDeliveriesOld', 'ticket', 'ecf_delivery_oldest_seconds', ['env'], DAY, 'approvals-and-deliveries'),
  above('EcfWebhookFailing', 'ticket', 'ecf_webhook_failing_seconds', [], 3_600, 'events'),
  above('EcfApprovalsOverdue', 'ticket', 'ecf_approvals_overdue', ['target'], 0, 'approvals-and-deliveries'),
  above(
    'EcfApprovalDeadlineNear',
    'ticket',
    'ecf_reception_approvals_awaited',
    ['env', 'state'],
    0,
    'approvals-and-deliveries',
  ),
];

/** Alarms whose condition holds for these gauges, those of severity `page` first. */
export function firingAlarms(gauges: readonly GaugeValue[]): FiringAlarmBody[] {
  const firing = ALARM_RULES.flatMap((rule) => firingOf(rule, gauges));
  return firing.sort((a, b) => (a.severity < b.severity ? -1 : a.severity > b.severity ? 1 : 0));
}

function firingOf(rule: AlarmRule, gauges: readonly GaugeValue[]): FiringAlarmBody[] {
  const { alarm, severity, gauge, where = {}, by, of, is, limit, page } = rule;
  const groups = new Map<string, { labels: Record<string, string>; values: number[] }>();
  for (const { name, labels, value } of gauges) {
    if (name !== gauge || Object.entries(where).some(([label, wanted]) => labels[label] !== wanted)) continue;
    const own = Object.fromEntries(by.map((label) => [label, labels[label] ?? '']));
    const key = JSON.stringify(own);
    groups.set(key, { labels: own, values: [...(groups.get(key)?.values ?? []), value] });
  }
  const runbook = `/docs/guide/runbooks/${page}#${alarm.toLowerCase()}`;
  return [...groups.values()]
    .map(({ labels, values }) => ({ alarm, severity, labels, value: Math[of](...values), limit, runbook }))
    .filter(({ value }) => (is === '>' ? value > limit : is === '<' ? value < limit : value === limit));
}
