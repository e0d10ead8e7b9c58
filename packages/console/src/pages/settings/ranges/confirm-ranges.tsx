import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { GatewayError } from '../../../data/gateway.js';
import { usePlace } from '../../../data/place.js';
import {
  countWithout,
  isSameRange,
  type LeftRange,
  type NumberRange,
  sizeOf,
  usePutRanges,
} from '../../../data/ranges.js';
import { Confirm } from '../../../ui/confirm.js';
import { useFormats } from '../../../ui/format.js';

interface ConfirmRangesProps {
  all: readonly LeftRange[];
  /** The range that changes or is removed; null for a new one. */
  before: LeftRange | null;
  /** What it becomes; null if it is removed. */
  after: NumberRange | null;
  onDone: () => void;
  onBack: () => void;
}

/** Shows what a change of the ranges does, and makes it. Numbers that were used are removed only with express consent. */
export function ConfirmRanges({ all, before, after, onDone, onBack }: ConfirmRangesProps) {
  const words = useTranslations('settings.ranges');
  const { rnc } = usePlace();
  const put = usePutRanges(rnc);
  const [consents, setConsents] = useState(false);
  const others = all.filter((one) => before === null || !isSameRange(one, before));
  const list = after === null ? others : [...others, after];
  const lost = before === null ? 0 : countWithout(before, after);
  const needsConsent = list.length === 0 || (put.error instanceof GatewayError && put.error.code === 'range_in_use');
  const act = before === null ? 'add' : after === null ? 'remove' : 'change';
  const change = () =>
    put.mutate({ before: all, after: list, remove: needsConsent && consents }, { onSuccess: onDone });
  return (
    <Confirm
      title={words(`titles.${act}`)}
      act={words(act)}
      doing={put}
      isHarmless={lost === 0}
      isReady={!needsConsent || consents}
      onConfirm={change}
      onClose={onBack}
    >
      <dl className="pairs">
        <Line term={words('before')} range={before} />
        <Line term={words('after')} range={after} />
      </dl>
      <Effect before={before} after={after} lost={lost} />
      {needsConsent && (
        <>
          {list.length === 0 && <p>{words('lastOne')}</p>}
          <label className="consent">
            <input type="checkbox" checked={consents} onChange={({ target }) => setConsents(target.checked)} />
            {words('consent')}
          </label>
        </>
      )}
    </Confirm>
  );
}

function Line({ term, range }: { term: string; range: NumberRange | null }) {
  const words = useTranslations('settings.ranges');
  const { day } = useFormats();
  return (
    <>
      <dt>{term}</dt>
      <dd>
        {range === null ? (
          words('notRegistered')
        ) : (
          <span className="code">{words('span', { from: range.from, to: range.to })}</span>
        )}
        {range !== null && (
          <small>{range.expires === null ? words('noExpiry') : words('until', { day: day(range.expires) })}</small>
        )}
      </dd>
    </>
  );
}

interface EffectProps {
  before: LeftRange | null;
  after: NumberRange | null;
  /** Numbers that are no longer registered. */
  lost: number;
}

function Effect({ before, after, lost }: EffectProps) {
  const words = useTranslations('settings.ranges');
  const gained = after === null ? 0 : countWithout(after, before);
  const used = before === null || before.remaining === null ? 0 : sizeOf(before) - before.remaining;
  return (
    <>
      {gained > 0 && <p>{words('gained', { count: gained })}</p>}
      {lost > 0 && <p className="warn">{words('lost', { count: lost })}</p>}
      {lost > 0 && used > 0 && <p>{words('used', { count: used })}</p>}
      <p className="quiet">{words('others')}</p>
    </>
  );
}
