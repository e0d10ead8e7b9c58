import { useTranslations } from 'use-intl';

/** What to do about a code in the authority's messages; null where the code is not known. */
export function useRemedy(): (code: string) => string | null {
  const words = useTranslations('remedies');
  return (code) => {
    const known = code.trim() as '1';
    return words.has(known) ? words(known) : null;
  };
}
