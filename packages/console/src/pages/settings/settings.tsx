import { Link, Outlet } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import './settings.css';

const PARTS = ['certificate', 'keys', 'ranges', 'logo', 'webhooks', 'runs'] as const;

/** The settings of the account and of the chosen taxpayer, in parts with an address each. */
export function Settings() {
  const words = useTranslations('settings');
  return (
    <div className="settings">
      <h1>{words('title')}</h1>
      <nav className="parts" aria-label={words('title')}>
        {PARTS.map((part) => (
          <Link key={part} to={`/settings/${part}`}>
            {words(`parts.${part}`)}
          </Link>
        ))}
      </nav>
      <Outlet />
    </div>
  );
}
