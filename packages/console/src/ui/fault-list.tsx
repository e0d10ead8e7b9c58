import { useLocale } from 'use-intl';
import type { Schemas } from '../data/gateway.js';
import { FAULTS } from '../words/es/faults.js';

/** A fault, of the engine or of the gateway. */
export type Fault = Pick<Schemas['Fault'], 'path' | 'rule' | 'message'>;

/** Words a fault in the language of the page. The check's own sentences are English; a rule without Spanish words keeps its own. */
export function useFaultText() {
  const locale = useLocale();
  return ({ path, rule, message }: Fault) =>
    (locale.startsWith('es') && FAULTS[path === '' ? 'json' : rule]) || message;
}

/** Faults of a document, in words, each with its place. */
export function FaultList({ title, faults }: { title?: string; faults: readonly Fault[] }) {
  if (faults.length === 0) return null;
  return (
    <section className="messages">
      {title && <h2>{title}</h2>}
      <ul>
        {faults.map((fault) => (
          <li key={`${fault.path} ${fault.rule}`}>
            <FaultText fault={fault} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A fault of a document in words, with its place. */
export function FaultText({ fault }: { fault: Fault }) {
  const text = useFaultText()(fault);
  return (
    <>
      <span lang={text === fault.message ? 'en' : undefined}>{text}</span>{' '}
      <small className="code">{placeOf(fault)}</small>
    </>
  );
}

/** The place of a fault in the document, as a person reads it. */
export const placeOf = ({ path }: Pick<Fault, 'path'>) => path.replace('ECF.', '');
