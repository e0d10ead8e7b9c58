import { type FormEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import { useAccount, usePlace } from '../../data/place.js';
import { RUN_ENVIRONMENTS, useStartRun } from '../../data/runs.js';
import { Confirm } from '../../ui/confirm.js';
import { Field } from '../../ui/field.js';
import { TaxpayerHeading } from './taxpayer-heading.js';

/** Begins a certification run of the taxpayer. */
export function RunsPart() {
  const words = useTranslations('settings.runs');
  const { rnc } = usePlace();
  const environments = useAccount().data?.environments ?? [];
  const possible = RUN_ENVIRONMENTS.filter((env) => environments.includes(env));
  return (
    <section>
      <TaxpayerHeading title={words('title')} />
      <p className="prose">{words('hint')}</p>
      {possible.length === 0 ? (
        <p className="quiet prose">{words('production')}</p>
      ) : (
        <Start key={rnc} rnc={rnc} environments={possible} />
      )}
    </section>
  );
}

type RunEnvironment = (typeof RUN_ENVIRONMENTS)[number];

function Start({ rnc, environments }: { rnc: string; environments: readonly RunEnvironment[] }) {
  const words = useTranslations('settings.runs');
  const place = usePlace();
  const start = useStartRun(rnc);
  const [wanted, setWanted] = useState<{ env: RunEnvironment; reason: string } | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    start.reset();
    setWanted({ env: form.get('env') as RunEnvironment, reason: String(form.get('reason')).trim() });
  };
  return (
    <form className="form" onSubmit={submit}>
      <Field label={words('env')}>
        {(ids) => (
          <select {...ids} name="env" defaultValue={place.env}>
            {environments.map((env) => (
              <option key={env}>{env}</option>
            ))}
          </select>
        )}
      </Field>
      <Field label={words('reason')} hint={words('reasonHint')}>
        {(ids) => <textarea {...ids} name="reason" rows={3} maxLength={1_000} required />}
      </Field>
      <p className="good" role="status">
        {start.data && words('started', { run: start.data.run, env: start.data.env, count: start.data.superseded })}
      </p>
      <button type="submit" className="main">
        {words('start')}
      </button>
      {wanted !== null && (
        <Confirm
          title={words('startTitle', { env: wanted.env })}
          act={words('start')}
          doing={start}
          onConfirm={() => start.mutate(wanted, { onSuccess: () => setWanted(null) })}
          onClose={() => setWanted(null)}
        >
          <Effects />
        </Confirm>
      )}
    </form>
  );
}

/** What a run does to the documents. */
function Effects() {
  const words = useTranslations('settings.runs');
  return (
    <ul className="effects">
      <li>{words('kept')}</li>
      <li>{words('numbers')}</li>
      <li>{words('undecided')}</li>
      <li>{words('unsent')}</li>
      <li>{words('final')}</li>
    </ul>
  );
}
