import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { gateway, type Schemas } from './gateway.js';

/** Whose settings the parts of the settings show. */
export interface SettingsOwner {
  /** The account that an administrator opened; null for the account of the session's key. */
  readonly id: string | null;
  /** Takes the operations of `/account`. */
  readonly gateway: typeof gateway;
  /** What may be given to a new key; null to ask `GET /account`. */
  readonly readOwn: (() => Promise<Schemas['OwnAccount']>) | null;
  /** Whether the person may change anything but keys. */
  readonly mayChange: boolean;
  /** Whether the person may make, replace and revoke keys. */
  readonly mayChangeKeys: boolean;
}

export const SettingsContext = createContext<SettingsOwner>({
  id: null,
  gateway,
  readOwn: null,
  mayChange: true,
  mayChangeKeys: true,
});

export const useSettingsOwner = () => useContext(SettingsContext);

/** Reads again what other pages show of the settings: certificates and ranges of the taxpayers. */
export function useRefreshOwner() {
  const { id } = useSettingsOwner();
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: [id === null ? 'account' : 'admin'] });
}
