import { type Bus, createInProcessBus } from '@ecf/bus';
import { type AuditAct, type CancellationChanged, cancellationChangedSchema, TOPICS } from '@ecf/contracts';
import { parseXml } from '@ecf/ecf-xml';
import { CALLER_HEADER, silentLogger } from '@ecf/test-support/services';
import { openCertificate, verifyXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCancellationDocuments } from '../src/cancellation/cancellation-documents.worker.js';
import { BUYER, encf, example, ISSUER } from './support/documents.js';
import { until } from './support/until.js';
import { type Answer, type Instance, World } from './support/world.js';

type Range = [number, number?];

let world: World;
let emission: Instance;
let second: Instance;
const published: CancellationChanged[] = [];
let bus: Bus;

beforeAll(async () => {
  bus = createInProcessBus({ logger: silentLogger });
  await bus.subscribe({
    topics: [TOPICS.cancellations.name],
    group: 'test',
    handler: async (event) => void published.push(cancellationChangedSchema.parse(event.data)),
  });
  world = await World.create({ overrides: { bus } });
  [emission, second] = [await world.start(), await world.start()];
});
afterAll(() => world.stop());

const line = (type: string, ...ranges: Range[]) => ({
  ecf_type: type,
  sequence_ranges: ranges.map(([from, to = from]) => ({ encf_desde: encf(type, from), encf_hasta: encf(type, to) })),
});
const request = (lines: object[], change: object = {}) => ({
  issuer_rnc: ISSUER,
  authority_environment: 'TesteCF',
  detail_lines: lines,
  ...change,
});

function cancel(
  body: unknown,
  { submit = true, at = emission, env }: { submit?: boolean; at?: Instance; env?: string } = {},
) {
  return world.call(at, 'POST', `/anecf?submit_to_authority=${submit}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    ...(env === undefined ? {} : { env }),
  });
}
const find = (id: number) => world.call(emission, 'GET', `/anecf/${id}`);

/** The cancellation when it has one of the statuses. */
async function settled(id: number, statuses: string[]): Promise<Answer> {
  let answer: Answer | undefined;
  await until(
    async () => {
      answer = await find(id);
      return statuses.includes(answer.body.authority_status);
    },
    `the status ${statuses.join(' or ')} of cancellation ${id}`,
  );
  return answer as Answer;
}

/** The published events of a cancellation, in order, when the last one has the revision of the row. */
async function events(id: number): Promise<CancellationChanged[]> {
  const seen = () => published.filter((event) => event.id === id);
  await until(async () => {
    const { rows } = await world.database.query<{ revision: number }>(
      'SELECT revision FROM cancellation WHERE id = $1',
      [id],
    );
    return seen().at(-1)?.revision === rows[0]?.revision;
  }, `the last event of cancellation ${id}`);
  return seen();
}

async function arrived(): Promise<{ sha256: string; effective: boolean }[]> {
  const url = `${world.simulator.url}/_control/submissions?operation=anulacionrangos&rnc=${ISSUER}`;
  return (await (await fetch(url)).json()) as { sha256: string; effective: boolean }[];
}

describe('a cancellation', () => {
  it('is signed, stored, sent and answered, and its numbers cannot be issued any more', async () => {
    const answer = await cancel(
      request([line('31', [1], [5, 50]), line('44', [10, 46])], { cancellation_reason: 'prueba' }),
    );
    expect(answer).toMatchObject({
      status: 201,
      body: {
        issuer_rnc: ISSUER,
        version: '1.0',
        total_encf_canceled: 84,
        authority_environment: 'TesteCF',
        cancellation_reason: 'prueba',
        sent_to_authority: true,
        authority_status: 'Aceptado',
        xml_schema_version: '1.0',
        created_by: 'key of account-1',
        detail_lines: [
          {
            line_number: 1,
            ecf_type: '31',
            total_encf_canceled: 47,
            sequence_ranges: [
              {
                encf_desde: encf('31', 1),
                encf_hasta: encf('31', 1),
                quantity_canceled: 1,
                authority_status: 'Aceptado',
              },
              {
                encf_desde: encf('31', 5),
                encf_hasta: encf('31', 50),
                quantity_canceled: 46,
                authority_status: 'Aceptado',
              },
            ],
          },
          { line_number: 2, ecf_type: '44', total_encf_canceled: 37 },
        ],
      },
    });
    const { body } = answer;
    const ids = body.detail_lines.flatMap((each: { id: number; sequence_ranges: { id: number }[] }) => [
      each.id,
      ...each.sequence_ranges.map(({ id }) => id + 1e9),
    ]);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await find(body.id)).body).toEqual(body);

    const response = await fetch(`${emission.url}/anecf/${body.id}/xml`, {
      headers: { [CALLER_HEADER]: world.identity() },
    });
    expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    const bytes = Buffer.from(await response.arrayBuffer());
    const row = await world.database.query<{ xml_path: string; xml_sha256: string }>(
      'SELECT xml_path, xml_sha256 FROM cancellation WHERE id = $1',
      [body.id],
    );
    expect(row.rows[0]?.xml_path).toBe(body.xml_storage_path);
    expect(bytes).toEqual(await world.stored(body.xml_storage_path, row.rows[0]?.xml_sha256 as string));
    expect(verifyXml(bytes).signature).toBe('valid');
    expect(parseXml(bytes).rootName).toBe('ANECF');

    for (const sequence of [1, 5, 27, 50]) {
      const refused = await world.submit(emission, example('ecf-31', sequence));
      expect(refused).toMatchObject({ status: 409, body: { code: 'encf_cancelled' } });
      expect(refused.body.detail).toContain(`cancellation ${body.id}`);
      expect(await world.row(encf('31', sequence))).toBeNull();
    }
    expect(await world.submit(emission, example('ecf-31', 5), { query: '?validate=true' })).toMatchObject({
      status: 409,
    });
    expect(await world.submit(second, example('ecf-31', 51))).toMatchObject({ status: 200 });
    expect(await world.submit(second, example('ecf-31', 4))).toMatchObject({ status: 200 });
  });

  it('is refused before it is signed if numbers are used, in flight or cancelled already, and the answer names them', async () => {
    await world.submit(emission, example('ecf-31', 101));
    const before = (await arrived()).length;
    const used = await cancel(request([line('31', [90, 110])]));
    expect(used).toMatchObject({ status: 409, body: { code: 'encf_in_use' } });
    expect(used.body.detail).toContain(encf('31', 101));
    expect(await cancel(request([line('31', [51])]), { submit: false })).toMatchObject({ status: 409 });

    const id = await world.fault({ operation: 'recepcion', kind: 'slow', delay_ms: 1_000 });
    const flying = world.submit(emission, example('ecf-31', 102));
    await until(async () => (await world.row(encf('31', 102))) !== null);
    expect((await cancel(request([line('31', [102])]), { at: second })).body.detail).toContain(encf('31', 102));
    await flying;
    await world.clearFaults(id);

    const again = await cancel(request([line('31', [40, 60])]));
    expect(again).toMatchObject({ status: 409, body: { code: 'encf_in_use' } });
    expect(again.body.detail).toContain(`${encf('31', 40)} to ${encf('31', 50)} (by cancellation`);
    // Each number is cancelled by its own request; the error names each with its cancellation.
    const beside: string[] = [];
    for (const [from, to] of [
      [1_601, 1_604],
      [1_605, 1_605],
      [1_606, 1_610],
    ] as const) {
      const { body } = await cancel(request([line('31', [from, to])]));
      const numbers = from === to ? encf('31', from) : `${encf('31', Math.max(from, 1_603))} to ${encf('31', to)}`;
      beside.push(`${numbers} (by cancellation ${body.id})`);
    }
    const named = await cancel(request([line('31', [1_603, 1_620])]));
    expect(named.body.detail).toContain(`already: ${beside.join(', ')}.`);
    const many = Array.from({ length: 501 }, (_, n): Range => [1_621 + 2 * n]);
    const pieces = await cancel(request([line('31', [1_603, 1_612], ...many)]));
    expect(pieces.body.detail).toContain(`already: ${beside.join(', ')}.`);
    expect(await cancel(request([line('31', [1], [5, 50]), line('44', [10, 46])]))).toMatchObject({ status: 409 });
    expect(await arrived()).toHaveLength(before + beside.length);
  });

  it('includes a number whose document was rejected with the number free', async () => {
    const id = await world.fault({
      operation: 'consultaresultado',
      kind: 'verdict',
      verdict: { codigo: '2', estado: 'Rechazado', mensajes: [{ codigo: 1, valor: 'x' }], secuenciaUtilizada: false },
    });
    expect((await world.submit(emission, example('ecf-31', 120))).body).toMatchObject({ status: 'Rechazado' });
    await world.clearFaults(id);
    await world.fault({
      operation: 'anulacionrangos',
      kind: 'verdict',
      verdict: {
        codigo: '1',
        estado: 'Aceptada',
        mensajes: [{ codigo: '1', valor: 'Las secuencias fueron anuladas correctamente' }],
      },
      times: 1,
    });
    expect((await cancel(request([line('31', [120])]))).body).toMatchObject({ authority_status: 'Aceptado' });
    // Neither the rejected document nor another one can use the number.
    expect(await world.submit(emission, example('ecf-31', 120))).toMatchObject({ status: 409 });
  });

  it('that is local blocks no number, and is sent by the same request later with the same bytes, after all checks', async () => {
    const body = request([line('33', [1, 10])]);
    const local = await cancel(body, { submit: false });
    expect(local).toMatchObject({
      status: 201,
      body: { sent_to_authority: false, sent_at: null, authority_status: null },
    });
    expect((await cancel(body, { submit: false })).body.id).toBe(local.body.id);
    const sent = await cancel(body);
    expect(sent).toMatchObject({
      status: 201,
      body: { id: local.body.id, authority_status: 'Aceptado', xml_checksum: local.body.xml_checksum },
    });
    expect((await arrived()).at(-1)).toMatchObject({ sha256: local.body.xml_checksum, effective: true });

    const { xml_storage_path, xml_checksum } = local.body;
    const common = {
      id: local.body.id,
      env: 'TesteCF',
      run: 1,
      issuer_rnc: ISSUER,
      account_id: world.accountId,
      total_encf_canceled: 10,
      blocked_complete: true,
      created_at: local.body.created_at,
      xml_storage_path,
      xml_checksum,
    };
    const blocked = { total_encf_blocked: 10, blocked: [{ ecf_type: '33', from: 1, to: 10 }] };
    expect(await events(local.body.id)).toEqual([
      { ...common, revision: 1, authority_status: null, sent_at: null, total_encf_blocked: 0, blocked: [] },
      { ...common, revision: 2, authority_status: 'submitted', sent_at: null, ...blocked },
      { ...common, revision: 3, authority_status: 'Aceptado', sent_at: sent.body.sent_at, ...blocked },
    ]);

    const other = request([line('31', [130, 131])]);
    await cancel(other, { submit: false });
    await world.submit(emission, example('ecf-31', 130));
    expect((await cancel(other)).body).toMatchObject({ code: 'encf_in_use' });
  });

  it('in CerteCF is stored but not sent', async () => {
    const body = request([line('31', [1])], { authority_environment: 'CerteCF' });
    expect(await cancel(body, { env: 'CerteCF' })).toMatchObject({
      status: 422,
      body: { code: 'service_not_in_environment' },
    });
    expect(await cancel(body, { env: 'CerteCF', submit: false })).toMatchObject({ status: 201 });
  });

  it('is checked by every rule before it is signed, and the answer names each violation', async () => {
    const cases: [object, string, string][] = [
      [request([]), 'detail_lines', 'too_small'],
      [request(Array.from({ length: 11 }, (_, n) => line('31', [300 + n]))), 'detail_lines', 'too_big'],
      [request([line('31', [60, 55])]), 'encf_desde', 'order'],
      [request([line('31', [0])]), 'encf_desde', 'encf'],
      [request([line('31', [300, 310], [310, 320])]), 'encf_desde', 'overlap'],
      [request([line('31', [300, 310]), line('31', [305])]), 'encf_desde', 'overlap'],
      [request([{ ...line('31', [300]), ecf_type: '33' }]), 'encf_desde', 'ecf_type'],
      [request([{ ...line('31', [300]), ecf_type: '42' }]), 'ecf_type', 'enum'],
      [request([{ ...line('31', [300]), total_encf_canceled: 2 }]), 'total_encf_canceled', 'count'],
      [request([line('31', [300])], { total_encf_canceled: 7 }), 'total_encf_canceled', 'count'],
      [request([{ ...line('31', [300]), line_number: 3 }]), 'line_number', 'line_number'],
      [request([{ ...line('31', [300]), line_number: '1' }]), 'line_number', 'type'],
      [request([{ ...line('31', [300]), total_encf_canceled: '1' }]), 'total_encf_canceled', 'type'],
      [request([line('31', [300])], { total_encf_canceled: '1' }), 'total_encf_canceled', 'type'],
      [request([line('31', [300])], { total_encf_canceled: 1.5 }), 'total_encf_canceled', 'type'],
      [
        request([
          { ecf_type: '31', sequence_ranges: [{ ...line('31', [300]).sequence_ranges[0], quantity_canceled: '1' }] },
        ]),
        'quantity_canceled',
        'type',
      ],
      [request([line('31', [300])], { detail_lines: 5 }), 'detail_lines', 'type'],
      [request([], { detail_lines: [5] }), 'detail_lines', 'type'],
      [request([line('31', [300])], { authority_environment: undefined }), 'authority_environment', 'missing'],
      [request([line('31', [300])], { issuer_rnc: '1' }), 'issuer_rnc', 'format'],
      [request([line('31', [300])], { generation_datetime: '2026-02-31T10:00:00' }), 'generation_datetime', 'value'],
      [request([line('31', [300])], { xml_storage_path: 'x' }), 'xml_storage_path', 'unknown'],
    ];
    for (const [body, place, type] of cases) {
      const { status, body: answer } = await cancel(body);
      expect({ status, place, types: answer.detail }).toEqual({
        status: 422,
        place,
        types: expect.arrayContaining([expect.objectContaining({ loc: expect.arrayContaining([place]), type })]),
      });
    }
    expect(await cancel(request([line('31', [300])], { issuer_rnc: '101000001' }))).toMatchObject({
      status: 404,
      body: { code: 'taxpayer_not_found' },
    });
    world.ranges(ISSUER, [{ env: 'TesteCF', ecf_type: '47', from: encf('47', 1), to: encf('47', 9), expires: null }]);
    expect((await cancel(request([line('47', [5, 12])]))).body.detail[0].msg).toContain(
      `${encf('47', 10)} to ${encf('47', 12)}`,
    );
    expect(await cancel(request([line('47', [5, 9])]))).toMatchObject({ status: 201 });
  });

  it('is refused if it is dated more than five minutes in the future', async () => {
    const dated = (ms: number) => ({ generation_datetime: new Date(Date.now() + ms).toISOString() });
    for (const change of [dated(360_000), { generation_datetime: '2099-01-01T00:00:00' }])
      expect(await cancel(request([line('46', [1])], change), { submit: false })).toMatchObject({
        status: 422,
        body: { code: 'validation_error', detail: [{ loc: ['body', 'generation_datetime'], type: 'future' }] },
      });
    expect((await cancel(request([line('46', [1])], dated(240_000)), { submit: false })).status).toBe(201);
  });

  it('is found only by its account', async () => {
    const { body } = await cancel(request([line('45', [1])]), { submit: false });
    const stranger = { identity: world.identity('TesteCF', 'account-2') };
    for (const route of [`/anecf/${body.id}`, `/anecf/${body.id}/xml`, '/anecf/999999'])
      expect(await world.call(emission, 'GET', route, stranger)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    expect(await world.call(emission, 'GET', `/anecf?issuer_rnc=${ISSUER}`, stranger)).toMatchObject({ status: 404 });
    expect(await world.call(emission, 'GET', '/anecf/x')).toMatchObject({ status: 422 });
    expect(await world.call(emission, 'GET', '/anecf')).toMatchObject({ status: 422 });
    expect(await world.call(emission, 'GET', `/anecf?issuer_rnc=${ISSUER}&limit=101`)).toMatchObject({ status: 422 });
    const listed = await world.call(emission, 'GET', `/anecf?issuer_rnc=${ISSUER}&limit=2`);
    expect(listed.body.map(({ id }: { id: number }) => id)).toEqual([body.id, expect.any(Number)]);
    expect((await world.call(emission, 'GET', `/anecf?issuer_rnc=${ISSUER}&offset=1&limit=1`)).body).toEqual([
      listed.body[1],
    ]);
    expect((await world.call(emission, 'GET', `/anecf?issuer_rnc=${BUYER}`)).body).toEqual([]);
    // Newest first by the time of creation: the order of ids may differ, and so may the clocks of instances.
    const ids = async () =>
      (await world.call(emission, 'GET', `/anecf?issuer_rnc=${ISSUER}&limit=100`)).body.map(
        ({ id }: { id: number }) => id,
      );
    const before = await ids();
    const moved = "UPDATE cancellation SET created_at = created_at - interval '1 day' WHERE id = $1";
    await world.database.query(moved, [body.id]);
    expect(await ids()).toEqual([...before.slice(1), body.id]);
  });

  it('blocks only numbers of its issuer, type and environment', async () => {
    const numbers: Range = [1_701, 1_704];
    expect(await cancel(request([line('31', numbers)]))).toMatchObject({ status: 201 });
    const others = [
      [request([line('33', numbers)]), 'TesteCF'],
      [request([line('31', numbers)], { issuer_rnc: BUYER }), 'TesteCF'],
      [request([line('31', numbers)], { authority_environment: 'eCF' }), 'eCF'],
    ] as const;
    for (const [body, env] of others)
      expect(await cancel(body, { env })).toMatchObject({ status: 201, body: { authority_status: 'Aceptado' } });
    const inCertification = await world.submit(emission, example('ecf-31', 1_701), { env: 'CerteCF' });
    expect(inCertification).toMatchObject({ status: 200 });
    expect(await world.submit(emission, example('ecf-31', 1_701))).toMatchObject({ status: 409 });
    for (const [body, env] of others) expect(await cancel(body, { env })).toMatchObject({ status: 409 });
  });
});

describe('an answer of the authority to a cancellation', () => {
  const verdict = (mensajes: string[], codigo = '1') => ({
    operation: 'anulacionrangos',
    kind: 'verdict',
    verdict: {
      codigo,
      estado: codigo === '1' ? 'Aceptada' : 'Rechazada',
      mensajes: mensajes.map((valor) => ({ codigo, valor })),
    },
    times: 1,
  });

  it('that is a partial success frees the refused ranges and leaves the others blocked', async () => {
    await world.fault(
      verdict([
        'Las secuencias fueron anuladas correctamente. Con excepción de las secuencias del detalle',
        `${encf('31', 402)} - ${encf('31', 403)}`,
        encf('31', 410),
      ]),
    );
    const { body } = await cancel(request([line('31', [401, 404], [410], [412])]));
    expect(body).toMatchObject({
      authority_status: 'Parcial',
      detail_lines: [
        {
          sequence_ranges: [
            { authority_status: 'Parcial' },
            { authority_status: 'Rechazado' },
            { authority_status: 'Aceptado' },
          ],
        },
      ],
    });
    expect((await events(body.id)).at(-1)).toMatchObject({
      authority_status: 'Parcial',
      total_encf_canceled: 6,
      total_encf_blocked: 3,
      blocked: [401, 404, 412].map((sequence) => ({ ecf_type: '31', from: sequence, to: sequence })),
    });
    const outcome = async (sequence: number) => (await world.submit(emission, example('ecf-31', sequence))).status;
    expect(await Promise.all([401, 402, 403, 404, 410, 412].map(outcome))).toEqual([409, 200, 200, 409, 200, 409]);
  });

  it('that is a partial success with unreadable messages leaves all numbers blocked and raises an alarm', async () => {
    await world.fault(
      verdict(['Las secuencias fueron anuladas correctamente. Con excepción de las secuencias del detalle', '?']),
    );
    const { body } = await cancel(request([line('31', [420, 421])]));
    expect(body).toMatchObject({
      authority_status: 'Parcial',
      detail_lines: [{ sequence_ranges: [{ authority_status: null }] }],
    });
    expect((await world.submit(emission, example('ecf-31', 420))).status).toBe(409);
    const { rows } = await world.database.query('SELECT alarm FROM cancellation WHERE id = $1', [body.id]);
    expect(rows).toEqual([{ alarm: 'cancellation-unreadable' }]);
  });

  it('that refuses and names only some ranges leaves all numbers blocked and raises an alarm', async () => {
    await world.fault(verdict(['No fue posible anular las siguientes secuencias', encf('31', 423)], '2'));
    const { body } = await cancel(request([line('31', [422, 424])]));
    expect(body).toMatchObject({
      authority_status: 'submitted',
      detail_lines: [{ sequence_ranges: [{ authority_status: null }] }],
    });
    expect((await world.submit(emission, example('ecf-31', 424))).status).toBe(409);
    const { rows } = await world.database.query('SELECT alarm, next_action_at FROM cancellation WHERE id = $1', [
      body.id,
    ]);
    expect(rows).toEqual([{ alarm: 'cancellation-unreadable', next_action_at: null }]);
  });

  it('that is a partial success of a thousand ranges publishes each refused range', async () => {
    const ranges = Array.from({ length: 1_000 }, (_, n): Range => [20_000 + 2 * n]);
    const refused = ranges.slice(1).map(([number]) => encf('31', number));
    await world.fault(
      verdict([
        'Las secuencias fueron anuladas correctamente. Con excepción de las secuencias del detalle',
        ...refused,
      ]),
    );
    const { body } = await cancel(request([line('31', ...ranges)]));
    const told: string[] = body.detail_lines[0].sequence_ranges.map(
      (range: { authority_status: string }) => range.authority_status,
    );
    expect([body.authority_status, told[0], new Set(told.slice(1))]).toEqual([
      'Parcial',
      'Aceptado',
      new Set(['Rechazado']),
    ]);
    expect(body.authority_response).toContain(refused.at(-1));
  });

  it('that refuses all ranges frees all numbers', async () => {
    await world.fault(
      verdict(['El RNC del certificado no está delegado para realizar transacciones para el RNC'], '2'),
    );
    const { body } = await cancel(request([line('31', [430])]));
    expect(body).toMatchObject({ authority_status: 'Rechazado', sent_to_authority: true });
    expect((await events(body.id)).at(-1)).toMatchObject({
      authority_status: 'Rechazado',
      total_encf_blocked: 0,
      blocked: [],
    });
    expect((await world.submit(emission, example('ecf-31', 430))).status).toBe(200);
  });

  it('that does not come leaves the numbers blocked, and the same bytes are sent again', async () => {
    await world.fault({ operation: 'anulacionrangos', kind: 'http', status: 502, body: '<html>', times: 1 });
    const { status, body } = await cancel(request([line('31', [440, 441])]));
    expect({ status, is: body.authority_status }).toEqual({ status: 201, is: 'submitted' });
    expect((await world.submit(emission, example('ecf-31', 440))).status).toBe(409);
    const after = await settled(body.id, ['Aceptado']);
    expect(new Set((await arrived()).slice(-1).map(({ sha256 }) => sha256))).toEqual(
      new Set([after.body.xml_checksum]),
    );
  });

  it.each(['reset-after', 'timeout-after'])(
    'that was lost (%s) after the authority noted the numbers leaves them blocked, without another send, and raises an alarm',
    async (kind) => {
      const sequence = kind === 'reset-after' ? 450 : 451;
      await world.fault({ operation: 'anulacionrangos', kind, times: 1 });
      const { body } = await cancel(request([line('31', [sequence])]));
      expect(body.authority_status).toBe('submitted');
      const stored = async () => {
        const sql = 'SELECT alarm, next_action_at FROM cancellation WHERE id = $1';
        return (await world.database.query<{ alarm: string; next_action_at: Date | null }>(sql, [body.id])).rows[0];
      };
      await until(async () => (await stored())?.alarm === 'cancellation-open', 'the alarm');
      expect((await stored())?.next_action_at).toBeNull();
      expect((await find(body.id)).body.authority_status).toBe('submitted');
      expect((await world.submit(emission, example('ecf-31', sequence))).status).toBe(409);
    },
  );

  it('to a crashed process is lost, and another process sends the cancellation again', async () => {
    const { body } = await cancel(request([line('31', [460])]), { submit: false });
    await world.database.query(
      "UPDATE cancellation SET state = 'sending', next_action_at = now() - interval '1 second' WHERE id = $1",
      [body.id],
    );
    expect((await settled(body.id, ['Aceptado'])).body.sent_to_authority).toBe(true);
  });

  it('to a crashed process is lost, and the send counts from the time of the request if the next process has no token', async () => {
    const { body } = await cancel(request([line('31', [461])]), { submit: false });
    const down = await world.fault({ operation: 'autenticacion', kind: 'down' });
    // The cached tokens belong to the former certificate.
    world.register(ISSUER, world.issue('00100000033'));
    await world.submit(emission, example('ecf-31', 1_461));
    await world.database.query(
      `UPDATE cancellation SET state = 'sending', requested_at = '2026-06-01T12:00:00Z', next_action_at = now() - interval '1 second'
        WHERE id = $1`,
      [body.id],
    );
    await until(async () => {
      const { rows } = await world.database.query('SELECT failures FROM cancellation WHERE id = $1', [body.id]);
      return Number(rows[0]?.failures) > 0;
    }, 'a try to send it');
    expect((await find(body.id)).body).toMatchObject({
      authority_status: 'submitted',
      sent_at: '2026-06-01T08:00:00-04:00',
      sent_to_authority: true,
    });
    await world.clearFaults(down);
    expect((await settled(body.id, ['Aceptado'])).body.sent_at).toBe('2026-06-01T08:00:00-04:00');
  });

  it('that does not come because the send failed is published as failed, then as submitted when it is sent again', async () => {
    const { body } = await cancel(request([line('31', [462])]), { submit: false });
    // The token and the one that comes instead of it.
    await world.fault({ operation: 'anulacionrangos', kind: 'http', status: 401, body: '', times: 2 });
    const sent = await cancel(request([line('31', [462])]));
    expect(sent.body).toMatchObject({ id: body.id, authority_status: 'failed', sent_at: null });
    await settled(body.id, ['Aceptado']);
    const statuses = (await events(body.id)).map(({ authority_status }) => authority_status);
    expect(statuses.slice(0, 4)).toEqual([null, 'submitted', 'failed', 'submitted']);
    expect((await events(body.id)).map(({ revision }) => revision)).toEqual(statuses.map((_, n) => n + 1));
  });

  describe('that is recorded after another instance claimed the cancellation', () => {
    const settle = (id: number) =>
      emission.emission.resolution.settleCancellation({ id, outcome: 'rejected', note: 'the portal shows none' });

    /** The answer comes after `meanwhile` has changed the row. */
    async function late(sequence: number, fault: object, meanwhile: string, then?: (id: number) => Promise<unknown>) {
      await world.fault({ operation: 'anulacionrangos', ...fault, delay_ms: 700, times: 1 });
      const answer = cancel(request([line('31', [sequence, sequence + 1])]));
      const named = `FROM cancelled_range r WHERE r.cancellation_id = cancellation.id AND r.first_number = ${sequence}`;
      const taken = `UPDATE cancellation SET revision = revision + 1, ${meanwhile} ${named} RETURNING id`;
      let id: number | undefined;
      await until(async () => {
        id = (await world.database.query<{ id: number }>(taken)).rows[0]?.id;
        return id !== undefined;
      }, 'the send');
      await then?.(id as number);
      const { body } = await answer;
      const { rows } = await world.database.query('SELECT state, alarm FROM cancellation WHERE id = $1', [body.id]);
      const status = (await world.submit(emission, example('ecf-31', sequence))).status;
      await world.database.query('UPDATE cancellation SET next_action_at = NULL WHERE id = $1', [body.id]);
      return { shown: body.authority_status, ...rows[0], status };
    }
    const refusing = verdict(['Las secuencias no fueron anuladas'], '2');
    const far = "next_action_at = now() + interval '1 hour'";

    it('counts if it is a success, whatever the answer to the other copy is', async () => {
      expect(await late(1_901, { kind: 'slow' }, `state = 'sending', lost_sends = 1, ${far}`)).toEqual({
        shown: 'Aceptado',
        state: 'accepted',
        alarm: null,
        status: 409,
      });
    });

    it('frees no number if it is a refusal, because the copy in flight decides, or the operator if all copies are lost', async () => {
      expect(await late(1_911, refusing, `state = 'sending', lost_sends = 1, ${far}`)).toEqual({
        shown: 'submitted',
        state: 'sending',
        alarm: null,
        status: 409,
      });
      expect(await late(1_921, refusing, `state = 'submitted', lost_sends = 2, ${far}`)).toEqual({
        shown: 'submitted',
        state: 'submitted',
        alarm: 'cancellation-open',
        status: 409,
      });
    });

    it('does not block numbers again after the operator settled the cancellation', async () => {
      const open = `state = 'submitted', lost_sends = 1, alarm = 'cancellation-overdue', ${far}`;
      expect(await late(1_931, { kind: 'slow' }, open, settle)).toEqual({
        shown: 'Rechazado',
        state: 'rejected',
        alarm: null,
        status: 200,
      });
    });
  });
});

describe('the settlement of a cancellation by the operator', () => {
  const settle = (id: number, said: object) =>
    emission.emission.resolution.settleCancellation({
      ...{ id, outcome: 'accepted' as const, note: 'seen', ...said },
      by: { actor: 'Ana', request_id: null },
    });
  const doubtful = async (settled: 'true' | 'false' = 'false') =>
    (await emission.emission.resolution.listDoubtful({ issuer_rnc: ISSUER, settled, limit: 100, after: 0 }))
      .cancellations;

  /** A cancellation whose answer was lost after the authority recorded it, and whose copy was refused. */
  async function open(...ranges: Range[]): Promise<number> {
    await world.fault({ operation: 'anulacionrangos', kind: 'reset-after', times: 1 });
    const { id } = (await cancel(request([line('31', ...ranges)]))).body;
    const alarm = async () => (await doubtful()).find((one) => one.id === id)?.alarm;
    await until(async () => (await alarm()) === 'cancellation-open', `the alarm of cancellation ${id}`);
    return id;
  }
  const outcome = async (sequence: number) => (await world.submit(emission, example('ecf-31', sequence))).status;

  it('as accepted ends the alarm and leaves the numbers blocked', async () => {
    const id = await open([470, 471]);
    const acts: AuditAct[] = [];
    await bus.subscribe({
      topics: [TOPICS.audit.name],
      group: 'gateway',
      handler: async ({ data }) => void acts.push(data as AuditAct),
    });
    expect((await doubtful()).find((one) => one.id === id)).toMatchObject({
      env: 'TesteCF',
      authority_status: 'submitted',
      numbers: `${encf('31', 470)} to ${encf('31', 471)}`,
      total_encf_canceled: 2,
      note: null,
    });
    const asked = await world.call(emission, 'POST', '/internal/cancellations/settle', {
      identity: world.serviceIdentity(),
      body: JSON.stringify({ id, outcome: 'accepted', note: 'portal\u0000, M. Peña' }),
      headers: { 'content-type': 'application/json' },
    });
    expect([asked.status, asked.body]).toMatchObject([422, { code: 'validation_error' }]);
    expect(await settle(id, { note: 'portal, M. Peña' })).toMatchObject({
      authority_status: 'Aceptado',
      alarm: null,
      note: 'portal, M. Peña',
    });
    const { body } = await find(id);
    expect(body).toMatchObject({ authority_status: 'Aceptado', authority_response: expect.stringContaining('anula') });
    expect((await events(id)).at(-1)).toMatchObject({ authority_status: 'Aceptado', total_encf_blocked: 2 });
    expect(await outcome(470)).toBe(409);
    expect((await doubtful()).map((one) => one.id)).not.toContain(id);
    expect((await doubtful('true')).find((one) => one.id === id)?.settled_at).toMatch(/-04:00$/);
    await expect(settle(id, {})).rejects.toMatchObject({ status: 409, code: 'conflict' });
    await expect(settle(999_999, {})).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await until(() => acts.length > 0);
    expect(acts).toMatchObject([
      {
        ...{ actor: 'Ana', action: 'cancellation.settle', target: `/cancellations/${id}`, request_id: null },
        details: { outcome: 'accepted', note: 'portal, M. Peña' },
      },
    ]);
  });

  it('as rejected frees all numbers', async () => {
    const id = await open([472, 473]);
    expect(await settle(id, { outcome: 'rejected' })).toMatchObject({ authority_status: 'Rechazado' });
    expect((await events(id)).at(-1)).toMatchObject({ authority_status: 'Rechazado', blocked: [] });
    expect(await outcome(472)).toBe(200);
  });

  it('as partly accepted frees the refused numbers', async () => {
    const id = await open([474, 479]);
    const refused = (...ranges: Range[]) => ({
      outcome: 'partial',
      refused: ranges.map(([from, to = from]) => ({ encf_desde: encf('31', from), encf_hasta: encf('31', to) })),
    });
    for (const wrong of [refused([480]), refused([474, 479]), refused([476, 475])])
      await expect(settle(id, wrong)).rejects.toMatchObject({ status: 422, code: 'validation_error' });
    expect(await settle(id, refused([474], [476, 477]))).toMatchObject({ authority_status: 'Parcial' });
    expect((await find(id)).body.detail_lines[0].sequence_ranges[0].authority_status).toBe('Parcial');
    expect(await Promise.all([474, 475, 476, 479].map(outcome))).toEqual([200, 409, 200, 409]);
  });

  it('counts once if two are made concurrently, and is refused for a cancellation in flight', async () => {
    const id = await open([480]);
    const both = await Promise.allSettled([settle(id, {}), settle(id, { outcome: 'rejected' })]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await world.fault({ operation: 'anulacionrangos', kind: 'slow', delay_ms: 1_000, times: 1 });
    const sending = cancel(request([line('31', [481])]));
    const next = id + 1;
    await until(async () => (await find(next)).status === 200);
    await world.database.query("UPDATE cancellation SET alarm = 'cancellation-overdue' WHERE id = $1", [next]);
    await expect(settle(next, {})).rejects.toMatchObject({ status: 409 });
    await sending;
  });
});

describe('numbers in concurrent requests', () => {
  it('are either issued or cancelled', async () => {
    const numbers = Array.from({ length: 16 }, (_, n) => 500 + n);
    const answers = await Promise.all(
      numbers.flatMap((sequence) => {
        const at = sequence % 2 === 0 ? emission : second;
        const issue = () =>
          world
            .submit(at, example('ecf-31', sequence))
            .then(({ status }) => ({ kind: 'issue', sequence, status, authority: null }));
        const drop = () =>
          cancel(request([line('31', [sequence])]), { at: at === emission ? second : emission }).then(
            ({ status, body }) => ({
              kind: 'cancel',
              sequence,
              status,
              authority: body.authority_status,
            }),
          );
        return sequence % 3 === 0 ? [drop(), issue()] : [issue(), drop()];
      }),
    );
    for (const sequence of numbers) {
      const of = (kind: string) => answers.find((one) => one.kind === kind && one.sequence === sequence)?.status;
      expect([
        [200, 409],
        [409, 201],
      ]).toContainEqual([of('issue'), of('cancel')]);
      const answer = answers.find((one) => one.kind === 'cancel' && one.sequence === sequence);
      if (answer?.status === 201)
        expect({ sequence, authority: answer.authority }).toEqual({ sequence, authority: 'Aceptado' });
      const issued = (await world.ledger(encf('31', sequence))).length;
      expect({ sequence, issued }).toEqual({ sequence, issued: of('issue') === 200 ? 1 : 0 });
    }
  });

  it.each([
    { route: '/submit_ecf' as const, type: '31', first: 520 },
    { route: '/submit_fc' as const, type: '32', first: 540 },
  ])('are either issued as the caller signed them ($route) or cancelled', async ({ route, type, first }) => {
    const token = await world.token(emission);
    /** A document signed by the caller: here another environment's document with the same content. */
    const signed = async (sequence: number): Promise<string> => {
      const { body } = await world.submit(emission, example(`ecf-${type}`, sequence), { env: 'CerteCF' });
      return type === '32' ? body.rfce_xml : body.xml;
    };
    const numbers = Array.from({ length: 8 }, (_, n) => first + n);
    const documents = await Promise.all(numbers.map(signed));
    const outcomes = await Promise.all(
      numbers.map(async (sequence, n) => {
        const [one, other] = n % 2 === 0 ? [emission, second] : [second, emission];
        const issue = () => world.submitSigned(one, route, documents[n] as string, token);
        const drop = () => cancel(request([line(type, [sequence])]), { at: other });
        const both = n % 3 === 0 ? [drop(), issue()].reverse() : [issue(), drop()];
        return Promise.all(both);
      }),
    );
    for (const [n, [issued, dropped]] of outcomes.entries()) {
      const sequence = numbers[n] as number;
      expect([
        [200, 409],
        [409, 201],
      ]).toContainEqual([issued?.status, dropped?.status]);
      const arrivals = (await world.ledger(encf(type, sequence))).length - 1;
      expect({ sequence, issued: arrivals }).toEqual({ sequence, issued: issued?.status === 200 ? 1 : 0 });
      if (dropped?.status === 201) expect(dropped.body.authority_status).toBe('Aceptado');
    }
    // Whichever request won, a cancelled number cannot be issued afterwards.
    const free = first + 10;
    const document = await signed(free);
    expect((await cancel(request([line(type, [free])]))).status).toBe(201);
    const late = await world.submitSigned(second, route, document, token);
    expect([late.status, late.body.code]).toEqual([409, 'encf_cancelled']);
  });

  it('are cancelled once', async () => {
    const all = await Promise.all(
      [emission, second, emission, second].map((at, n) =>
        cancel(request([line('46', [1, 100 + n])], { cancellation_reason: String(n) }), { at }),
      ),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it('make one cancellation, which is sent, if one request stores it and another one sends it', async () => {
    for (let round = 0; round < 6; round += 1) {
      const body = request([line('46', [301 + 10 * round, 305 + 10 * round])]);
      const at = round % 2 === 0 ? [emission, second] : [second, emission];
      const [sent, kept] = await Promise.all([
        cancel(body, { at: at[0]! }),
        cancel(body, { at: at[1]!, submit: false }),
      ]);
      expect([sent?.status, sent?.body.authority_status]).toEqual([201, 'Aceptado']);
      expect([201, 409]).toContain(kept?.status);
      if (kept?.status === 201)
        expect([kept.body.id, kept.body.xml_checksum]).toEqual([sent?.body.id, sent?.body.xml_checksum]);
      const { rows } = await world.database.query(
        `SELECT state FROM cancellation WHERE content_hash = (SELECT content_hash FROM cancellation WHERE id = $1)`,
        [sent?.body.id],
      );
      expect(rows).toEqual([{ state: 'accepted' }]);
      expect((await arrived()).at(-1)).toMatchObject({ sha256: sent?.body.xml_checksum, effective: true });
    }
  });

  it('make one cancellation for local requests, and one for requests that send', async () => {
    const body = request([line('46', [201, 210])]);
    const at = [emission, second, emission, second, emission, second];
    const local = await Promise.all(at.map((each) => cancel(body, { at: each, submit: false })));
    expect(local.map(({ status }) => status)).toEqual(Array(6).fill(201));
    for (const one of local) expect(one.body).toEqual(local[0]?.body);
    const sent = await Promise.all(at.map((each) => cancel(body, { at: each })));
    expect(sent.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(sent.find(({ status }) => status === 201)?.body.id).toBe(local[0]?.body.id);
    const { rows } = await world.database.query(
      `SELECT count(*)::int AS count FROM cancellation WHERE content_hash =
        (SELECT content_hash FROM cancellation WHERE id = $1)`,
      [local[0]?.body.id],
    );
    expect(rows).toEqual([{ count: 1 }]);
  });
});

describe('lines of ten thousand ranges each', () => {
  const TYPES = ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'];
  const many = (type: string, first: number) =>
    line(type, ...Array.from({ length: 10_000 }, (_, n): Range => [first + 3 * n, first + 3 * n + 1]));
  const lines = (first: number) => TYPES.map((type) => many(type, first));
  /** Shared, because a worker takes longer to start than most of its tasks here. */
  const documents = createCancellationDocuments(() => undefined);

  it('are cancelled ten in a request; an error names used numbers, and numbers between the ranges stay free', async () => {
    // The authority runs in this process and needs long for thirteen megabytes.
    const at = await world.start({}, { AUTHORITY_TIMEOUT_MS: 60_000, DATABASE_WAIT_MS: 60_000 });
    const { status, body } = await cancel(request(lines(5_000_000)), { at });
    expect({ status, total: body.total_encf_canceled, is: body.authority_status }).toEqual({
      status: 201,
      total: 200_000,
      is: 'Aceptado',
    });
    const by = `(by cancellation ${body.id})`;
    const event = (await events(body.id)).at(-1);
    expect(event).toMatchObject({ total_encf_blocked: 200_000, blocked_complete: false });
    expect(event?.blocked).toHaveLength(1_000);
    expect((await world.submit(at, example('ecf-31', 5_000_001))).status).toBe(409);
    expect((await world.submit(at, example('ecf-31', 5_000_002))).status).toBe(200);
    const between = (type: string, from: number, to: number) =>
      line(type, ...Array.from({ length: 1_500 }, (_, n): Range => [5_000_002 + 3 * n]), [from, to]);
    for (const [asked, named] of [
      [many('41', 5_000_001), `already: ${encf('41', 5_000_001)} ${by}, ${encf('41', 5_000_004)} ${by},`],
      [line('47', [4_000_000, 9_000_000]), `${encf('47', 5_000_000)} to ${encf('47', 5_000_001)} ${by}`],
      [line('44', [5_000_001, 5_000_002]), `${encf('44', 5_000_001)} ${by}`],
      [between('46', 4_999_990, 5_000_000), `already: ${encf('46', 5_000_000)} ${by}.`],
      [between('46', 5_004_501, 5_004_502), `already: ${encf('46', 5_004_501)} ${by}.`],
    ] as const) {
      const refused = await cancel(request([asked]), { at, submit: false });
      expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining(named) } });
    }
    expect(await cancel(request([between('46', 5_029_999, 5_040_000)]), { at, submit: false })).toMatchObject({
      status: 201,
    });
    const eleven = Array.from({ length: 10_001 }, (_, n): Range => [2_000_000 + 3 * n]);
    expect((await cancel(request([line('31', ...eleven)]), { at })).body.detail[0]).toMatchObject({ type: 'too_big' });
  });

  it('wait in a bounded queue, beyond which a request gets 503', async () => {
    const body = Buffer.alloc(128 * 1024, 'no JSON ');
    const codes = await Promise.all(Array.from({ length: 18 }, () => documents.read(body).catch(({ code }) => code)));
    expect(codes).toEqual([...Array(17).fill('validation_error'), 'overloaded']);
  });

  it('do not block other work while a worker reads, checks, writes and signs them', async () => {
    /** The number of turns of the event loop meanwhile; 0 if the work blocks it. */
    async function countTicks<T>(work: () => Promise<T>): Promise<[T, number]> {
      let [count, over] = [0, false];
      const result = work().finally(() => {
        over = true;
      });
      for (; !over; count += 1) await new Promise((resolve) => setTimeout(resolve, 20));
      return [await result, count];
    }
    const body = Buffer.from(JSON.stringify(request([many('31', 1)])));
    const [read, whileRead] = await countTicks(() => documents.read(body));
    expect(read.lines.map(({ ranges }) => ranges.length)).toEqual([20_000]);
    const { p12, password } = world.certificate;
    const now = new Date();
    const signer = openCertificate(p12, password, now);
    const [signed, whileSigned] = await countTicks(() => documents.sign(read, now, signer, now));
    expect(verifyXml(signed.bytes, now)).toMatchObject({ signature: 'valid' });
    expect(Math.min(whileRead, whileSigned)).toBeGreaterThan(2);
    const broken = documents.read(Buffer.concat([body, Buffer.from('}')]));
    await expect(broken).rejects.toMatchObject({
      name: 'EmissionError',
      code: 'validation_error',
      items: [{ loc: ['body'], type: 'invalid_json' }],
    });
    const twice = [many('31', 1), line('31', [301])];
    await expect(documents.read(Buffer.from(JSON.stringify(request(twice))))).rejects.toMatchObject({
      code: 'validation_error',
      items: [{ loc: ['body', 'detail_lines', 1, 'sequence_ranges', 0, 'encf_desde'], type: 'overlap' }],
    });
  });
});
