import type { paths } from '@ecf/client';
import createClient from 'openapi-fetch';
import { bodyOf, reach, type Schemas } from '../gateway.js';
import type { SettingsOwner } from '../settings-owner.js';
import { type AdminSchemas, administration } from './gateway.js';

export type Account = AdminSchemas['Account'];
export type Taxpayer = AdminSchemas['Taxpayer'];
export type Administrator = AdminSchemas['Administrator'];

/** Rows of a page of accounts. */
export const ACCOUNTS_PER_PAGE = 50;

export const listAccounts = (offset: number) =>
  bodyOf(administration.GET('/admin/accounts', { params: { query: { limit: ACCOUNTS_PER_PAGE, offset } } }));

export const findAccount = (id: string) =>
  bodyOf(administration.GET('/admin/accounts/{id}', { params: { path: { id } } }));

export const createAccount = (name: string) => bodyOf(administration.POST('/admin/accounts', { body: { name } }));

export const changeAccount = (id: string, active: boolean) =>
  bodyOf(administration.PATCH('/admin/accounts/{id}', { params: { path: { id } }, body: { active } }));

export const listTaxpayers = (id: string) =>
  bodyOf(administration.GET('/admin/accounts/{id}/taxpayers', { params: { path: { id }, query: { limit: 1_000 } } }));

export const findTaxpayer = (id: string, rnc: string) =>
  bodyOf(administration.GET('/admin/accounts/{id}/taxpayers/{rnc}', { params: { path: { id, rnc } } }));

export const createTaxpayer = (id: string, body: AdminSchemas['NewTaxpayer']) =>
  bodyOf(administration.POST('/admin/accounts/{id}/taxpayers', { params: { path: { id } }, body }));

export const changeTaxpayer = (id: string, rnc: string, active: boolean) =>
  bodyOf(
    administration.PATCH('/admin/accounts/{id}/taxpayers/{rnc}', { params: { path: { id, rnc } }, body: { active } }),
  );

export const listAdministrators = () =>
  bodyOf(administration.GET('/admin/administrators', { params: { query: { limit: 1_000 } } }));

export const createAdministrator = (body: AdminSchemas['NewAdministrator']) =>
  bodyOf(administration.POST('/admin/administrators', { body }));

export const deleteAdministrator = (administratorId: string) =>
  bodyOf(administration.DELETE('/admin/administrators/{administratorId}', { params: { path: { administratorId } } }));

/** An account for the parts of the settings. The operations of `/account` exist below `/admin/accounts/{id}` with the same bodies. */
export function settingsOf(
  id: string,
  { isOperator, isOwner }: Record<'isOperator' | 'isOwner', boolean>,
): SettingsOwner {
  const there = async (request: Request) => {
    const { method, headers } = request;
    // Not the stream of the request, which browsers send over HTTP/2 only.
    const body = method === 'GET' ? undefined : await request.blob();
    return reach(new Request(request.url.replace('/account/', `/admin/accounts/${id}/`), { method, headers, body }));
  };
  const gateway = createClient<paths, 'application/json'>({ baseUrl: location.origin, fetch: there });
  return { id, gateway, readOwn: () => allOf(id), mayChange: isOperator, mayChangeKeys: isOwner };
}

/** Everything that a key of the account may have. */
async function allOf(id: string): Promise<Schemas['OwnAccount']> {
  const [{ name }, taxpayers] = await Promise.all([findAccount(id), listTaxpayers(id)]);
  return {
    account: { id, name },
    key: { id: '', name: '', expires_at: null },
    environments: ['TesteCF', 'CerteCF', 'eCF'],
    scopes: ['submit', 'read', 'receive', 'approve', 'cancel', 'manage'],
    total_taxpayers: taxpayers.length,
    taxpayers: taxpayers.map(({ rnc, name, active, certificate }) => ({
      rnc,
      name,
      active,
      certificate_not_after: certificate?.not_after ?? null,
      ranges: [],
    })),
  };
}
