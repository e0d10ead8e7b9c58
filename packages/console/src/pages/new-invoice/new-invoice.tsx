import { useTranslations } from 'use-intl';

export function NewInvoice() {
  const words = useTranslations('newInvoice');
  return <h1>{words('title')}</h1>;
}
