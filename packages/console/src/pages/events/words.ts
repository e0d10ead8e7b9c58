import { useTranslations } from 'use-intl';
import type { Event, EventType } from '../../data/events.js';
import { useFormats } from '../../ui/format.js';

/** The name of a type of event and what it means. A type of a newer gateway is shown by its own name. */
export function useEventWords(type: EventType): { title: string; meaning: string } {
  const words = useTranslations('events.type');
  if (!words.has(`${type}.title`)) return { title: type, meaning: '' };
  return { title: words(`${type}.title`), meaning: words(`${type}.meaning`) };
}

const TONES: Readonly<Record<string, string>> = {
  accepted: 'good',
  confirmed: 'good',
  delivered: 'good',
  done: 'good',
  ended: 'good',
  conditional: 'warn',
  partial: 'warn',
  low: 'warn',
  expiring: 'warn',
  started: 'warn',
  rejected: 'bad',
  refused: 'bad',
  failed: 'bad',
  overdue: 'bad',
  late: 'bad',
  disputed: 'bad',
};

export const toneOf = (type: EventType) => TONES[type.split('.')[1] ?? ''] ?? 'wait';

/** What an event says beyond its type: names, amounts, reasons. */
export function useDetail(): (event: Event) => string | null {
  const words = useTranslations('events.detail');
  const decisions = useTranslations('invoice.approved');
  const { day, moment, money, number, rnc } = useFormats();
  const joined = (...parts: (string | null)[]) => parts.filter((part) => part !== null && part !== '').join(' · ');
  return ({ type, data }) => {
    switch (type) {
      case 'invoice.rejected':
        return joined(data.buyer_name, ...data.messages.map(({ valor }) => valor).slice(0, 1));
      case 'invoice.accepted':
      case 'invoice.conditional':
      case 'invoice.held':
      case 'invoice.withdrawn':
      case 'invoice.overdue':
        return joined(data.buyer_name, money(data.total_amount));
      case 'received.accepted':
      case 'received.confirmed':
      case 'received.disputed':
        return joined(data.provider_name, money(data.total_amount));
      case 'received.refused':
        return joined(rnc(data.provider_rnc), data.rejection_reason);
      case 'delivery.delivered':
      case 'delivery.refused':
      case 'delivery.failed':
        return rnc(data.buyer_rnc);
      case 'approval.received':
        return joined(decisions(data.approval_status), data.buyer_rnc && rnc(data.buyer_rnc));
      case 'approval.sent':
      case 'approval.refused':
        return joined(decisions(data.approval_status), rnc(data.issuer_rnc));
      case 'cancellation.accepted':
      case 'cancellation.partial':
      case 'cancellation.rejected':
        return words('numbers', { count: data.total_encf_canceled });
      case 'batch.done':
        return words('batch', { accepted: data.accepted + data.conditional, total: data.total });
      case 'range.low':
        return joined(`E${data.ecf_type}`, words('remaining', { count: number(data.remaining) }));
      case 'range.expiring':
        return joined(`E${data.ecf_type}`, data.expires && words('expires', { day: day(data.expires) }));
      case 'certificate.expiring':
        return words('expires', { day: day(data.not_after) });
      case 'contingency.started':
      case 'contingency.ended':
      case 'contingency.late':
        return data.deadline === null ? null : words('deadline', { moment: moment(data.deadline) });
      default:
        return null;
    }
  };
}
