import { Link, Outlet } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { useAccount } from '../../data/place.js';
import { Loaded } from '../../ui/loaded.js';
import './settings.css';

const PARTS = ['certificate', 'keys'] as const;

/** The settings of the account and of the chosen taxpayer, in parts with an address each. */
export function Settings() {
  const words = useTranslations('settings');
  const account = useAccount();
  return (
    <>
      <h1>{words('title')}</h1>
      <Loaded query={account}>
        {({ scopes }) =>
          scopes.includes('manage') ? (
            <div className="settings">
              <nav className="parts" aria-label={words('title')}>
                {PARTS.map((part) => (
                  <Link key={part} to={`/settings/${part}`}>
                    {words(`parts.${part}`)}
                  </Link>
                ))}
              </nav>
              <Outlet />
            </div>
          ) : (
            <p className="prose">{words('missing')}</p>
          )
        }
      </Loaded>
    </>
  );
}
