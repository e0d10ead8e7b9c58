import { useTranslations } from 'use-intl';

export function Cancellations() {
  const words = useTranslations('cancellations');
  return <h1>{words('title')}</h1>;
}
