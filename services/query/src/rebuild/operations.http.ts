import type { QueryOperations } from '@ecf/contracts';
import { errorCodeEntry } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { ApiError } from '@ecf/kit';
import { QueryError } from '../errors.js';
import type { Rebuild, RebuildState } from './rebuild.js';

/** The internal operations of this service, over HTTP or in the same process. */
export function queryOperations(rebuild: Rebuild): QueryOperations {
  return {
    startRebuild: async () => {
      try {
        return response(await rebuild.start());
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        throw new ApiError(errorCodeEntry(error.code).status, error.code, error.message, { cause: error });
      }
    },
    rebuildState: async () => response(await rebuild.state()),
  };
}

function response(state: RebuildState) {
  return {
    building: state.building,
    started_at: state.startedAt === null ? null : toIsoDominican(state.startedAt),
    finished_at: state.finishedAt === null ? null : toIsoDominican(state.finishedAt),
    documents: state.documents,
    failure: state.failure,
  };
}
