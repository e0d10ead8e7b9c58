import type { DocumentNode } from '@ecf/domain';
import { useTranslations } from 'use-intl';
import { useFormats } from './format.js';

/** The amounts of the group Totales that the pages show, in the order of a printed invoice. */
const AMOUNTS = [
  'MontoGravadoI1',
  'MontoGravadoI2',
  'MontoGravadoI3',
  'MontoExento',
  'TotalITBIS1',
  'TotalITBIS2',
  'MontoImpuestoAdicional',
  'MontoTotal',
  'MontoNoFacturable',
  'TotalITBISRetenido',
  'TotalISRRetencion',
  'TotalITBISPercepcion',
  'TotalISRPercepcion',
  'SaldoAnterior',
  'MontoAvancePago',
  'ValorPagar',
] as const;

/** The totals that a document has. */
export function Totals({ totals }: { totals: DocumentNode }) {
  const words = useTranslations('totals');
  const { money } = useFormats();
  return (
    <dl className="totals">
      {AMOUNTS.filter((name) => typeof totals[name] === 'string').map((name) => (
        <div key={name} className={name === 'MontoTotal' ? 'grand' : undefined}>
          <dt>{words(name)}</dt>
          <dd>{money(String(totals[name]))}</dd>
        </div>
      ))}
    </dl>
  );
}
