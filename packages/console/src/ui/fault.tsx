import { useTranslations } from 'use-intl';
import { problemText } from './loaded.js';

/** Why an act failed and what to do; nothing while it has not. */
export function Fault({ error }: { error: Error | null }) {
  const words = useTranslations('state');
  if (error === null) return null;
  return (
    <p className="fault" role="alert">
      {problemText(error, words)}
    </p>
  );
}
