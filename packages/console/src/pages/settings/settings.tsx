import { useTranslations } from 'use-intl';

export function Settings() {
  const words = useTranslations('settings');
  return <h1>{words('title')}</h1>;
}
