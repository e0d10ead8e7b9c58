import { useTranslations } from 'use-intl';

export function Contingency() {
  const words = useTranslations('contingency');
  return <h1>{words('title')}</h1>;
}
