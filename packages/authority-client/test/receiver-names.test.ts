/** Names of receivers: anybody may list one, and its name server decides when and how it answers. */
import { createHook } from 'node:async_hooks';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { authorityEndpoints, createAuthorityClient, createNameLookup, createReceiverClient } from '../src/index.js';
import { type NameRecord, type NameServer, startNameServer } from './name-server.js';
import { httpAnswer, type RawServer, startRawServer } from './raw-server.js';

// Node gives each address of localhost 250 ms, which a busy machine may exceed.
setDefaultAutoSelectFamilyAttemptTimeout(5_000);

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const document = { issuerRnc: '101672919', encf: 'E310000000001', xml: '<ECF/>' };
const ARECF = '<ARECF><DetalleAcusedeRecibo><Estado>0</Estado></DetalleAcusedeRecibo></ARECF>';
const NO_FILE = '/nowhere/hosts';

async function names(recordOf: (name: string) => NameRecord | undefined): Promise<NameServer> {
  const started = await startNameServer(recordOf);
  closers.push(() => started.stop());
  return started;
}

async function receiver(): Promise<RawServer> {
  const started = await startRawServer((_, socket) => socket.write(httpAnswer('200 OK', 'application/xml', ARECF)));
  closers.push(() => started.stop());
  return started;
}

function hostsFile(text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'ecf-hosts-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, 'hosts'), text);
  return path.join(folder, 'hosts');
}

function clientWith(lookup: ReturnType<typeof createNameLookup> | null, addressGuard?: () => boolean) {
  const client = createReceiverClient({
    userAgent: 'ecf-test/1',
    allowPlainHttp: true,
    ...(addressGuard ? { addressGuard } : {}),
    ...(lookup ? { lookup } : {}),
  });
  closers.push(() => client.close());
  return client;
}

/** Counts the calls of the system's resolver, which blocks a thread, from here on. */
function systemLookups(): { count: number } {
  const seen = { count: 0 };
  const hook = createHook({
    init(_, type) {
      if (type === 'GETADDRINFOREQWRAP') seen.count += 1;
    },
  }).enable();
  closers.push(() => hook.disable());
  return seen;
}

describe('names that hang', () => {
  it('delay neither other receivers nor the authority, and end as failed connections', async () => {
    const server = await names((name) =>
      name.startsWith('hangs') ? { A: 'silent', AAAA: 'silent' } : { A: ['127.0.0.1'] },
    );
    const { port } = await receiver();
    const lookup = createNameLookup({ servers: [server.address], hostsFile: NO_FILE });
    const client = clientWith(lookup, () => true);
    const deliver = (host: string) => client.deliverDocument({ ...document, baseUrl: `http://${host}:${port}` });
    const hanging = new Set<number>();
    const hung = Array.from({ length: 16 }, (_, number) => {
      hanging.add(number);
      return deliver(`hangs-${number}.test`).finally(() => hanging.delete(number));
    });
    while (new Set(server.queries).size < hung.length) await delay(20);

    expect(await Promise.all(['one.test', 'two.test', 'localhost'].map(deliver))).toEqual(
      Array(3).fill(expect.objectContaining({ outcome: 'verdict' })),
    );
    const authority = createAuthorityClient({
      endpoints: authorityEndpoints(`http://localhost:${port}`),
      userAgent: 'ecf-test/1',
    });
    closers.push(() => authority.close());
    // The answer does not matter here, only that the call got through.
    const named = { issuerRnc: '101672919', encf: 'E310000000001' };
    const query = { env: 'TesteCF', token: 't', trackId: 'd2b6e27c', ...named } as const;
    expect(await authority.queryResult(query)).toMatchObject({
      raw: { status: 200 },
    });
    expect(hanging.size).toBe(hung.length);

    const never = { outcome: 'unknown', reachedAuthority: 'no', raw: null };
    expect(await Promise.all(hung)).toEqual(Array(hung.length).fill(expect.objectContaining(never)));
  });

  it('are not given to the system to resolve', async () => {
    const { port } = await receiver();
    const seen = systemLookups();
    const client = clientWith(null, () => true);
    const answer = await client.deliverDocument({ ...document, baseUrl: `http://localhost:${port}` });
    expect(answer).toMatchObject({ outcome: 'verdict' });
    expect(seen.count).toBe(0);
  });

  it('delay the addresses of the other family only for a moment', async () => {
    const server = await names((name) =>
      name === 'four.test' ? { A: ['192.0.2.4'], AAAA: 'silent' } : { A: 'silent', AAAA: ['2001:db8::6'] },
    );
    const lookup = createNameLookup({ servers: [server.address], hostsFile: NO_FILE });
    expect(await lookup('four.test')).toEqual([{ address: '192.0.2.4', family: 4 }]);
    expect(await lookup('six.test')).toEqual([{ address: '2001:db8::6', family: 6 }]);
  });
});

describe('the addresses of a name', () => {
  it('are all that name servers give, those of IPv4 first', async () => {
    const server = await names(() => ({ A: ['192.0.2.4', '192.0.2.5'], AAAA: ['2001:db8::6'] }));
    const lookup = createNameLookup({ servers: [server.address], hostsFile: NO_FILE });
    expect(await lookup('both.test')).toEqual([
      { address: '192.0.2.4', family: 4 },
      { address: '192.0.2.5', family: 4 },
      { address: '2001:db8::6', family: 6 },
    ]);
  });

  it.each([
    ['does not exist', undefined],
    ['has none', {}],
  ])('are none where it %s', async (_, record) => {
    const server = await names(() => record);
    const lookup = createNameLookup({ servers: [server.address], hostsFile: NO_FILE });
    const answer = await clientWith(lookup).deliverDocument({ ...document, baseUrl: 'http://none.test' });
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'connection', reachedAuthority: 'no' });
  });

  it('are queried at the next name server if one is silent', async () => {
    const silent = await names(() => ({ A: 'silent', AAAA: 'silent' }));
    const server = await names(() => ({ A: ['192.0.2.4'] }));
    const lookup = createNameLookup({ servers: [silent.address, server.address], hostsFile: NO_FILE });
    expect(await lookup('one.test')).toEqual([{ address: '192.0.2.4', family: 4 }]);
  });

  it('come from the hosts file, with its changes, before any name server is queried', async () => {
    const server = await names(() => ({ A: ['192.0.2.9'] }));
    const file = hostsFile(
      [
        '# 192.0.2.1 receiver.test',
        '192.0.2.2\tReceiver.Test other.test # receiver.test of the branch\r',
        '2001:db8::2   receiver.test',
        'nonsense receiver.test',
      ].join('\n'),
    );
    const lookup = createNameLookup({ servers: [server.address], hostsFile: file });
    const both = [
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::2', family: 6 },
    ];
    expect(await lookup('receiver.test')).toEqual(both);
    expect(await lookup('RECEIVER.test.')).toEqual(both);
    expect(await lookup('other.test')).toEqual([{ address: '192.0.2.2', family: 4 }]);
    expect(server.queries).toEqual([]);
    writeFileSync(file, '192.0.2.3 receiver.test\n');
    expect(await lookup('receiver.test')).toEqual([{ address: '192.0.2.3', family: 4 }]);
    expect(await lookup('branch.test')).toEqual([{ address: '192.0.2.9', family: 4 }]);
  });

  it.each(['localhost', 'LOCALHOST.', 'receiver.localhost'])(
    'are the loopback ones for %s, without a file',
    async (name) => {
      const server = await names(() => ({ A: ['192.0.2.9'] }));
      const lookup = createNameLookup({ servers: [server.address], hostsFile: NO_FILE });
      expect(await lookup(name)).toEqual([
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
      expect(server.queries).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '10.0.0.8'])('are connected to only if the guard allows them: %s', async (address) => {
    const server = await names(() => ({ A: [address], AAAA: ['::1'] }));
    const started = await receiver();
    const lookup = createNameLookup({ servers: [server.address], hostsFile: hostsFile('127.0.0.1 listed.test') });
    const client = clientWith(lookup);
    for (const host of ['inside.test', 'listed.test'])
      expect(await client.deliverDocument({ ...document, baseUrl: `http://${host}:${started.port}` })).toMatchObject({
        outcome: 'refused',
        code: 'address_refused',
      });
    expect(server.queries).toContain('inside.test');
    expect(started.connections).toBe(0);
  });
});
