import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';

interface PagesProps {
  /** Names the links for screen readers. */
  label: string;
  /** The parameter of the address that says where a page begins. */
  by: 'after' | 'before';
  isFirst: boolean;
  /** Where the next page begins; null on the last one. */
  next: number | null;
}

/** The ways to the first and to the next page of a list. */
export function Pages({ label, by, isFirst, next }: PagesProps) {
  const words = useTranslations('invoices');
  if (isFirst && next === null) return null;
  return (
    <nav className="pages" aria-label={label}>
      {!isFirst && (
        <Link to="." search={(present) => ({ ...present, [by]: undefined })}>
          {words('first')}
        </Link>
      )}
      {next !== null && (
        <Link to="." search={(present) => ({ ...present, [by]: String(next) })}>
          {words('next')}
        </Link>
      )}
    </nav>
  );
}
