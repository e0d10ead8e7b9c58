import { useTranslations } from 'use-intl';

export function Deliveries() {
  const words = useTranslations('deliveries');
  return <h1>{words('title')}</h1>;
}
