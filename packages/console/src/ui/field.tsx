import { type ReactNode, useId } from 'react';

interface FieldProps {
  label: string;
  /** What belongs in the field. */
  hint?: string | undefined;
  /** What is wrong with the present value. */
  fault?: string | undefined;
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode;
}

/** The label, the hint and the fault of an input, which takes the ids: `<Field label="x">{(ids) => <input {...ids} />}</Field>`. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId();
  const described = `${id}-described`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...((hint ?? fault) && { 'aria-describedby': described }),
        ...(fault && { 'aria-invalid': true }),
      })}
      {(hint ?? fault) && (
        <small id={described} className={fault && 'fault'}>
          {fault ?? hint}
        </small>
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

/** A field with a list of values. */
export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} value={value} onChange={({ target }) => onChange(target.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface DayFieldProps {
  label: string;
  /** `YYYY-MM-DD` */
  value: string;
  onChange: (value: string) => void;
}

/** A field with a day. */
export function DayField({ label, value, onChange }: DayFieldProps) {
  return (
    <Field label={label}>
      {(ids) => <input {...ids} type="date" value={value} onChange={({ target }) => onChange(target.value)} required />}
    </Field>
  );
}
