import { useTranslations } from 'use-intl';
import type { Schemas } from '../data/gateway.js';

/** The tone of each status, in texts and charts. */
export const TONES = {
  Aceptado: 'good',
  AceptadoCondicional: 'warn',
  Rechazado: 'bad',
  EnProceso: 'wait',
  'No encontrado': 'wait',
} as const;

/** The authority's status of a document, in words and with a mark beside the colour. */
export function Status({ status }: { status: Schemas['InvoiceStatus'] }) {
  const words = useTranslations('status');
  return <span className={`status ${TONES[status]}`}>{words(status)}</span>;
}
