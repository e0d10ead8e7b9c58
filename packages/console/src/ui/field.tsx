import { type ReactNode, useId } from 'react';

/** What ties an input to its label, hint and fault. */
interface FieldIds {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

interface FieldProps {
  label: string;
  /** What belongs in the field. */
  hint?: string | undefined;
  /** What is wrong with the present value. */
  fault?: string | undefined;
  children: (ids: FieldIds) => ReactNode;
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

type SelectProps = Omit<ChoiceProps, 'label'> & FieldIds;

/** A list of values. */
export function Select({ options, onChange, ...others }: SelectProps) {
  return (
    <select {...others} onChange={({ target }) => onChange(target.value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** A field with a list of values. */
export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <Field label={label}>{(ids) => <Select {...ids} value={value} options={options} onChange={onChange} />}</Field>
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
