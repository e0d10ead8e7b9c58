import { useTranslations } from 'use-intl';
import { usePlace } from '../../data/place.js';
import { type Approval, filesOf, type ReceivedInvoice } from '../../data/received.js';
import { FileButton } from '../../ui/file-button.js';
import { useFormats } from '../../ui/format.js';
import { Sends } from './states.js';

interface HistoryProps {
  invoice: ReceivedInvoice;
  decisions: readonly Approval[];
}

/** What happened to a received document, oldest first, with the acknowledgement and the decisions. */
export function History({ invoice, decisions }: HistoryProps) {
  const words = useTranslations('received.detail');
  const { day, moment } = useFormats();
  const files = filesOf(invoice, usePlace().env);
  const { date_issued, date_received, encf } = invoice;
  return (
    <ol className="history">
      {date_issued !== null && (
        <li>
          <span>{words('issued')}</span>
          <time>{day(date_issued)}</time>
        </li>
      )}
      <li>
        <span>{words('received')}</span>
        <time>{moment(date_received)}</time>
      </li>
      <li>
        <span>{words('acknowledged')}</span>
        <FileButton className="plain" get={files.acknowledgement} name={`arecf-${encf}.xml`}>
          {words('acknowledgementXml')}
        </FileButton>
      </li>
      {[...decisions].reverse().map((approval) => (
        <Made key={approval.id} approval={approval} xml={() => files.decision(approval.id)} />
      ))}
    </ol>
  );
}

/** A decision about the document: its reason, where it is, and its signed XML. */
function Made({ approval, xml }: { approval: Approval; xml: () => Promise<Blob> }) {
  const words = useTranslations('received.detail');
  const { moment } = useFormats();
  const { id, approval_status, approval_datetime, rejection_description, superseded } = approval;
  return (
    <li>
      <span>{words(`decided.${approval_status as 1 | 2}`)}</span>
      <time>{moment(approval_datetime)}</time>
      {rejection_description !== null && <p className="stranger">{rejection_description}</p>}
      {superseded ? <small>{words('superseded')}</small> : <Sends approval={approval} />}
      <FileButton className="plain" get={xml} name={`acecf-${id}.xml`}>
        {words('decisionXml')}
      </FileButton>
    </li>
  );
}
