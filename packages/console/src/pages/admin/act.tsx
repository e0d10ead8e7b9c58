import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslations } from 'use-intl';
import { type Role, useAct, useHasRole } from '../../data/admin/gateway.js';
import { Dialog, FormActions } from '../../ui/dialog.js';
import { Fault } from '../../ui/fault.js';
import { Field } from '../../ui/field.js';

interface ActProps<T> {
  /** What the act does, as on its button. */
  name: string;
  /** The object of the act, where the page shows several. */
  of?: string;
  /** What will happen, in a sentence. */
  effect: string;
  /** The least role that may act; others do not see the button. */
  needs?: Role;
  /** True for the main act of a page. */
  isMain?: boolean;
  act: (form: FormData) => Promise<T>;
  /** The fields of its form. */
  children?: ReactNode;
  /** What is shown after it succeeded; by default the dialog closes. */
  done?: (result: T, close: () => void) => ReactNode;
}

/** A button that asks before it acts: names what will happen, and asks for the fields that the act needs. */
export function Act<T>({ needs = 'operator', isMain = false, ...act }: ActProps<T>) {
  const mayAct = useHasRole(needs);
  const [isOpen, setOpen] = useState(false);
  if (!mayAct) return null;
  return (
    <>
      <button type="button" className={isMain ? 'main' : undefined} onClick={() => setOpen(true)}>
        {act.name}
        {act.of !== undefined && <span className="unseen"> {act.of}</span>}
      </button>
      {isOpen && <Asked {...act} close={() => setOpen(false)} />}
    </>
  );
}

function Asked<T>({ name, of, effect, act, children, done, close }: ActProps<T> & { close: () => void }) {
  const acting = useAct(act);
  if (acting.isSuccess && done !== undefined) return done(acting.data, close);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    acting.mutate(new FormData(event.currentTarget), { onSuccess: done === undefined ? close : undefined });
  };
  return (
    <Dialog title={of === undefined ? name : `${name}: ${of}`} onClose={close}>
      <form onSubmit={submit}>
        <p className="quiet">{effect}</p>
        {children}
        <Fault error={acting.error} />
        <FormActions act={name} isBusy={acting.isPending} onClose={close} />
      </form>
    </Dialog>
  );
}

/** The field for the reason of an act, which is kept with it. `name` is that of the operation's field. */
export function Reason({ name }: { name: 'note' | 'reason' }) {
  const words = useTranslations('admin');
  return (
    <Field label={words('reason')} hint={words('reasonHint')}>
      {(ids) => <textarea {...ids} name={name} required maxLength={1_000} rows={3} />}
    </Field>
  );
}

/** A field of a form as text without spaces around it. */
export const textOf = (form: FormData, name: string): string => String(form.get(name) ?? '').trim();
