import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { bodyOf, gateway, type Schemas } from './gateway.js';
import { useSettingsOwner } from './settings-owner.js';

/** The taxpayer and the environment that the pages show. */
export interface Place {
  readonly env: Schemas['Environment'];
  readonly rnc: string;
}

export const PlaceContext = createContext<Place | null>(null);

/** The chosen place. Pages are shown only where there is one. */
export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (place === null) throw new Error('no place was chosen');
  return place;
}

/** What the key of the session may do, with all its taxpayers. */
export function useAccount() {
  const { id, readOwn } = useSettingsOwner();
  return useQuery({
    queryKey: id === null ? ['account'] : ['admin', 'account', id, 'own'],
    queryFn: readOwn ?? wholeAccount,
  });
}

async function wholeAccount(): Promise<Schemas['OwnAccount']> {
  const account = await accountPage(0);
  const { taxpayers, total_taxpayers } = account;
  while (taxpayers.length < total_taxpayers) {
    const page = await accountPage(taxpayers.length);
    if (page.taxpayers.length === 0) break;
    taxpayers.push(...page.taxpayers);
  }
  return account;
}

const accountPage = (offset: number) => bodyOf(gateway.GET('/account', { params: { query: { offset } } }));

/** Whether the key of the session has one of the scopes. */
export function useMay(...scopes: Schemas['OwnAccount']['scopes']): boolean {
  const account = useAccount();
  return scopes.some((scope) => account.data?.scopes.includes(scope));
}

const STORED = 'ecf.place';

/** The place that was chosen last on this computer. */
export function storedPlace(): Partial<Place> {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? '{}') as Partial<Place>;
  } catch {
    return {};
  }
}

export function storePlace(place: Place): void {
  localStorage.setItem(STORED, JSON.stringify(place));
}
