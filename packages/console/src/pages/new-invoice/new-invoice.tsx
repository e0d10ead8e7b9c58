import type { DocumentNode } from '@ecf/domain';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useTranslations } from 'use-intl';
import { hasEarlierSubmission, NUMBER_USED } from '../../data/earlier-submission.js';
import { type Invoice, useInvoice, useInvoiceDocument } from '../../data/invoices.js';
import { usePlace } from '../../data/place.js';
import { Loaded } from '../../ui/loaded.js';
import { useRemedy } from '../../ui/remedy.js';
import { creditDocument, creditNoteFor, fitsTheForm } from './credit-note.js';
import { documentOf, emptyDraft } from './draft.js';
import { InvoiceForm } from './form.js';
import './new-invoice.css';
import { repeatOf } from './repeat.js';
import { useIssuer } from './use-invoice-form.js';

const route = getRouteApi('/invoices/new');
// The editor is as large as the rest of the page, and few documents need it.
const DocumentEditor = lazy(() => import('./editor/document-editor.js'));

/** A new document: from nothing, from a rejected one (`repeat`), or as a credit note for an invoice (`credit`). */
export function NewInvoice() {
  const { repeat, credit } = route.useSearch();
  if (repeat !== undefined) return <Repeat key={repeat} encf={repeat} />;
  if (credit !== undefined) return <Credit key={credit} encf={credit} />;
  return <Fresh />;
}

function Fresh() {
  const words = useTranslations('newInvoice');
  const [start] = useState(emptyDraft);
  return (
    <>
      <h1>{words('title')}</h1>
      <InvoiceForm start={start} />
    </>
  );
}

function Credit({ encf }: { encf: string }) {
  const words = useTranslations('newInvoice');
  const document = useInvoiceDocument(usePlace().rnc, encf);
  return (
    <>
      <h1>{words('creditTitle', { encf })}</h1>
      <Loaded query={document}>{(issued) => <CreditNote invoice={issued as DocumentNode} />}</Loaded>
    </>
  );
}

function CreditNote({ invoice }: { invoice: DocumentNode }) {
  const words = useTranslations('newInvoice');
  const [note] = useState(() => creditNoteFor(invoice));
  const { issuer } = useIssuer('34');
  if (fitsTheForm(invoice)) return <InvoiceForm start={note} />;
  const document = creditDocument(invoice, documentOf(note, issuer, { encf: '', expires: '' }));
  return <Edit document={document} note={words('copied')} />;
}

function Repeat({ encf }: { encf: string }) {
  const words = useTranslations();
  const { rnc } = usePlace();
  const invoice = useInvoice(rnc, encf);
  const document = useInvoiceDocument(rnc, encf);
  const remedy = useRemedy();
  const obstacle = (rejected: Invoice) => {
    if (rejected.status !== 'Rechazado')
      return words('newInvoice.notRejected', { encf, status: words(`status.${rejected.status}`) });
    return hasEarlierSubmission(rejected) ? remedy(NUMBER_USED) : null;
  };
  return (
    <>
      <h1>{words('newInvoice.repeatTitle', { encf })}</h1>
      <Loaded query={invoice}>
        {(rejected) => {
          const { sequence_used, ecf_type } = rejected;
          const why = obstacle(rejected);
          if (why !== null) return <p className="problem">{why}</p>;
          return (
            <Loaded query={document}>
              {(issued) => (
                <Rejected issued={issued as DocumentNode} encf={encf} type={ecf_type} used={sequence_used !== false} />
              )}
            </Loaded>
          );
        }}
      </Loaded>
    </>
  );
}

interface RejectedProps {
  issued: DocumentNode;
  encf: string;
  type: string;
  used: boolean;
}

function Rejected({ issued, encf, type, used }: RejectedProps) {
  const words = useTranslations('newInvoice');
  const { next } = useIssuer(type);
  const note = used ? words('used', { encf, numbered: String(next !== null) }) : words('reusable', { encf });
  return <Edit document={repeatOf(issued, used)} note={note} />;
}

function Edit({ document, note }: { document: DocumentNode; note: string }) {
  const state = useTranslations('state');
  return (
    <Suspense fallback={<p className="quiet">{state('loading')}</p>}>
      <DocumentEditor start={document} note={note} />
    </Suspense>
  );
}
