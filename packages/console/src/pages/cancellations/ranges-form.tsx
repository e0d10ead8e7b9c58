import { type FormEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import {
  type NumberRange,
  type RangeFault,
  readRanges,
  type TypedRange,
  typedRange,
} from '../../data/number-ranges.js';
import { useAccount, usePlace } from '../../data/place.js';
import { Choice, Field } from '../../ui/field.js';
import { useFormats } from '../../ui/format.js';

const TYPES = ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'] as const;
/** Enough for a form; a program sends more in one request. */
const MOST_RANGES = 100;

interface RangesFormProps {
  typed: readonly TypedRange[];
  onType: (typed: readonly TypedRange[]) => void;
  reason: string;
  onReason: (reason: string) => void;
  /** Continues with the ranges, which have no faults. */
  review: () => void;
}

/** The first step: the ranges, each with what is wrong with it. */
export function RangesForm({ typed, onType, reason, onReason, review }: RangesFormProps) {
  const words = useTranslations('cancellations');
  const [faults, setFaults] = useState<readonly (RangeFault | undefined)[]>([]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const read = readRanges(typed);
    setFaults(read.faults ?? []);
    if (read.faults === null) review();
  };
  const change = (at: number, changed: Partial<TypedRange>) => {
    onType(typed.map((one, index) => (index === at ? { ...one, ...changed } : one)));
    setFaults([]);
  };
  return (
    <form className="ranges" onSubmit={submit} noValidate>
      {typed.map((range, at) => (
        <fieldset key={range.id} aria-label={words('range', { number: at + 1 })}>
          <RangeFields range={range} fault={faults[at]} onChange={(changed) => change(at, changed)} />
          {typed.length > 1 && (
            <button type="button" className="plain" onClick={() => onType(typed.filter(({ id }) => id !== range.id))}>
              {words('remove', { number: at + 1 })}
            </button>
          )}
        </fieldset>
      ))}
      <Registered
        onPick={(range) =>
          onType([...typed.filter(({ from }) => from !== ''), typedRange(range.type, range.from, range.to)])
        }
      />
      <Field label={words('reason')} hint={words('reasonHint')}>
        {(ids) => <input {...ids} value={reason} maxLength={1000} onChange={({ target }) => onReason(target.value)} />}
      </Field>
      <div className="actions">
        <button type="submit" className="main">
          {words('review')}
        </button>
        {typed.length < MOST_RANGES && (
          <button type="button" onClick={() => onType([...typed, typedRange(typed.at(-1)?.type ?? '31')])}>
            {words('add')}
          </button>
        )}
      </div>
    </form>
  );
}

interface RangeFieldsProps {
  range: TypedRange;
  fault: RangeFault | undefined;
  onChange: (changed: Partial<TypedRange>) => void;
}

function RangeFields({ range: { type, from, to }, fault, onChange }: RangeFieldsProps) {
  const words = useTranslations('cancellations');
  const types = useTranslations('type');
  return (
    <>
      <Choice
        label={words('type')}
        value={type}
        options={TYPES.map((one) => [one, `${one} ${types(one)}`])}
        onChange={(chosen) => onChange({ type: chosen as TypedRange['type'] })}
      />
      <Field label={words('from')} fault={fault && words(`faults.${fault}`)} hint={words('numberHint', { type })}>
        {(ids) => (
          <input {...ids} value={from} autoComplete="off" onChange={({ target }) => onChange({ from: target.value })} />
        )}
      </Field>
      <Field label={words('to')} hint={words('toHint')}>
        {(ids) => (
          <input {...ids} value={to} autoComplete="off" onChange={({ target }) => onChange({ to: target.value })} />
        )}
      </Field>
    </>
  );
}

/** What is left of the registered ranges, to cancel it with one click. */
function Registered({ onPick }: { onPick: (range: NumberRange) => void }) {
  const words = useTranslations('cancellations');
  const { day } = useFormats();
  const { env, rnc } = usePlace();
  const own = useAccount().data?.taxpayers.find((one) => one.rnc === rnc)?.ranges ?? [];
  const left = own.flatMap(({ env: of, ecf_type: type, next, to, expires }) =>
    of === env && next !== null ? [{ type, from: next, to, expires }] : [],
  );
  if (left.length === 0) return null;
  return (
    <section>
      <h2>{words('left')}</h2>
      <ul className="attention">
        {left.map(({ expires, ...range }) => (
          <li key={range.from}>
            {`${range.from} – ${range.to} `}
            <button type="button" className="plain" onClick={() => onPick(range)}>
              {words('pick')}
            </button>
            {expires !== null && <small>{words('expires', { day: day(expires) })}</small>}
          </li>
        ))}
      </ul>
    </section>
  );
}
