import { CuttableProxy } from '@ecf/test-servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { creditNote, encf, example, ISSUER } from './support/documents.js';
import { until } from './support/until.js';
import { type Answer, type Instance, World } from './support/world.js';

/** Long timeouts, because the machine may be slow. */
const LONG_WAITS = { AUTHORITY_TIMEOUT_MS: '20000', STATUS_WAIT_MS: '20000' };

describe('while the database is unavailable,', () => {
  let world: World;
  let proxy: CuttableProxy;
  let emission: Instance;
  let cutOff: Instance;
  /** An instance whose database stays available. */
  let beside: Instance;
  let cutAt: string | null = null;
  let cutMs = 0;

  beforeAll(async () => {
    world = await World.create({ settings: LONG_WAITS });
    const url = new URL(world.databaseUrl);
    proxy = await CuttableProxy.start({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    const checkpoint = async (step: string) => {
      if (step !== cutAt) return;
      cutAt = null;
      await proxy.cutFor(cutMs);
    };
    emission = await world.start({ checkpoint }, { DATABASE_URL: url.href });
    cutOff = await world.start({ checkpoint }, { DATABASE_URL: url.href, DATABASE_WAIT_MS: 300 });
    beside = await world.start({}, { STATUS_WAIT_MS: 0 });
  });
  afterAll(async () => {
    await world.stop();
    await proxy.cut();
  });

  /** Repeats like a client that honours Retry-After. */
  async function repeat(instance: Instance, document: unknown): Promise<Answer> {
    let answer: Answer | undefined;
    await until(async () => {
      answer = await world.submit(instance, document);
      return answer.status !== 503;
    }, 'another answer than 503');
    return answer as Answer;
  }

  it('a request waits and gets the usual answer', async () => {
    await world.submit(emission, example('ecf-31', 1));
    await proxy.cutFor(1_500);
    const { status, body } = await world.submit(emission, example('ecf-31', 2));
    expect([status, body.status]).toEqual([200, 'Aceptado']);
  });

  it.each(['signed', 'committed', 'sent'])(
    'a document that has reached the step "%s" is not lost and not sent twice',
    async (step) => {
      sequence += 1;
      cutAt = step;
      cutMs = 1_200;
      const { status, body } = await world.submit(emission, example('ecf-31', sequence));
      expect([status, body.trackId]).toEqual([200, expect.any(String)]);
      await world.reaches(encf('31', sequence), ['accepted']);
      const ledger = await world.ledger(encf('31', sequence));
      expect(ledger.map(({ track_id, effective }) => [track_id, effective])).toEqual([[body.trackId, true]]);
    },
  );
  let sequence = 10;

  it('a request gets 503 with Retry-After after its longest wait, its document is not stored, and the service recovers', async () => {
    cutAt = 'signed';
    cutMs = 2_000;
    const answer = await world.submit(cutOff, example('ecf-31', 20));
    expect([answer.status, answer.body.code, Number(answer.headers.get('retry-after')) > 0]).toEqual([
      503,
      'service_unavailable',
      true,
    ]);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await world.row(encf('31', 20))).toBeNull();
    expect(await world.ledger(encf('31', 20))).toEqual([]);
    const again = await repeat(cutOff, example('ecf-31', 20));
    expect([again.status, again.body.status]).toEqual([200, 'Aceptado']);
  });

  it('a caller gets the answer of the authority, which is stored later', async () => {
    cutAt = 'sent';
    cutMs = 2_000;
    const { status, body } = await world.submit(cutOff, example('ecf-31', 21));
    expect([status, body.trackId]).toEqual([200, expect.any(String)]);
    const row = await world.reaches(encf('31', 21), ['accepted']);
    expect(row.track_id).toBe(body.trackId);
    expect(await world.ledger(encf('31', 21))).toHaveLength(1);
  });

  it('a caller that waits for the verdict gets 200 EnProceso with the last known state', async () => {
    const id = await world.fault({ operation: 'recepcion', kind: 'reset-after', times: 1 });
    cutAt = 'sent';
    cutMs = 2_000;
    const { status, body } = await world.submit(cutOff, example('ecf-31', 22));
    expect([status, body.status, body.encf]).toEqual([200, 'EnProceso', encf('31', 22)]);
    await world.clearFaults(id);
    await world.reaches(encf('31', 22), ['accepted']);
    expect(await world.ledger(encf('31', 22))).toHaveLength(1);
  });

  it.each([
    ['53100', 'storage_full', 'disk'],
    ['25006', 'service_unavailable', 'refuses to store'],
  ])('a document whose commit it refuses (%s) gets 503 %s, because it is not stored', async (state, code, words) => {
    sequence += 1;
    const number = encf('31', sequence);
    await world.database.query(
      `CREATE FUNCTION refusal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = '${state}'; END $$`,
    );
    await world.database.query(
      `CREATE TRIGGER refusal BEFORE INSERT ON emission FOR EACH ROW WHEN (NEW.encf = '${number}') EXECUTE FUNCTION refusal()`,
    );
    const { status, body } = await world.submit(cutOff, example('ecf-31', sequence));
    await world.database.query('DROP FUNCTION refusal CASCADE');
    expect([status, body.code]).toEqual([503, code]);
    expect(body.detail).toMatch(words);
    expect(await world.row(number)).toBeNull();
    expect((await world.submit(cutOff, example('ecf-31', sequence))).body.status).toBe('Aceptado');
  });

  describe('and the answer to a commit is lost,', () => {
    /** Resolves once a document of these numbers is committed, its answer lost and the connection cut. */
    async function commitLost(numbers: string | readonly string[], instance: Instance, documents: readonly unknown[]) {
      proxy.holdBehind = 'emission_begin';
      const answers = documents.map((document) => world.submit(instance, document));
      const rows = () => Promise.all([numbers].flat().map((number) => world.row(number)));
      await until(async () => (await rows()).some((row) => row !== null), 'a committed document');
      await proxy.cut();
      proxy.delayMs = 0;
      return answers;
    }

    /** Brings the database back, and ends the leases of the requests that committed: they would last a minute. */
    async function restore(): Promise<void> {
      await proxy.restore();
      for (const table of ['attempt', 'cancellation'])
        await world.database.query(`UPDATE ${table} SET next_action_at = now() WHERE state = 'sending'`);
    }

    async function expectUnconfirmed(answer: Promise<Answer> | undefined) {
      const { status, body, headers } = (await answer) as Answer;
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'commit_unconfirmed', '5']);
    }

    it.each([
      ['the same instance', 30],
      ['another instance', 31],
    ])('a repeat at %s gets the outcome of that commit', async (where, sequence) => {
      const [number, document] = [encf('31', sequence), example('ecf-31', sequence)];
      const [first] = await commitLost(number, cutOff, [document]);
      await expectUnconfirmed(first);
      const other = where === 'another instance' ? world.submit(beside, document) : null;
      await restore();
      const { status } = await (other ?? repeat(cutOff, document));
      expect(status).toBe(200);
      const row = await world.reaches(number, ['accepted']);
      expect([row.attempts, row.lost_sends]).toEqual([1, 1]);
      expect((await world.submit(beside, document)).body.trackId).toBe(row.track_id);
      expect((await world.ledger(number)).map(({ track_id }) => track_id)).toEqual([row.track_id]);
    });

    it('the document is sent without a repeat, and a held note is sent when its original is accepted', async () => {
      const [number, note] = [encf('31', 32), encf('34', 32)];
      const id = await world.fault({ operation: 'consultaresultado', kind: 'processing' });
      await world.submit(beside, example('ecf-31', 32));
      const [held] = await commitLost(note, cutOff, [creditNote(32, number, '5.00')]);
      await expectUnconfirmed(held);
      await restore();
      const [sent] = await commitLost(encf('31', 35), cutOff, [example('ecf-31', 35)]);
      await expectUnconfirmed(sent);
      await restore();
      expect(await world.row(note)).toMatchObject({ state: 'held', attempts: 1 });
      await world.clearFaults(id);
      for (const each of [note, encf('31', 35)]) {
        // An instance that had claimed the original just before the outage keeps its lease for most of a minute.
        const row = await world.reaches(each, ['accepted'], 120_000);
        expect([row.attempts, row.lost_sends]).toEqual([1, each === note ? 0 : 1]);
        expect((await world.ledger(each)).map(({ track_id }) => track_id)).toEqual([row.track_id]);
      }
    });

    it('a waiting request with another document uses no number', async () => {
      const [original, notes] = [encf('31', 36), [encf('34', 36), encf('34', 37)]];
      await world.submit(beside, example('ecf-31', 36));
      await world.reaches(original, ['accepted']);
      const both = [creditNote(36, original, '5.00'), creditNote(37, original, '5.00')];
      const answers = await Promise.all(await commitLost(notes, cutOff, both));
      await restore();
      const codes = answers.map(({ status, body }) => `${status} ${body.code}`);
      expect([...codes].sort()).toEqual(['503 commit_unconfirmed', '503 service_unavailable']);
      const [committed, waiting] = codes[0] === '503 commit_unconfirmed' ? notes : [...notes].reverse();
      await world.reaches(committed as string, ['accepted']);
      expect(await world.row(waiting as string)).toBeNull();
    });

    it('the caller of a cancellation gets 503, and the cancellation is sent after its lease', async () => {
      const range = { encf_desde: encf('31', 900), encf_hasta: encf('31', 905) };
      const body = JSON.stringify({
        issuer_rnc: ISSUER,
        authority_environment: 'TesteCF',
        detail_lines: [{ ecf_type: '31', sequence_ranges: [range] }],
      });
      const headers = { 'content-type': 'application/json' };
      const cancel = (at: Instance) => world.call(at, 'POST', '/anecf?submit_to_authority=true', { body, headers });
      // A transaction of many statements: the answer to its last one is lost.
      proxy.holdBehind = 'INSERT INTO cancelled_range';
      const requested = cancel(cutOff);
      const stored = async () => (await world.database.query<{ state: string }>('SELECT * FROM cancellation')).rows;
      await until(async () => (await stored()).length > 0, 'the cancellation');
      await proxy.cut();
      proxy.delayMs = 0;
      await expectUnconfirmed(requested);
      await restore();
      await until(async () => (await stored()).every(({ state }) => state === 'accepted'), 'the acceptance');
      expect(await stored()).toMatchObject([{ lost_sends: 1, alarm: null }]);
      const again = await cancel(beside);
      expect([again.status, again.body.code]).toEqual([409, 'encf_in_use']);
    });

    it('32 callers with the same document are all refused, and then all get one answer', async () => {
      const [number, document] = [encf('31', 33), example('ecf-31', 33)];
      const callers = Array.from({ length: 32 }, () => document);
      const refused = await Promise.all(await commitLost(number, cutOff, callers));
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
      await restore();
      const answers = await Promise.all(callers.map((each) => repeat(cutOff, each)));
      const row = await world.reaches(number, ['accepted']);
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.trackId}`))).toEqual(
        new Set([`200 ${row.track_id}`]),
      );
      expect(await world.ledger(number)).toHaveLength(1);
    });

    it('each caller at two instances is refused or gets the outcome of the accepted document', async () => {
      const [number, document] = [encf('31', 34), example('ecf-31', 34)];
      const refused = await commitLost(
        number,
        cutOff,
        Array.from({ length: 16 }, () => document),
      );
      const others = Array.from({ length: 16 }, () => world.submit(beside, document));
      expect(new Set((await Promise.all(refused)).map(({ status }) => status))).toEqual(new Set([503]));
      await restore();
      const answers = await Promise.all(others);
      const row = await world.reaches(number, ['accepted']);
      for (const { status, body } of answers) {
        expect(status).toBe(200);
        expect([null, row.track_id]).toContain(body.trackId);
      }
      expect(await world.ledger(number)).toHaveLength(1);
    });
  });

  it('readiness reports the outage', async () => {
    const status = async (of: string) => (await fetch(`${emission.url}/health/${of}`)).status;
    await proxy.cut();
    expect([await status('ready'), await status('live')]).toEqual([503, 200]);
    await proxy.restore();
    await until(async () => (await status('ready')) === 200, 'readiness');
  });
});
