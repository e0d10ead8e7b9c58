import { EMISSION_OPERATIONS, type EmissionOperations } from '@ecf/contracts';
import { createInternalClient, identityKeyOf } from '@ecf/service-kit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, example, ISSUER } from './support/documents.js';
import { type Instance, World } from './support/world.js';

const issuer = { env: 'TesteCF', issuer_rnc: ISSUER } as const;

describe('questions of other services', () => {
  let world: World;
  let emission: Instance;
  let other: Instance;
  let ask: EmissionOperations;

  beforeAll(async () => {
    world = await World.create();
    emission = await world.start();
    other = await world.start();
    ask = createInternalClient(EMISSION_OPERATIONS, {
      url: other.url,
      owner: 'emission',
      service: 'query',
      identityKey: identityKeyOf(world.config),
      clock: () => new Date(),
    });
    for (const sequence of [1, 2]) await world.submit(emission, example('ecf-31', sequence));
  });
  afterAll(() => world.stop());

  it('recent changes: all since a cursor, whichever instance made them', async () => {
    const first = await ask.recentChanges({ ...issuer, cursor: null });
    expect(first).toMatchObject({ complete: true, cursor: expect.stringMatching(/^\d+$/) });
    expect(first.changes.map((change) => change.encf).sort()).toEqual([encf('31', 1), encf('31', 2)]);
    for (const { encf: number, revision } of first.changes)
      expect((await world.row(number))?.revision).toBeGreaterThanOrEqual(revision);

    await world.submit(emission, example('ecf-31', 3));
    const second = await ask.recentChanges({ ...issuer, cursor: first.cursor });
    expect(second.changes).toContainEqual({ encf: encf('31', 3), revision: expect.any(Number) });
    const third = await ask.recentChanges({ ...issuer, cursor: second.cursor });
    expect(third.changes).toEqual([]);
    expect((await ask.recentChanges({ ...issuer, env: 'eCF', cursor: null })).changes).toEqual([]);
  });

  it('a change that commits after a later one was read is not passed over', async () => {
    const { cursor } = await ask.recentChanges({ ...issuer, cursor: null });
    const insert = `INSERT INTO recent_change (issuer, encf, revision) VALUES ('TesteCF:${ISSUER}', $1, 7)`;
    let late = cursor;
    await world.database.transaction(async (slow) => {
      await slow.query(insert, [encf('31', 900)]);
      await world.submit(emission, example('ecf-31', 4));
      const between = await ask.recentChanges({ ...issuer, cursor });
      expect(between.changes.map((change) => change.encf)).toEqual([encf('31', 4)]);
      late = between.cursor;
    });
    const after = await ask.recentChanges({ ...issuer, cursor: late });
    expect(after.changes).toContainEqual({ encf: encf('31', 900), revision: 7 });
  });

  it('documents by number, and all of them page by page', async () => {
    const { invoices } = await ask.findInvoices({
      env: 'TesteCF',
      numbers: [encf('31', 2), encf('31', 999)].map((number) => ({ issuer_rnc: ISSUER, encf: number })),
    });
    expect(invoices).toMatchObject([{ encf: encf('31', 2), status: 'Aceptado', attempts: [{ attempt: 1 }] }]);

    // Submissions of a number have no end: as events tell it, or whole.
    const refused = {
      attempt: 1,
      trackId: 'x',
      submittedAt: null,
      state: 'rejected-reusable',
      code: '2',
      messages: [],
    };
    await world.database.query('UPDATE attempt SET past = $1 WHERE emission_id = $2', [
      JSON.stringify(Array.from({ length: 3_000 }, () => ({ ...refused, sequenceUsed: false, dateReceived: null }))),
      invoices[0]?.id,
    ]);
    const numbers = [{ issuer_rnc: ISSUER, encf: encf('31', 2) }];
    const [told] = (await ask.findInvoices({ env: 'TesteCF', numbers })).invoices;
    expect(told?.attempts[0]).toMatchObject({ earlier_omitted: 3_001 - (told?.attempts.length ?? 0) });
    const [whole] = (await ask.findInvoices({ env: 'TesteCF', numbers, whole: true })).invoices;
    expect(whole?.attempts).toHaveLength(3_001);
    expect(whole?.attempts[0]).not.toHaveProperty('earlier_omitted');

    const seen: string[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: Awaited<ReturnType<EmissionOperations['pageOfInvoices']>> = await ask.pageOfInvoices({
        after,
        limit: 2,
      });
      seen.push(...page.invoices.map((invoice) => invoice.encf));
      after = page.next;
    }
    expect([...seen].sort()).toEqual([1, 2, 3, 4].map((sequence) => encf('31', sequence)));
  });

  it("the authority's answers as they came", async () => {
    const { answers } = await ask.rawAnswers({ ...issuer, encf: encf('31', 1) });
    expect(answers[0]).toMatchObject({ attempt: 1, operation: 'submitDocument', outcome: 'verdict', http_status: 200 });
    expect(answers.at(-1)).toMatchObject({ operation: 'queryResult', body: expect.stringContaining('Aceptado') });
    expect((await ask.rawAnswers({ ...issuer, encf: encf('31', 99) })).answers).toEqual([]);
  });

  it('a token of the authority; a refused one is not given again', async () => {
    const question = { env: 'TesteCF', account_id: world.accountId, taxpayers_revision: 0, refused: null } as const;
    const { token, expires_in } = await ask.authorityToken({ ...question, rnc: ISSUER });
    expect(expires_in).toBeGreaterThan(0);
    expect((await ask.authorityToken({ ...question, rnc: null })).token).toBe(token);
    const renewed = await ask.authorityToken({ ...question, rnc: ISSUER, refused: token });
    expect(renewed.token).not.toBe(token);
    await expect(ask.authorityToken({ ...question, rnc: '101010101' })).rejects.toMatchObject({
      status: 404,
      code: 'taxpayer_not_found',
    });
    await expect(other.emission.internal.authorityToken({ ...question, rnc: '101010101' })).rejects.toMatchObject({
      status: 404,
      code: 'taxpayer_not_found',
    });
  });

  it('are for services alone', async () => {
    const response = await world.call(other, 'POST', '/internal/token', {
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect([response.status, response.body.code]).toEqual([401, 'invalid_identity']);
  });
});
