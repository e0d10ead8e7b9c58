import { useTranslations } from 'use-intl';
import { type Acknowledgement, useAcknowledgement } from '../../data/deliveries.js';
import { fileOf } from '../../data/invoices.js';
import { usePlace } from '../../data/place.js';
import { Dialog } from '../../ui/dialog.js';
import { FileButton } from '../../ui/file-button.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';

/** The acknowledgement of receipt (ARECF) of a document. */
export function AcknowledgementOf({ encf, close }: { encf: string; close: () => void }) {
  const words = useTranslations('deliveries');
  return (
    <Dialog title={words('titleOf', { encf })} onClose={close}>
      <Loaded query={useAcknowledgement(encf)}>
        {(found) => (found === null ? <p>{words('none')}</p> : <Facts acknowledgement={found} />)}
      </Loaded>
      <div className="actions">
        <button type="button" onClick={close}>
          {words('close')}
        </button>
      </div>
    </Dialog>
  );
}

function Facts({ acknowledgement }: { acknowledgement: Acknowledgement }) {
  const words = useTranslations('deliveries');
  const { moment } = useFormats();
  const { receipt_status, rejection_reason, received_at, receiver, signer, valid, validation_error } = acknowledgement;
  const facts: [string, string | null][] = [
    [words('answer'), receipt_status === null ? null : words(receipt_status === 0 ? 'wasReceived' : 'wasNotReceived')],
    [words('reason'), rejection_reason],
    [words('came'), moment(received_at)],
    [words('receiver'), receiver],
    [words('signer'), signer?.subject ?? null],
  ];
  return (
    <>
      {!valid && <p className="messages">{words('invalid', { reason: validation_error ?? '' })}</p>}
      <dl className="pairs">
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd dir="auto">{value}</dd>
              </div>
            ),
        )}
      </dl>
      <Xml acknowledgement={acknowledgement} />
    </>
  );
}

function Xml({ acknowledgement: { encf, issuer_rnc } }: { acknowledgement: Acknowledgement }) {
  const words = useTranslations('deliveries');
  const place = usePlace();
  return (
    <FileButton
      className="plain"
      name={`ARECF-${encf}.xml`}
      get={() => fileOf(`/received-arecf/${encf}/xml?issuer_rnc=${issuer_rnc}`, place)}
    >
      {words('xml')}
    </FileButton>
  );
}
