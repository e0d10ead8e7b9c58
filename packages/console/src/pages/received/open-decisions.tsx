import { useTranslations } from 'use-intl';
import { useOpenDecisions } from '../../data/received.js';
import { ReceivedLink } from './inbox.js';
import { Sends } from './states.js';

/** Decisions that the authority has not answered, or that did not reach the provider; nothing if there are none. */
export function OpenDecisions() {
  const words = useTranslations('received');
  const { data: open = [] } = useOpenDecisions();
  if (open.length === 0) return null;
  return (
    <details className="open-decisions">
      <summary>{`${words('open.title')} (${open.length})`}</summary>
      <p className="quiet">{words('open.hint')}</p>
      <ul className="attention">
        {open.map((approval) => (
          <li key={approval.id}>
            <ReceivedLink
              invoice={{
                buyer_rnc: approval.receiver_rnc,
                provider_rnc: approval.issuer_rnc,
                encf: approval.encf,
              }}
            />{' '}
            {words(`detail.decided.${approval.approval_status as 1 | 2}`)}
            <Sends approval={approval} />
          </li>
        ))}
      </ul>
    </details>
  );
}
