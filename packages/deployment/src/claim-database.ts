import { retry } from '@ecf/kit';
import { connectWhenReady, createDatabaseIfMissing, LOCK_NOT_AVAILABLE, sqlState } from '@ecf/postgres';
import { StartError } from '@ecf/service';

/** Any fixed number. */
const CLAIM = 3_626_002;
/** A deployment that is just ending is waited for. */
const ENDING_MS = 8_000;

/**
 * Claims a configured database server for this deployment: another one would have its XML in another folder. The claim ends with the
 * connection, and is taken again when the connection was lost. Resolves with what releases it.
 *
 * @param url of the gateway's database
 * @param say tells the operator why the claim cannot be taken again
 * @throws StartError if another standalone deployment runs on it
 */
export async function claimDatabase(
  url: string,
  say: (message: string) => void,
  endingMs = ENDING_MS,
): Promise<() => Promise<void>> {
  await createDatabaseIfMissing(url);
  const released = new AbortController();
  let client = await claim(url, endingMs);
  const watch = () =>
    client.once('end', async () => {
      if (released.signal.aborted) return;
      const onFailure = (error: unknown) => say(`the claim on the databases was lost: ${(error as Error).message}`);
      const again = { signal: released.signal, longestMs: 60_000, onFailure };
      const next = await retry(() => claim(url, endingMs, 0), again).catch(() => null);
      if (next === null) return;
      client = next;
      if (released.signal.aborted) await client.end();
      else watch();
    });
  watch();
  return () => {
    released.abort();
    return client.end();
  };
}

/** A connection with the claim. */
async function claim(url: string, endingMs: number, connectMs?: number) {
  const client = await connectWhenReady(url, connectMs);
  try {
    await client.query(`SET lock_timeout = ${endingMs}`);
    await client.query(`SELECT pg_advisory_lock(${CLAIM})`);
    return client;
  } catch (cause) {
    await client.end();
    if (sqlState(cause) !== LOCK_NOT_AVAILABLE) throw cause;
    throw new StartError(
      'Another standalone deployment uses the databases of DATABASE_URL. Stop it, or give this one other databases.',
      { cause },
    );
  }
}
