import { useLocale, useTranslations } from 'use-intl';
import { GatewayError, type Schemas } from '../data/gateway.js';
import { FaultList } from './fault-list.js';
import { wordsOf } from './problem.js';

/** Why a call failed and what to do; nothing while it has not. */
export function Fault({ error }: { error: Error | null }) {
  if (error === null) return null;
  return (
    <div className="fault" role="alert">
      <Explanation error={error} />
    </div>
  );
}

/** Statuses whose English sentence says more than the words of the code: which places, numbers or elements. */
const PARTICULAR = [400, 409, 422];

/** A failure in words, with the faults of a document and the places of a request that the gateway names. */
export function Explanation({ error }: { error: Error }) {
  const words = useTranslations('state');
  const isSpanish = useLocale().startsWith('es');
  const known = wordsOf(error, words);
  const { status, faults, items } = error instanceof GatewayError ? error : { status: 0, faults: [], items: [] };
  const isListed = faults.length > 0 || items.length > 0;
  const isParticular = known === undefined || (PARTICULAR.includes(status) && !isListed);
  return (
    <>
      <p>{known ?? (isSpanish ? words('unworded') : error.message)}</p>
      {isSpanish && isParticular && <small lang="en">{error.message}</small>}
      <FaultList faults={faults} />
      {faults.length === 0 && <Places items={items} />}
    </>
  );
}

/** The places of a request that are missing or malformed. */
function Places({ items }: { items: readonly Schemas['ValidationItem'][] }) {
  const words = useTranslations('state');
  const unknown = items.filter(({ type }) => !words.has(`reasons.${type}` as 'retry'));
  if (unknown.length === 0) return null;
  return (
    <ul className="places-of-request">
      {unknown.map(({ loc, msg }) => (
        <li key={loc.join('.')}>
          <code>{loc.slice(1).join('.')}</code> <span lang="en">{msg}</span>
        </li>
      ))}
    </ul>
  );
}
