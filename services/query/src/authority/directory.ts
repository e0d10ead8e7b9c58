import type { DirectoryEntry as AuthorityEntry } from '@ecf/authority-client';
import type { DirectoryEntry } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import { QueryError } from '../errors.js';
import { queryWithToken } from './authority-query.js';
import type { Authority, TokenSource } from './ports.js';

/** The authority's directory of electronic taxpayers, as it is now. */
export interface Directory {
  all(query: { caller: Caller; env: Environment }): Promise<DirectoryEntry[]>;
  one(query: { caller: Caller; env: Environment; rnc: string }): Promise<DirectoryEntry>;
}

export function createDirectory(
  authority: Pick<Authority, 'listDirectory' | 'findInDirectory'>,
  tokens: TokenSource,
): Directory {
  return {
    async all({ caller, env }) {
      const entries = await queryWithToken(tokens, { caller, env, rnc: null }, (token) =>
        authority.listDirectory({ env, token }),
      );
      return entries.map(publicEntry);
    },
    async one({ caller, env, rnc }) {
      const entry = await queryWithToken(tokens, { caller, env, rnc: null }, (token) =>
        authority.findInDirectory({ env, token, rnc }),
      );
      if (entry !== null) return publicEntry(entry);
      throw new QueryError('not_found', `The authority's directory has no ${rnc} in ${env}.`);
    },
  };
}

function publicEntry(entry: AuthorityEntry): DirectoryEntry {
  return {
    rnc: entry.rnc,
    name: entry.name,
    reception_url: entry.receptionUrl,
    approval_url: entry.approvalUrl,
    authentication_url: entry.authenticationUrl,
  };
}
