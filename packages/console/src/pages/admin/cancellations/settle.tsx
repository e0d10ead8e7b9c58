import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { type DoubtfulCancellation, type Numbers, settleCancellation } from '../../../data/admin/work.js';
import { Choice, Field } from '../../../ui/field.js';
import { Act, Reason, textOf } from '../act.js';

const OUTCOMES = ['accepted', 'rejected', 'partial'] as const;

/** Records what a person found out about a cancellation. */
export function Settle({ cancellation: { id, numbers } }: { cancellation: DoubtfulCancellation }) {
  const words = useTranslations('admin.cancellations');
  const [outcome, choose] = useState<(typeof OUTCOMES)[number]>('accepted');
  const settle = (form: FormData) =>
    settleCancellation(id, outcome, numbersOf(textOf(form, 'refused')), textOf(form, 'note'));
  return (
    <Act name={words('settle')} of={numbers} effect={words(`effects.${outcome}`)} act={settle}>
      <Choice
        label={words('found')}
        value={outcome}
        options={OUTCOMES.map((one) => [one, words(`outcomes.${one}`)])}
        onChange={(chosen) => choose(chosen as typeof outcome)}
      />
      {outcome === 'partial' && (
        <Field label={words('refused')} hint={words('refusedHint')}>
          {(ids) => <textarea {...ids} name="refused" required rows={4} spellCheck={false} />}
        </Field>
      )}
      <Reason name="note" />
    </Act>
  );
}

/** One number or one range a line: `E310000000001` or `E310000000001 E310000000009`. */
function numbersOf(text: string): Numbers[] {
  return text
    .split('\n')
    .map((line) => line.split(/[\s,-]/).filter((part) => part !== ''))
    .filter((parts) => parts.length > 0)
    .map(([from = '', to = from]) => ({ encf_desde: from, encf_hasta: to }));
}
