import { useTranslations } from 'use-intl';
import { type Batch, isOpen } from '../../data/batches.js';
import { useFormats } from '../../ui/format.js';

/** How many lines of a batch are decided. */
export function Progress({ batch }: { batch: Batch }) {
  const words = useTranslations('batches');
  const { number } = useFormats();
  const { total, pending, in_process } = batch;
  const decided = total - pending - in_process;
  const text = words('decided', { decided: number(decided), total: number(total) });
  return (
    <div className="progress">
      <progress aria-label={words('progress')} max={total} value={decided} />
      <small>{text}</small>
    </div>
  );
}

/** The status of a batch, in words and with a mark beside the colour. */
export function BatchStatus({ batch }: { batch: Batch }) {
  const words = useTranslations('batches.statuses');
  const { status, refused, rejected } = batch;
  const tone = isOpen(batch) ? 'wait' : refused + rejected > 0 || status === 'cancelled' ? 'warn' : 'good';
  return <span className={`status ${tone}`}>{words(status)}</span>;
}
