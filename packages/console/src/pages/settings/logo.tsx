import { type DragEvent, type FormEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import type { GatewayError } from '../../data/gateway.js';
import { refusalOf, useDeleteLogo, useLogo, usePutLogo } from '../../data/logo.js';
import { usePlace } from '../../data/place.js';
import { useSettingsOwner } from '../../data/settings-owner.js';
import { Confirm } from '../../ui/confirm.js';
import { Fault } from '../../ui/fault.js';
import { Field } from '../../ui/field.js';
import { Loaded } from '../../ui/loaded.js';
import { Picture } from '../../ui/picture.js';
import { PrintedForm } from './printed-form.js';
import { TaxpayerHeading } from './taxpayer-heading.js';

/** The logo on the printed forms of the taxpayer. */
export function LogoPart() {
  const words = useTranslations('settings.logo');
  const { rnc } = usePlace();
  const { mayChange } = useSettingsOwner();
  const logo = useLogo(rnc);
  return (
    <section>
      <TaxpayerHeading title={words('title')} />
      <p className="quiet prose">{words('hint')}</p>
      <Loaded query={logo}>
        {(stored) => (
          <>
            {stored === null ? (
              <p className="prose">{words('none')}</p>
            ) : (
              <>
                <Picture file={stored} label={words('current')} unreadable={words('unreadable')} />
                <div className="actions">
                  <PrintedForm />
                  {mayChange && <Delete rnc={rnc} />}
                </div>
              </>
            )}
            {mayChange && <Upload key={rnc} rnc={rnc} />}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Delete({ rnc }: { rnc: string }) {
  const words = useTranslations('settings.logo');
  const remove = useDeleteLogo(rnc);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className="plain" onClick={() => setAsking(true)}>
        {words('remove')}
      </button>
      {isAsking && (
        <Confirm
          title={words('removeTitle')}
          act={words('remove')}
          doing={remove}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        >
          <p>{words('removeHint')}</p>
        </Confirm>
      )}
    </>
  );
}

/** Takes a picture, dropped or chosen, and shows it before it is stored. */
function Upload({ rnc }: { rnc: string }) {
  const words = useTranslations('settings.logo');
  const put = usePutLogo(rnc);
  const [chosen, setChosen] = useState<File | null>(null);
  const [refusal, setRefusal] = useState<GatewayError | null>(null);
  const choose = (file: File | undefined) => {
    const found = file === undefined ? null : refusalOf(file);
    put.reset();
    setRefusal(found);
    setChosen(found === null ? (file ?? null) : null);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    choose(event.dataTransfer.files[0]);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (chosen === null) return;
    put.mutate(chosen, {
      onSuccess: () => {
        form.reset();
        setChosen(null);
      },
    });
  };
  return (
    <form className="form drop" onSubmit={submit} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <Field label={words('file')} hint={words('fileHint')}>
        {(ids) => (
          <input
            {...ids}
            type="file"
            accept="image/png,image/jpeg"
            onChange={({ target }) => choose(target.files?.[0])}
          />
        )}
      </Field>
      {chosen !== null && <Picture file={chosen} label={words('preview')} unreadable={words('unreadable')} />}
      <Fault error={refusal ?? put.error} />
      <p className="good" role="status">
        {put.isSuccess && words('stored')}
      </p>
      <button type="submit" className="main" disabled={chosen === null || put.isPending}>
        {words('store')}
      </button>
    </form>
  );
}
