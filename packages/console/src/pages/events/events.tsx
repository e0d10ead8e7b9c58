import { useTranslations } from 'use-intl';

export function Events() {
  const words = useTranslations('events');
  return <h1>{words('title')}</h1>;
}
