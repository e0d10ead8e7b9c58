import type { FormEvent } from 'react';
import { useTranslations } from 'use-intl';
import { type Certificate, useCertificate, usePutCertificate } from '../../data/certificate.js';
import { usePlace } from '../../data/place.js';
import { useSettingsOwner } from '../../data/settings-owner.js';
import { Fault } from '../../ui/fault.js';
import { Field } from '../../ui/field.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { TaxpayerHeading } from './taxpayer-heading.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;

/** The certificate that signs for the taxpayer, and the form that replaces it. */
export function CertificatePart() {
  const words = useTranslations('settings.certificate');
  const { rnc } = usePlace();
  const { mayChange } = useSettingsOwner();
  const certificate = useCertificate(rnc);
  return (
    <section>
      <TaxpayerHeading title={words('title')} />
      <Loaded query={certificate}>
        {(stored) => (
          <>
            {stored === null ? <p className="prose">{words('none')}</p> : <Facts certificate={stored} />}
            {mayChange && <Upload key={rnc} rnc={rnc} replaces={stored !== null} />}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Facts({ certificate }: { certificate: Certificate }) {
  const words = useTranslations('settings.certificate');
  const { day } = useFormats();
  const days = Math.floor((new Date(certificate.not_after).getTime() - Date.now()) / DAY_MS);
  return (
    <>
      <p className={`big ${days < 0 ? 'bad' : days < SOON_DAYS ? 'warn' : ''}`}>
        {days < 0 ? words('ended') : words('left', { days })}
      </p>
      <dl className="pairs">
        <dt>{words('ends')}</dt>
        <dd>{day(certificate.not_after)}</dd>
        <dt>{words('begins')}</dt>
        <dd>{day(certificate.not_before)}</dd>
        <dt>{words('subject')}</dt>
        <dd dir="auto">{certificate.subject}</dd>
        <dt>{words('serial')}</dt>
        <dd className="code">{certificate.serial_number}</dd>
        <dt>{words('fingerprint')}</dt>
        <dd className="code">{certificate.fingerprint}</dd>
      </dl>
    </>
  );
}

function Upload({ rnc, replaces }: { rnc: string; replaces: boolean }) {
  const words = useTranslations('settings.certificate');
  const { day } = useFormats();
  const put = usePutCertificate(rnc);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    put.mutate(form, {
      onSuccess: () => form.reset(),
      onError: () => {
        (form.elements.namedItem('password') as HTMLInputElement).value = '';
      },
    });
  };
  return (
    <form className="form" onSubmit={submit}>
      <h2>{words(replaces ? 'replace' : 'store')}</h2>
      <Field label={words('file')} hint={words('fileHint')}>
        {(ids) => <input {...ids} type="file" name="certificate" accept=".p12,.pfx" required />}
      </Field>
      <Field label={words('password')} hint={words('passwordHint')}>
        {(ids) => <input {...ids} type="password" name="password" autoComplete="off" />}
      </Field>
      <Fault error={put.error} />
      <p className="good" role="status">
        {put.data && words('stored', { day: day(put.data.not_after) })}
      </p>
      <button type="submit" className="main" disabled={put.isPending}>
        {words(replaces ? 'replace' : 'store')}
      </button>
    </form>
  );
}
