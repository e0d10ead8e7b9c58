import { useLocale } from 'use-intl';
import type { Schemas } from '../data/gateway.js';
import { FAULTS } from '../words/es/faults.js';

type Fault = Pick<Schemas['Fault'], 'path' | 'rule' | 'message'>;

/** Words a fault in the language of the page. The check's own sentences are English; a rule without Spanish words keeps its own. */
export function useFaultText() {
  const locale = useLocale();
  return ({ path, rule, message }: Fault) =>
    (locale.startsWith('es') && FAULTS[path === '' ? 'json' : rule]) || message;
}

/** Faults of a document, in words, each with its place. */
export function FaultList({ title, faults }: { title?: string; faults: readonly Fault[] }) {
  const text = useFaultText();
  if (faults.length === 0) return null;
  return (
    <section className="messages">
      {title && <h2>{title}</h2>}
      <ul>
        {faults.map((fault) => (
          <li key={`${fault.path} ${fault.rule}`}>
            <span lang={text(fault) === fault.message ? 'en' : undefined}>{text(fault)}</span>{' '}
            <small className="code">{fault.path.replace('ECF.', '')}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}
