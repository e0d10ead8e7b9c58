interface ChecksProps {
  legend: string;
  /** Of the boxes in the form, each with its value. */
  name: string;
  options: readonly (readonly [value: string, text: string])[];
  /** The values that are ticked at first. */
  ticked: readonly string[];
  hint?: string;
}

/** A group of boxes to tick, as part of a form. */
export function Checks({ legend, name, options, ticked, hint }: ChecksProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {options.map(([value, text]) => (
        <label key={value}>
          <input type="checkbox" name={name} value={value} defaultChecked={ticked.includes(value)} />
          {text}
        </label>
      ))}
      {hint && <small>{hint}</small>}
    </fieldset>
  );
}
