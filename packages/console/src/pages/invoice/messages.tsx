import { useTranslations } from 'use-intl';
import { hasEarlierSubmission, NUMBER_USED } from '../../data/earlier-submission.js';
import type { Invoice } from '../../data/invoices.js';
import { useRemedy } from '../../ui/remedy.js';

/** What the authority says about the document, what to do about it, and whether the number can be used again. */
export function Messages({ invoice }: { invoice: Invoice }) {
  const words = useTranslations('invoice');
  const remedy = useRemedy();
  const { status, messages, sequence_used } = invoice;
  const isRejected = status === 'Rechazado';
  /** A message about an earlier submission may come without a code, or with that of another cause. */
  const remedyOf = (message: Invoice['messages'][number]) =>
    remedy(hasEarlierSubmission({ ...invoice, messages: [message] }) ? NUMBER_USED : message.codigo);
  return (
    <>
      {status === 'EnProceso' && (
        <p className="quiet" role="status">
          {words('refreshing')}
        </p>
      )}
      {(messages.length > 0 || isRejected) && (
        <section className="messages">
          <h2>{words('messages')}</h2>
          <ul>
            {messages.map((message) => (
              <li key={`${message.codigo} ${message.valor}`}>
                <span dir="auto">{message.valor}</span> {message.codigo !== '' && <code>{message.codigo}</code>}
                {remedyOf(message) !== null && <p className="quiet">{remedyOf(message)}</p>}
              </li>
            ))}
          </ul>
          {isRejected && sequence_used !== null && !hasEarlierSubmission(invoice) && (
            <p>{words(sequence_used ? 'used' : 'reusable')}</p>
          )}
        </section>
      )}
    </>
  );
}
