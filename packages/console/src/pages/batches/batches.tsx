import { useTranslations } from 'use-intl';

export function Batches() {
  const words = useTranslations('batches');
  return <h1>{words('title')}</h1>;
}
