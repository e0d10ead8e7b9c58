import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { hasEarlierSubmission } from '../../data/earlier-submission.js';
import { fileOf, type Invoice } from '../../data/invoices.js';
import { useMay, usePlace } from '../../data/place.js';
import { FileButton } from '../../ui/file-button.js';

/** The printed forms and the signed XML. A rejected document has no printed form. */
export function Files({ invoice: { env, issuer_rnc: rnc, encf, status } }: { invoice: Invoice }) {
  const words = useTranslations('invoice');
  const file = (path: string) => () => fileOf(path, { env, rnc });
  return (
    <>
      {status !== 'Rechazado' && (
        <>
          <FileButton get={file(`/invoices/${encf}/pdf`)}>{words('printed')}</FileButton>
          <FileButton className="plain" get={file(`/invoices/${encf}/pdf?format=ticket`)}>
            {words('ticket')}
          </FileButton>
        </>
      )}
      <FileButton className="plain" get={file(`/${encf}/xml?issuer_rnc=${rnc}`)} name={`${rnc}${encf}.xml`}>
        {words('xml')}
      </FileButton>
    </>
  );
}

const NOTES = ['33', '34'];

/** What can follow from the document: another try for a rejected one, a credit note for an accepted invoice. */
export function Actions({ invoice }: { invoice: Invoice }) {
  const words = useTranslations('invoice');
  const { rnc } = usePlace();
  const maySubmit = useMay('submit');
  const { issuer_rnc, encf, ecf_type, status } = invoice;
  if (!maySubmit || rnc !== issuer_rnc) return null;
  if (status === 'Rechazado') {
    if (hasEarlierSubmission(invoice)) return null;
    return (
      <Link className="button main" to="/invoices/new" search={{ repeat: encf }}>
        {words('correct')}
      </Link>
    );
  }
  if (NOTES.includes(ecf_type) || !['Aceptado', 'AceptadoCondicional'].includes(status)) return null;
  return (
    <Link to="/invoices/new" search={{ credit: encf }}>
      {words('credit')}
    </Link>
  );
}
