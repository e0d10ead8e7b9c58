import { createInProcessBus } from '@ecf/bus';
import type { InvoiceChanged, NumberRange } from '@ecf/contracts';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { creditNote, type Document, encf, example, ISSUER } from './support/documents.js';
import { type Answer, type Instance, World } from './support/world.js';

const OLD = encf('31', 1);
const bus = createInProcessBus({ logger: silentLogger });
const events: { type: string; data: InvoiceChanged & { action?: string } }[] = [];
let world: World;
let instance: Instance;
/** Runs once, at the step that a test names. */
let at: { step: string; run: () => Promise<unknown> } | null = null;

beforeAll(async () => {
  world = await World.create({ overrides: { bus } });
  world.ranges(ISSUER, [range(41, 1, 20)]);
  instance = await world.start({
    async checkpoint(step) {
      const wanted = at;
      if (wanted?.step !== step) return;
      at = null;
      await wanted.run();
    },
  });
  await bus.subscribe({
    topics: ['invoices.v1', 'runs.v1', 'audit.v1'],
    group: 'test',
    handler: async ({ type, data }) => void events.push({ type, data: data as InvoiceChanged }),
  });
});
afterAll(() => world.stop());

const range = (type: number, first: number, last: number): NumberRange => ({
  env: 'TesteCF',
  ecf_type: String(type) as '31',
  from: encf(String(type), first),
  to: encf(String(type), last),
  expires: '2099-12-31',
});

/** A document under another content than `example` alone. */
function edition(name: string, document: Document): Document {
  document.ECF.DetallesItems.Item[0].NombreItem = name;
  return document;
}

async function restart(reason = 'one document was rejected', actor = 'ana') {
  const by = { actor, request_id: 'request-1' };
  return instance.emission.resolution.startRun({
    env: 'TesteCF',
    reason,
    account_id: world.accountId,
    issuer_rnc: ISSUER,
    by,
  });
}

/** The authority restarts the set too. */
async function restartAtAuthority(): Promise<void> {
  const answer = await fetch(`${world.simulator.url}/_control/certification/${ISSUER}/restart`, {
    method: 'POST',
    body: JSON.stringify({ env: 'TesteCF' }),
  });
  expect(answer.status).toBe(204);
}

const submit = (document: Document, key?: string): Promise<Answer> =>
  world.submit(instance, document, key === undefined ? {} : { key });

const automatic = () => {
  const document = example('ecf-41', 1);
  delete document.ECF.Encabezado.IdDoc.eNCF;
  delete document.ECF.Encabezado.IdDoc.FechaVencimientoSecuencia;
  return document;
};

async function left() {
  const { ranges } = await instance.emission.resolution.numbersLeft({
    issuer_rnc: ISSUER,
    ranges: [range(41, 1, 20)],
  });
  return ranges[0];
}

async function cancel(first: string, last: string): Promise<Answer> {
  const ranges = [{ encf_desde: first, encf_hasta: last }];
  return world.call(instance, 'POST', '/anecf?submit_to_authority=true', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      issuer_rnc: ISSUER,
      authority_environment: 'TesteCF',
      detail_lines: [{ ecf_type: first.slice(1, 3), sequence_ranges: ranges }],
    }),
  });
}

describe('a certification run', () => {
  let first: Answer;

  it('frees the numbers of the run before it, whose documents are kept', async () => {
    first = await submit(edition('PRIMERA', example('ecf-31', 1)));
    expect([first.status, first.body.status]).toEqual([200, 'Aceptado']);
    expect((await submit(edition('SEGUNDA', example('ecf-31', 1)))).body.code).toBe('encf_already_used');

    await restartAtAuthority();
    expect(await restart()).toMatchObject({ run: 2, env: 'TesteCF', superseded: 1 });

    const second = await submit(edition('SEGUNDA', example('ecf-31', 1)));
    expect([second.status, second.body.status]).toEqual([200, 'Aceptado']);
    expect(second.body.trackId).not.toBe(first.body.trackId);
    expect(second.body.xml).toContain('SEGUNDA');
    // The same again is a repeat within the run.
    expect((await submit(edition('SEGUNDA', example('ecf-31', 1)))).body.trackId).toBe(second.body.trackId);

    const { published } = await paths(OLD);
    expect(published.map(({ run }) => run).sort()).toEqual([1, 2]);
    expect(new Set(published.map(({ path }) => path)).size).toBe(2);
    for (const { path, sha256, text } of published)
      expect((await world.stored(path, sha256)).toString()).toContain(text);
  });

  it('is published and is in the audit log', async () => {
    const run = events.find(({ type }) => type === 'run.started');
    expect(run?.data).toMatchObject({ env: 'TesteCF', issuer_rnc: ISSUER, account_id: world.accountId, run: 2 });
    const act = events.find(({ type, data }) => type === 'act.recorded' && data.action === 'run.start')?.data;
    expect(act).toMatchObject({
      actor: 'ana',
      action: 'run.start',
      target: `/accounts/${world.accountId}/taxpayers/${ISSUER}/runs`,
      details: { env: 'TesteCF', run: 2, reason: 'one document was rejected', superseded: 1 },
    });
  });

  it('does not find the documents of the run before it by reference', async () => {
    await submit(example('ecf-31', 2));
    await restart();
    // The reference of a note to a number that we did not issue is left to the authority, as for any other number.
    const note = await world.submit(instance, creditNote(1, encf('31', 2), '10.00'), { query: '?validate=true' });
    expect([note.status, note.body.warnings]).toEqual([200, []]);
  });

  it('begins automatic numbers again at the first of the range, and forgets the keys of the run before it', async () => {
    const numbers = [await submit(automatic(), 'key-1'), await submit(automatic(), 'key-2')];
    expect(numbers.map(({ body }) => body.encf)).toEqual([encf('41', 1), encf('41', 2)]);
    expect(await left()).toEqual({ next: encf('41', 3), remaining: 18 });
    await restartAtAuthority();
    await restart();
    expect(await left()).toEqual({ next: encf('41', 1), remaining: 20 });
    const again = await submit(automatic(), 'key-1');
    expect([again.status, again.body.encf, again.body.status]).toEqual([200, encf('41', 1), 'Aceptado']);
    expect(again.body.trackId).not.toBe(numbers[0]?.body.trackId);
    expect((await submit(automatic(), 'key-1')).body.trackId).toBe(again.body.trackId);
    // What an operator states after a restore.
    await world.database.query(`SELECT continue_numbers('TesteCF', '${ISSUER}', '41', 5)`);
    expect(await left()).toEqual({ next: encf('41', 5), remaining: 16 });
  });

  it('frees cancelled numbers', async () => {
    expect((await cancel(encf('43', 1), encf('43', 5))).body.authority_status).toBe('Aceptado');
    expect((await submit(example('ecf-43', 3))).body.code).toBe('encf_cancelled');
    await restartAtAuthority();
    await restart();
    expect((await submit(example('ecf-43', 3))).body.status).toBe('Aceptado');
    expect((await cancel(encf('43', 1), encf('43', 2))).body.authority_status).toBe('Aceptado');
  });

  it('puts a submission that is in flight at its start into one run', async () => {
    at = { step: 'signed', run: () => restart() };
    const signed = await submit(example('ecf-44', 1));
    expect(signed.status).toBe(200);
    at = { step: 'drawn', run: () => restart() };
    const drawn = await submit(automatic(), 'key-in-flight');
    expect(drawn.status).toBe(200);
    at = { step: 'committed', run: () => restart() };
    const committed = await submit(example('ecf-44', 2));
    expect(committed.status).toBe(200);
    const { rows } = await world.database.query<{ encf: string; env: string; present: string }>(
      `SELECT encf, env, stored_environment('TesteCF', issuer_rnc, NULL) AS present FROM emission
        WHERE encf IN ($1, $2) ORDER BY encf`,
      [encf('44', 1), encf('44', 2)],
    );
    const runs = rows.map(({ env, present }) => Number(present.split('/')[1]) - Number(env.split('/')[1]));
    // Signed before two more runs began, in the first of them; committed before the last one, outside it.
    expect([rows.map((row) => row.encf), runs]).toEqual([
      [encf('44', 1), encf('44', 2)],
      [2, 1],
    ]);
  });

  it('follows documents of the run before it to their end, which changes nothing of the present one', async () => {
    await restartAtAuthority();
    const fault = await world.fault({ operation: 'recepcion', kind: 'processing' });
    const hasty = await world.start({}, { STATUS_WAIT_MS: 0 });
    const undecided = await world.submit(hasty, edition('VIEJA', example('ecf-31', 11)));
    expect(undecided.body.status).toBe('EnProceso');
    const note = await world.submit(hasty, creditNote(11, encf('31', 11), '10.00'));
    expect(note.body.status).toBe('EnProceso');
    await restartAtAuthority();
    await restart();
    await world.clearFaults(fault);
    const present = await submit(edition('NUEVA', example('ecf-31', 11)));
    expect(present.body.status).toBe('Aceptado');
    await ends(encf('31', 11), 'Aceptado', ({ track_id }) => track_id === undecided.body.trackId);
    // A note that waited for it is not sent: it would count in the new run.
    await ends(encf('34', 11), 'Rechazado', ({ messages }) => /later certification run/.test(messages[0]?.valor ?? ''));
    expect(await world.ledger(encf('34', 11))).toEqual([]);
    expect((await submit(edition('NUEVA', example('ecf-31', 11)))).body.trackId).toBe(present.body.trackId);
  });

  it('does not take the trackId of the present run for a lost document of the run before it', async () => {
    await restartAtAuthority();
    const unanswered = [
      await world.fault({ operation: 'recepcion', kind: 'reset' }),
      await world.fault({ operation: 'consultatrackids', kind: 'down' }),
    ];
    const hasty = await world.start({}, { STATUS_WAIT_MS: 0 });
    const lost = await world.submit(hasty, edition('PERDIDA', example('ecf-31', 12)));
    expect([lost.body.status, lost.body.trackId]).toEqual(['EnProceso', null]);
    await restartAtAuthority();
    await restart();
    await world.clearFaults(unanswered[0]);
    const undecided = await world.fault({ operation: 'recepcion', kind: 'processing' });
    const present = await world.submit(hasty, edition('NUEVA', example('ecf-31', 12)));
    expect(present.body.status).toBe('EnProceso');
    await world.clearFaults(unanswered[1]);
    await ends(encf('31', 12), 'Rechazado', ({ messages }) => /later certification run/.test(messages[0]?.valor ?? ''));
    await world.clearFaults(undecided);
    await ends(encf('31', 12), 'Aceptado', ({ track_id }) => track_id === present.body.trackId);
    const taken = events.filter(({ data }) => data.encf === encf('31', 12) && data.track_id === present.body.trackId);
    expect(new Set(taken.map(({ data }) => data.run)).size).toBe(1);
  });

  it('lets an operator end a lost document of the run before it', async () => {
    const { resolution } = instance.emission;
    const document = { env: 'CerteCF', issuer_rnc: ISSUER, encf: encf('31', 14) } as const;
    await world.fault({ operation: 'recepcion', kind: 'reset', times: 1 });
    await world.submit(instance, example('ecf-31', 14), { env: 'CerteCF' });
    const alarmed = async () =>
      (await resolution.listAlarmed({ env: 'CerteCF', limit: 10, after: 0 })).documents.map(({ encf, run }) => [
        encf,
        run,
      ]);
    while ((await alarmed()).length === 0) await new Promise((resolve) => setTimeout(resolve, 25));
    await resolution.startRun({ ...document, reason: 'lost', account_id: world.accountId });
    expect(await alarmed()).toEqual([[document.encf, 1]]);
    const resend = (run?: number) => resolution.resolveDocument({ ...document, run, action: 'resend' });
    await expect(resend()).rejects.toMatchObject({ code: 'not_found' });
    expect(await resend(1)).toMatchObject({ resent: true });
    await ends(document.encf, 'Rechazado', ({ messages }) => /later certification run/.test(messages[0]?.valor ?? ''));
    expect(await alarmed()).toEqual([]);
  });

  it('gives a submission with an automatic number that meets the start an answer', async () => {
    const undecided = await world.fault({ operation: 'recepcion', kind: 'processing' });
    const hasty = await world.start({}, { STATUS_WAIT_MS: 0 });
    await world.submit(hasty, edition('TERCERA', example('ecf-31', 13)));
    await world.submit(hasty, creditNote(13, encf('31', 13), '10.00'));
    await world.clearFaults(undecided);
    const waits = async (statement: string) => {
      const seen = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`;
      while ((await world.database.query(seen, [statement])).rowCount === 0)
        await new Promise((resolve) => setTimeout(resolve, 10));
    };
    const { starting, submitted } = await world.database.transaction(async (tx) => {
      // The start waits for the note, and the commit for the start.
      await tx.query(`SELECT FROM attempt WHERE state = 'held' FOR UPDATE`);
      const starting = restart();
      await waits('WITH unsent%');
      const submitted = submit(automatic(), 'key-of-a-wait');
      await waits('WITH reserved%');
      return { starting, submitted };
    });
    expect(await starting).toMatchObject({ env: 'TesteCF' });
    expect((await submitted).body).toMatchObject({ encf: encf('41', 1) });
  });

  it('does not start while another start is in work', async () => {
    const started = await Promise.allSettled([restart(), restart(), restart()]);
    const refused = started.filter((each) => each.status === 'rejected');
    expect(refused.length).toBeLessThan(3);
    for (const each of refused) expect(each.reason).toMatchObject({ status: 409, code: 'conflict' });
    await world.database.transaction(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('run:TesteCF:${ISSUER}', 0))`);
      await expect(restart()).rejects.toMatchObject({ status: 409, code: 'conflict' });
    });
  });
});

/** Waits until the last event of such a document has the status. */
async function ends(number: string, status: string, such: (invoice: InvoiceChanged) => boolean): Promise<void> {
  const found = () => events.some(({ data }) => data.encf === number && data.status === status && such(data));
  for (const end = Date.now() + 30_000; !found(); await new Promise((resolve) => setTimeout(resolve, 25)))
    if (Date.now() > end) throw new Error(`${number} did not become ${status}`);
}

/** The stored documents of a number, with their runs. */
async function paths(number: string) {
  const published = events
    .filter(({ type, data }) => type === 'invoice.changed' && data.encf === number && data.status === 'Aceptado')
    .map(({ data }) => ({
      run: data.run,
      path: data.xml_storage_path,
      sha256: data.xml_checksum,
      text: data.run === 1 ? 'PRIMERA' : 'SEGUNDA',
    }));
  return { published };
}
