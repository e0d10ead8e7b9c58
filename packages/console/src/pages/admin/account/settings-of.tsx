import { type ReactNode, useMemo } from 'react';
import { settingsOf } from '../../../data/admin/accounts.js';
import { useHasRole } from '../../../data/admin/gateway.js';
import { SettingsContext } from '../../../data/settings-owner.js';
import '../../settings/settings.css';

/** Parts of the settings, for an account that an administrator opened. */
export function SettingsOf({ account, children }: { account: string; children: ReactNode }) {
  const isOperator = useHasRole('operator');
  const isOwner = useHasRole('owner');
  const owner = useMemo(() => settingsOf(account, { isOperator, isOwner }), [account, isOperator, isOwner]);
  return (
    <SettingsContext value={owner}>
      <div className="settings">{children}</div>
    </SettingsContext>
  );
}
