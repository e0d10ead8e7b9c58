import { useTranslations } from 'use-intl';
import type { ReceivedInvoice } from '../../data/received.js';

/** Who signed a document, and what that proves. */
export function Signer({ signer }: { signer: ReceivedInvoice['signer'] }) {
  const words = useTranslations('received.detail');
  return (
    <dl className="signer">
      <dt>{words('subject')}</dt>
      <dd>
        <Holder name={signer.subject} />
      </dd>
      <dt>{words('issuer')}</dt>
      <dd>
        <Holder name={signer.issuer} />
      </dd>
      <dt>{words('trust')}</dt>
      <dd>
        <Trust signer={signer} />
      </dd>
    </dl>
  );
}

/** Whether the certificate of a signer is trusted, and whether the signer is known for the provider, in words. */
export function Trust({ signer: { trusted, known } }: { signer: ReceivedInvoice['signer'] }) {
  const words = useTranslations('received.detail');
  return (
    <>
      <p className={known ? 'good' : 'warn'}>{words(`known.${known}`)}</p>
      <p className={trusted === false ? 'bad' : 'quiet'}>{words(`trusted.${trusted}`)}</p>
    </>
  );
}

/** The common name of a certificate's subject or issuer, above the whole of it. */
export function Holder({ name }: { name: string }) {
  const common = /(?:^|, )CN=((?:\\.|[^,\\])*)/.exec(name)?.[1]?.replaceAll('\\', '');
  return (
    <span dir="auto">
      {common && <span className="stranger">{common}</span>}
      <small className="stranger">{name}</small>
    </span>
  );
}
