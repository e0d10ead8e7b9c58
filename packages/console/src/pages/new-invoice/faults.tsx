import type { Fault } from '@ecf/engine/check';
import { createContext, type ReactNode, useContext } from 'react';
import { useFaultText } from '../../ui/fault-list.js';
import { Field, Select } from '../../ui/field.js';

export { FaultList, useFaultText } from '../../ui/fault-list.js';
export type { Fault };

/** The faults of the document that fields below show. */
export const Faults = createContext<readonly Fault[]>([]);

/** The faults of places of the document, in words; undefined without any. */
function useFaultsOf(...paths: string[]): string | undefined {
  const text = useFaultText();
  const own = useContext(Faults).filter((fault) => paths.includes(fault.path));
  return own.length === 0 ? undefined : own.map(text).join(' ');
}

interface PlacedProps {
  /** The place of the document that the input fills. */
  path: string;
  /** A group that is missing altogether when the input is empty. */
  group?: string;
  label: string;
  hint?: string | undefined;
  children: Parameters<typeof Field>[0]['children'];
}

/** A field that shows the faults of its place of the document, followed by its hint. */
export function PlacedField({ path, group = path, label, hint, children }: PlacedProps): ReactNode {
  const fault = useFaultsOf(path, group);
  return (
    <Field label={label} hint={hint} fault={fault && [fault, hint].filter(Boolean).join(' ')}>
      {children}
    </Field>
  );
}

interface TextProps extends Omit<PlacedProps, 'children'> {
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'date';
  inputMode?: 'numeric' | 'decimal';
}

/** A text or day of the document. */
export function PlacedText({ path, group, label, hint, value, onChange, type = 'text', inputMode }: TextProps) {
  return (
    <PlacedField path={path} group={group} label={label} hint={hint}>
      {(ids) => (
        <input
          {...ids}
          type={type}
          inputMode={inputMode}
          dir="auto"
          autoComplete="off"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </PlacedField>
  );
}

interface ChoiceProps extends Omit<PlacedProps, 'children'> {
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

/** A code of the document. */
export function PlacedChoice({ path, label, hint, value, options, onChange }: ChoiceProps) {
  return (
    <PlacedField path={path} label={label} hint={hint}>
      {(ids) => <Select {...ids} value={value} options={options} onChange={onChange} />}
    </PlacedField>
  );
}

const SHOWN_AT_FIELDS = new Set([
  'TipoeCF',
  'eNCF',
  'FechaVencimientoSecuencia',
  'FechaEmision',
  'DireccionEmisor',
  'Comprador',
  'RNCComprador',
  'RazonSocialComprador',
  'CorreoComprador',
  'NombreItem',
  'CantidadItem',
  'PrecioUnitarioItem',
  'DescuentoMonto',
  'IndicadorFacturacion',
  'TipoPago',
  'FechaLimitePago',
  'FormaPago',
  'TipoIngresos',
  'NCFModificado',
  'FechaNCFModificado',
  'CodigoModificacion',
  'RazonModificacion',
]);
const COMPUTED = /\.(?:Totales|MontoItem|MontoPago)\b/;

/** The faults that no field of the form shows. Those of computed amounts are left out while other faults explain them. */
export function faultsElsewhere(faults: readonly Fault[]): readonly Fault[] {
  const others = faults.filter(({ path }) => !SHOWN_AT_FIELDS.has(path.slice(path.lastIndexOf('.') + 1)));
  const typed = faults.filter(({ path }) => !COMPUTED.test(path));
  return typed.length === 0 ? others : others.filter(({ path }) => !COMPUTED.test(path));
}
