import { useRef } from 'react';
import { useTranslations } from 'use-intl';
import { useFormats } from '../../ui/format.js';
import { type DraftLine, emptyLine, type Indicator } from './draft.js';
import { PlacedChoice, PlacedText } from './faults.js';

interface Props {
  lines: readonly DraftLine[];
  /** MontoItem of each line; undefined where it cannot be computed. */
  amounts: readonly (string | undefined)[];
  onChange: (lines: readonly DraftLine[]) => void;
}

/** The lines. A new line gets the focus; after a removed one, the line before it. */
export function LineFields({ lines, amounts, onChange }: Props) {
  const words = useTranslations('newInvoice');
  const list = useRef<HTMLOListElement>(null);
  const focus = (index: number) =>
    requestAnimationFrame(() => list.current?.children[index]?.querySelector('input')?.focus());
  const add = () => {
    onChange([...lines, emptyLine()]);
    focus(lines.length);
  };
  const remove = (removed: DraftLine, index: number) => {
    onChange(lines.filter((line) => line !== removed));
    focus(Math.max(0, index - 1));
  };
  return (
    <>
      <ol className="draft-lines" ref={list}>
        {lines.map((line, index) => (
          <Line
            key={line.id}
            line={line}
            number={index + 1}
            amount={amounts[index]}
            onChange={(changed) => onChange(lines.with(index, changed))}
            onRemove={lines.length > 1 ? () => remove(line, index) : undefined}
          />
        ))}
      </ol>
      <button type="button" className="start" onClick={add}>
        {words('add')}
      </button>
    </>
  );
}

interface LineProps {
  line: DraftLine;
  number: number;
  amount: string | undefined;
  onChange: (line: DraftLine) => void;
  onRemove: (() => void) | undefined;
}

function Line({ line, number, amount, onChange, onRemove }: LineProps) {
  const words = useTranslations('newInvoice');
  const { money } = useFormats();
  const path = (element: string) => `ECF.DetallesItems.Item[${number}].${element}`;
  const change = (name: keyof DraftLine) => (text: string) => onChange({ ...line, [name]: text });
  const rates: readonly Indicator[] = line.indicator === '0' ? ['0', '1', '2', '3', '4'] : ['1', '2', '3', '4'];
  return (
    <li aria-label={words('line', { number })}>
      <PlacedText path={path('NombreItem')} label={words('name')} value={line.name} onChange={change('name')} />
      <PlacedChoice
        path={path('IndicadorBienoServicio')}
        label={words('goods')}
        value={line.kind}
        options={(['1', '2'] as const).map((kind) => [kind, words(`kindOf.${kind}`)])}
        onChange={change('kind')}
      />
      <PlacedText
        path={path('CantidadItem')}
        label={words('quantity')}
        inputMode="decimal"
        value={line.quantity}
        onChange={change('quantity')}
      />
      <PlacedText
        path={path('PrecioUnitarioItem')}
        label={words('price')}
        inputMode="decimal"
        value={line.price}
        onChange={change('price')}
      />
      <PlacedText
        path={path('DescuentoMonto')}
        label={words('discount')}
        inputMode="decimal"
        value={line.discount}
        onChange={change('discount')}
      />
      <PlacedChoice
        path={path('IndicadorFacturacion')}
        label={words('rate')}
        value={line.indicator}
        options={rates.map((rate) => [rate, words(`rateOf.${rate}`)])}
        onChange={change('indicator')}
      />
      <p className="line-end">
        <output>{amount && money(amount)}</output>
        {onRemove && (
          <button type="button" className="plain" aria-label={words('remove', { number })} onClick={onRemove}>
            ×
          </button>
        )}
      </p>
    </li>
  );
}
