import { useTranslations } from 'use-intl';
import type { Invoice } from '../../data/invoices.js';
import { useRemedy } from '../../ui/remedy.js';

/** What the authority says about the document, what to do about it, and whether the number can be used again. */
export function Messages({ invoice: { status, messages, sequence_used } }: { invoice: Invoice }) {
  const words = useTranslations('invoice');
  const remedy = useRemedy();
  const isRejected = status === 'Rechazado';
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
            {messages.map(({ codigo, valor }) => (
              <li key={`${codigo} ${valor}`}>
                <span dir="auto">{valor}</span> {codigo !== '' && <code>{codigo}</code>}
                {remedy(codigo) !== null && <p className="quiet">{remedy(codigo)}</p>}
              </li>
            ))}
          </ul>
          {isRejected && sequence_used !== null && <p>{words(sequence_used ? 'used' : 'reusable')}</p>}
        </section>
      )}
    </>
  );
}
