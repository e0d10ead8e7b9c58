import { useTranslations } from 'use-intl';

const STEPS = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
] as const;

/** A number of seconds in its largest whole unit: `3 h`. */
export function useAge(): (seconds: number) => string {
  const words = useTranslations('admin.age');
  return (seconds) => {
    const [unit, length] = STEPS.find(([, length]) => seconds >= length) ?? STEPS[3];
    return words(unit, { count: Math.floor(seconds / length) });
  };
}
