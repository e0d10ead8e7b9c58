import { type FormEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import { usePlace } from '../../../data/place.js';
import { encfOf, faultOf, isSameRange, type LeftRange, type NumberRange } from '../../../data/ranges.js';
import { Dialog, FormActions } from '../../../ui/dialog.js';
import { Field } from '../../../ui/field.js';
import { ConfirmRanges } from './confirm-ranges.js';

const TYPES = ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'] as const;
/** A number in full, or its sequence. */
const NUMBER = '[Ee][0-9]{12}|[0-9]{1,10}';

interface RangeFormProps {
  all: readonly LeftRange[];
  /** The range that is changed; null for a new one. */
  before: LeftRange | null;
  onClose: () => void;
}

/** Describes a range; the next step shows what changes. */
export function RangeForm({ all, before, onClose }: RangeFormProps) {
  const words = useTranslations();
  const { env } = usePlace();
  const [draft, setDraft] = useState<NumberRange | null>(before);
  const [fault, setFault] = useState<ReturnType<typeof faultOf>>(null);
  const [isAsking, setAsking] = useState(false);
  if (isAsking && draft !== null)
    return <ConfirmRanges all={all} before={before} after={draft} onDone={onClose} onBack={() => setAsking(false)} />;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const range = rangeIn(new FormData(event.currentTarget), env);
    const others = all.filter((one) => before === null || !isSameRange(one, before));
    const found = faultOf(range, others);
    setDraft(range);
    setFault(found);
    setAsking(found === null);
  };
  return (
    <Dialog title={words(before === null ? 'settings.ranges.add' : 'settings.ranges.change')} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={words('settings.ranges.type')}>
          {(ids) => (
            <select {...ids} name="type" defaultValue={draft?.ecf_type}>
              {TYPES.map((type) => (
                <option key={type} value={type}>
                  {`${type} ${words(`type.${type}`)}`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={words('settings.ranges.first')} hint={words('settings.ranges.numberHint')}>
          {(ids) => <input {...ids} name="from" defaultValue={draft?.from} pattern={NUMBER} required />}
        </Field>
        <Field label={words('settings.ranges.last')}>
          {(ids) => <input {...ids} name="to" defaultValue={draft?.to} pattern={NUMBER} required />}
        </Field>
        <Field label={words('settings.ranges.expires')} hint={words('settings.ranges.expiresHint')}>
          {(ids) => <input {...ids} type="date" name="expires" defaultValue={draft?.expires ?? ''} />}
        </Field>
        {fault !== null && (
          <p className="fault" role="alert">
            {words(`settings.ranges.faults.${fault}`)}
          </p>
        )}
        <FormActions act={words('settings.ranges.review')} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function rangeIn(form: FormData, env: NumberRange['env']): NumberRange {
  const text = (name: string) => String(form.get(name));
  const type = text('type') as NumberRange['ecf_type'];
  const expires = text('expires');
  return {
    env,
    ecf_type: type,
    from: encfOf(type, text('from')),
    to: encfOf(type, text('to')),
    expires: expires === '' ? null : expires,
  };
}
