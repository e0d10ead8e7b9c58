import { bodyOf } from '../gateway.js';
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
