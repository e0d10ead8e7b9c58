import { useEffect, useRef } from 'react';
import { useTranslations } from 'use-intl';
import { isRefused, mayRepeat, type Outcome, type useDecisions } from '../../data/decisions.js';
import { Fault } from '../../ui/fault.js';
import { ReceivedLink } from './inbox.js';
import { Sends } from './states.js';

/** What became of each decision of the last act, until it is closed. */
export function Results({ acts }: { acts: ReturnType<typeof useDecisions> }) {
  const words = useTranslations('received.results');
  const section = useRef<HTMLElement>(null);
  const { outcomes, busy } = acts;
  const shown = outcomes.length > 0;
  // The button that was pressed may be gone.
  useEffect(() => {
    if (shown) section.current?.focus();
  }, [shown]);
  if (!shown) return null;
  return (
    <section className="results" aria-label={words('title')} tabIndex={-1} ref={section}>
      <Summary outcomes={outcomes} />
      <ul>
        {outcomes.map((outcome) => (
          <Row key={outcome.invoice.id} outcome={outcome} />
        ))}
      </ul>
      {!busy && (
        <div className="actions">
          {outcomes.some(mayRepeat) && (
            <button type="button" onClick={acts.repeat}>
              {words('repeat')}
            </button>
          )}
          <button type="button" className="plain" onClick={acts.dismiss}>
            {words('close')}
          </button>
        </div>
      )}
    </section>
  );
}

function Summary({ outcomes }: { outcomes: readonly Outcome[] }) {
  const words = useTranslations('received.results');
  const count = outcomes.length;
  const failed = outcomes.filter((one) => one.error || isRefused(one)).length;
  const done = outcomes.filter(({ approval }) => approval).length - outcomes.filter(isRefused).length;
  const text =
    done + failed < count
      ? words('busy', { done: done + failed, count })
      : failed === 0
        ? words('done', { count })
        : done === 0
          ? words('failed', { count })
          : words('partly', { done, failed });
  return <h2 role="status">{text}</h2>;
}

function Row({ outcome: { invoice, approval, error } }: { outcome: Outcome }) {
  const words = useTranslations('received.results');
  return (
    <li>
      <ReceivedLink invoice={invoice} />{' '}
      <span className="stranger" dir="auto">
        {invoice.provider_name}
      </span>
      {approval && <Sends approval={approval} />}
      <Fault error={error ?? null} />
      {!approval && !error && <small>{words('sending')}</small>}
    </li>
  );
}
