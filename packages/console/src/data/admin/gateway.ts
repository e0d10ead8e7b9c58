import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import createClient from 'openapi-fetch';
import { createContext, useContext } from 'react';
import type { components, operations, paths } from '../../generated/openapi-admin.js';
import { reach } from '../gateway.js';
import type { Session } from '../session.js';

export type AdminSchemas = components['schemas'];
export type AdminOperations = operations;
export type Role = NonNullable<Session['role']>;

/** The administration of the gateway that served this page. */
export const administration = createClient<paths, 'application/json'>({ baseUrl: location.origin, fetch: reach });

/** The items of a list that a function reads: `Item<typeof read, 'documents'>`. */
export type Item<F extends (...given: never[]) => Promise<unknown>, K extends keyof Awaited<ReturnType<F>>> = Awaited<
  ReturnType<F>
>[K] extends readonly (infer T)[]
  ? T
  : never;

/** What the administration stores. It is read again after every act, and every `refreshMs` milliseconds. */
export function useAdmin<T>(key: readonly unknown[], read: () => Promise<T>, refreshMs?: number) {
  return useQuery({
    queryKey: ['admin', ...key],
    queryFn: read,
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs ?? false,
  });
}

/** An act of an administrator. Afterwards every list is read again. */
export function useAct<I, O>(act: (input: I) => Promise<O>) {
  const queries = useQueryClient();
  return useMutation({ mutationFn: act, onSuccess: () => queries.invalidateQueries({ queryKey: ['admin'] }) });
}

export const RoleContext = createContext<Role>('viewer');

const RANKS: readonly Role[] = ['viewer', 'operator', 'owner'];

/** Whether the administrator who is signed in has this role, or one that includes it. */
export function useHasRole(role: Role): boolean {
  return RANKS.indexOf(useContext(RoleContext)) >= RANKS.indexOf(role);
}
