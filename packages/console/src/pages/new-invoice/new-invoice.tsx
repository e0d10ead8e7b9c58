import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { emptyDraft } from './draft.js';
import { InvoiceForm } from './form.js';
import './new-invoice.css';

/** A new document: from nothing, from a rejected one (`repeat`), or as a credit note for an invoice (`credit`). */
export function NewInvoice() {
  const words = useTranslations('newInvoice');
  const [start] = useState(emptyDraft);
  return (
    <>
      <h1>{words('title')}</h1>
      <InvoiceForm start={start} />
    </>
  );
}
