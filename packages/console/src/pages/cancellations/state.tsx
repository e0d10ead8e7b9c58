import { useTranslations } from 'use-intl';
import type { Cancellation } from '../../data/cancellations.js';

const TONES = {
  Aceptado: 'good',
  Parcial: 'warn',
  Rechazado: 'bad',
  submitted: 'wait',
  failed: 'wait',
  none: 'wait',
} as const;

/** What became of a cancellation, or of a range of it. */
export function CancellationState({ status }: { status: Cancellation['authority_status'] }) {
  const words = useTranslations('cancellations.states');
  return <span className={`status ${TONES[status ?? 'none']}`}>{words(status ?? 'none')}</span>;
}
