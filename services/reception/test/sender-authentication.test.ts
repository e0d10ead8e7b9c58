import { randomBytes } from 'node:crypto';
import { readXml } from '@ecf/ecf-xml';
import { createGate, createTurns, trustCheck } from '@ecf/public-door';
import { testKey } from '@ecf/test-support';
import {
  type CertificateFacts,
  readTrustedIssuers,
  type SigningCertificate,
  signXml,
  verifyXml,
} from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { describe, expect, it } from '@jest/globals';
import { decodeJwt, SignJWT } from 'jose';
import { ReceptionError } from '../src/core/errors.js';
import type { TokenKeys } from '../src/core/ports.js';
import { ProviderTokens } from '../src/core/providers/provider-tokens.js';
import { SEED_LIFE_MS, Seeds } from '../src/core/providers/seeds.js';
import { createInMemorySpentSeeds } from '../src/outbound/spent-seeds.in-memory.js';
import { createInMemoryTokenKeys } from '../src/outbound/token-keys.in-memory.js';
import { authority, expired, issue, NOW, provider } from './support/senders.js';

const KEY = randomBytes(32);
const SENDER = '203.0.113.7';

function clockAt(start = NOW) {
  let now = start.getTime();
  const clock = () => new Date(now);
  return {
    clock,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

/** Signs a seed as a client does: parsed, canonical, the signature appended. */
async function sign(seed: string, certificate: SigningCertificate = provider.certificate): Promise<Buffer> {
  const canonical = seed.replace(/^<\?xml[^>]*\?>/, '');
  const { xml } = await signXml({ canonical, output: canonical }, certificate);
  return Buffer.from(xml, 'utf8');
}

/** What a seed is redeemed for here: the certificate itself. */
const keep = async (certificate: CertificateFacts) => certificate;

async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ReceptionError) return error.kind;
    throw error;
  }
  return 'none';
}

function seedsAt(time = clockAt(), trust = trustCheck(null), spent = createInMemorySpentSeeds()) {
  return {
    ...time,
    spent,
    seeds: new Seeds({ spent, clock: time.clock, turns: createTurns(), gate: createGate(4) }, KEY, trust),
  };
}

describe('seeds', () => {
  it('are the authority’s SemillaModel, each another one', () => {
    const { seeds } = seedsAt();
    const [one, other] = [seeds.issue('TesteCF'), seeds.issue('TesteCF')];
    expect(one).toMatch(
      /^<\?xml version="1\.0" encoding="utf-8"\?><SemillaModel [^>]*><valor>[A-Za-z0-9+/=]+<\/valor><fecha>2026-06-23T12:00:00\.0000000-04:00<\/fecha><\/SemillaModel>$/,
    );
    expect(one).not.toBe(other);
  });

  it('buy one token, once', async () => {
    const { seeds } = seedsAt();
    const signed = await sign(seeds.issue('TesteCF'));
    expect(await seeds.redeem(signed, 'TesteCF', SENDER, keep)).toMatchObject({ holderId: '00100000001' });
    expect(await refusalOf(seeds.redeem(signed, 'TesteCF', SENDER, keep))).toBe('seed.used');
  });

  it('one of fifty simultaneous redemptions succeeds', async () => {
    const { seeds } = seedsAt();
    const signed = await sign(seeds.issue('TesteCF'));
    const kinds = await Promise.all(
      Array.from({ length: 50 }, () => refusalOf(seeds.redeem(signed, 'TesteCF', SENDER, keep))),
    );
    expect(kinds.filter((kind) => kind === 'none')).toHaveLength(1);
    expect(new Set(kinds)).toEqual(new Set(['none', 'seed.used']));
  });

  it('take places of the gate in turn: who redeems many keeps nobody waiting', async () => {
    const order: string[] = [];
    const seeds = new Seeds(
      { spent: createInMemorySpentSeeds(), clock: () => NOW, turns: createTurns(), gate: createGate(1) },
      KEY,
      trustCheck(null),
    );
    const redeem = async (sender: string) =>
      seeds.redeem(await sign(seeds.issue('TesteCF')), 'TesteCF', sender, async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        order.push(sender);
      });
    const many = Array.from({ length: 10 }, () => redeem('198.51.100.1'));
    while (order.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await redeem(SENDER);
    expect(order.indexOf(SENDER)).toBeLessThan(6);
    await Promise.all(many);
  });

  it('live five minutes', async () => {
    const { seeds, pass } = seedsAt();
    const [first, second] = [await sign(seeds.issue('TesteCF')), await sign(seeds.issue('TesteCF'))];
    pass(SEED_LIFE_MS);
    expect(await refusalOf(seeds.redeem(first, 'TesteCF', SENDER, keep))).toBe('none');
    pass(1);
    expect(await refusalOf(seeds.redeem(second, 'TesteCF', SENDER, keep))).toBe('seed.expired');
  });

  it('are known to every instance with the same key, and to no other', async () => {
    const { seeds } = seedsAt();
    const stranger = new Seeds(
      { spent: createInMemorySpentSeeds(), clock: () => NOW, turns: createTurns(), gate: createGate(4) },
      randomBytes(32),
      trustCheck(null),
    );
    expect(await refusalOf(seedsAt().seeds.redeem(await sign(seeds.issue('eCF')), 'eCF', SENDER, keep))).toBe('none');
    expect(await refusalOf(stranger.redeem(await sign(seeds.issue('eCF')), 'eCF', SENDER, keep))).toBe('seed.unknown');
  });

  it('count in their environment alone', async () => {
    const { seeds } = seedsAt();
    expect(await refusalOf(seeds.redeem(await sign(seeds.issue('TesteCF')), 'eCF', SENDER, keep))).toBe(
      'seed.other_environment',
    );
  });

  it.each([
    [
      'changed',
      (seed: string) => seed.replace(/<valor>(.)/, (_all, first) => `<valor>${first === 'x' ? 'y' : 'x'}`),
      'seed.signature',
    ],
    ['unsigned', (seed: string) => seed.replace(/<Signature .*<\/Signature>/s, ''), 'seed.signature'],
    [
      'with a document type',
      (seed: string) => seed.replace('<SemillaModel', '<!DOCTYPE a><SemillaModel'),
      'seed.xml_doctype',
    ],
    ['another document', () => '<ECF/>', 'seed.not_a_seed'],
    ['no XML', () => 'valor', 'seed.xml_not_well_formed'],
    ['too large', (seed: string) => seed.padEnd(200_000), 'seed.xml_too_large'],
    ['stuffed', (seed: string) => seed.replace('<valor>', `${'<a/>'.repeat(5_000)}<valor>`), 'seed.too_costly'],
    [
      'of many namespaces',
      (seed: string) => seed.replace('<valor>', `${'<a xmlns="x"/>'.repeat(9)}<valor>`),
      'seed.too_costly',
    ],
  ])('%s is refused', async (_, change, kind) => {
    const { seeds } = seedsAt();
    const signed = (await sign(seeds.issue('TesteCF'))).toString('utf8');
    expect(await refusalOf(seeds.redeem(Buffer.from(change(signed), 'utf8'), 'TesteCF', SENDER, keep))).toBe(kind);
  });

  it('with line ends before it, called UTF-16, or a comment behind it is fine', async () => {
    const { seeds } = seedsAt();
    const signed = (await sign(seeds.issue('TesteCF'))).toString('utf8').replace(/^<\?xml[^>]*\?>/, '');
    const sent = `\r\n<?xml version="1.0" encoding="utf-16"?>${signed}\n<!-- x -->`;
    expect(await refusalOf(seeds.redeem(Buffer.from(sent, 'utf8'), 'TesteCF', SENDER, keep))).toBe('none');
  });

  it('pretty-printed by the client before signing is fine', async () => {
    const { seeds } = seedsAt();
    const pretty = seeds
      .issue('TesteCF')
      .replace(/<(valor|fecha)>/g, '\n  <$1>')
      .replace('</SemillaModel>', '\n</SemillaModel>');
    expect(await refusalOf(seeds.redeem(await sign(pretty), 'TesteCF', SENDER, keep))).toBe('none');
  });

  it('a made-up value under a good signature is refused', async () => {
    const { seeds } = seedsAt();
    const invented = seeds.issue('TesteCF').replace(/<valor>[^<]*/, `<valor>${randomBytes(57).toString('base64')}`);
    expect(await refusalOf(seeds.redeem(await sign(invented), 'TesteCF', SENDER, keep))).toBe('seed.unknown');
  });

  it('a certificate has to be valid now, and trusted where issuers are configured', async () => {
    const { seeds } = seedsAt();
    expect(
      await refusalOf(seeds.redeem(await sign(seeds.issue('TesteCF'), expired.certificate), 'TesteCF', SENDER, keep)),
    ).toBe('seed.certificate_not_valid');
    const strict = seedsAt(clockAt(), trustCheck(readTrustedIssuers(authority.pem)));
    const own = issue({
      commonName: 'Own Authority',
      holderId: '00900000009',
      by: createCertificateAuthority({ key: testKey(3) }),
    });
    const seed = strict.seeds.issue('TesteCF');
    expect(await refusalOf(strict.seeds.redeem(await sign(seed, own.certificate), 'TesteCF', SENDER, keep))).toBe(
      'seed.certificate_not_trusted',
    );
    expect(await refusalOf(strict.seeds.redeem(await sign(seed), 'TesteCF', SENDER, keep))).toBe('none');
  });

  it('a refused attempt does not spend the seed', async () => {
    const { seeds } = seedsAt();
    const seed = seeds.issue('TesteCF');
    await refusalOf(seeds.redeem(await sign(seed, expired.certificate), 'TesteCF', SENDER, keep));
    expect(await refusalOf(seeds.redeem(await sign(seed), 'TesteCF', SENDER, keep))).toBe('none');
  });
});

describe('tokens', () => {
  const settings = { lifeSeconds: 1_800, rotationMs: 24 * 3_600_000 };
  const facts = async () => {
    const { seeds } = seedsAt();
    return seeds.redeem(await sign(seeds.issue('TesteCF')), 'TesteCF', SENDER, keep);
  };

  it('name the holder and end after their time', async () => {
    const { clock, pass } = clockAt();
    const tokens = new ProviderTokens({ keys: createInMemoryTokenKeys(), clock }, settings);
    const issued = await tokens.issue(await facts(), 'TesteCF');
    expect(decodeJwt(issued.token)).toMatchObject({
      sub: '00100000001',
      'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name': '00100000001',
    });
    expect(issued.expiresAt.getTime() - issued.issuedAt.getTime()).toBe(1_800_000);
    expect(await tokens.verify(`bEaReR ${issued.token}`, 'TesteCF', SENDER)).toBe('00100000001');
    pass(1_800_000 + 31_000);
    expect(await refusalOf(tokens.verify(`Bearer ${issued.token}`, 'TesteCF', SENDER))).toBe('token_refused');
  });

  it.each([
    ['nothing', undefined],
    ['another scheme', 'Basic abcdefgh'],
    ['no token', 'Bearer '],
    ['no JWT', 'Bearer abc'],
    ['a token without signature', `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`],
  ])('%s is refused', async (_, header) => {
    const tokens = new ProviderTokens({ keys: createInMemoryTokenKeys(), clock: () => NOW }, settings);
    expect(await refusalOf(tokens.verify(header, 'TesteCF', SENDER))).toBe('token_refused');
  });

  it('of another environment, and forged under our key id, are refused', async () => {
    const tokens = new ProviderTokens({ keys: createInMemoryTokenKeys(), clock: () => NOW }, settings);
    const { token } = await tokens.issue(await facts(), 'TesteCF');
    expect(await refusalOf(tokens.verify(`Bearer ${token}`, 'eCF', SENDER))).toBe('token_refused');
    const { kid } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
    const forged = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', kid })
      .setSubject('x')
      .sign(randomBytes(32));
    expect(await refusalOf(tokens.verify(`Bearer ${forged}`, 'TesteCF', SENDER))).toBe('token_refused');
  });

  it('outlive the rotation of the key that signed them, and no longer than themselves', async () => {
    const { clock, pass } = clockAt();
    const keys = createInMemoryTokenKeys();
    const [one, other] = [new ProviderTokens({ keys, clock }, settings), new ProviderTokens({ keys, clock }, settings)];
    const certificate = await facts();
    const first = await one.issue(certificate, 'TesteCF');
    pass(settings.rotationMs - 1_000);
    const late = await other.issue(certificate, 'TesteCF');
    pass(2_000);
    const next = await one.issue(certificate, 'TesteCF');
    expect(await keys.all()).toHaveLength(2);
    expect(await refusalOf(one.verify(`Bearer ${first.token}`, 'TesteCF', SENDER))).toBe('token_refused');
    for (const instance of [one, other]) {
      expect(await refusalOf(instance.verify(`Bearer ${late.token}`, 'TesteCF', SENDER))).toBe('none');
      expect(await refusalOf(instance.verify(`Bearer ${next.token}`, 'TesteCF', SENDER))).toBe('none');
    }
  });

  it('instances that find the key old at once agree on one new key', async () => {
    const keys = createInMemoryTokenKeys();
    const instances = Array.from({ length: 4 }, () => new ProviderTokens({ keys, clock: () => NOW }, settings));
    const certificate = await facts();
    const issued = await Promise.all(instances.map((instance) => instance.issue(certificate, 'TesteCF')));
    expect(await keys.all()).toHaveLength(1);
    for (const instance of instances) {
      for (const { token } of issued)
        expect(await refusalOf(instance.verify(`Bearer ${token}`, 'TesteCF', SENDER))).toBe('none');
    }
  });

  it('of 64 that come to an instance before it has read its keys, all are good, by one reading', async () => {
    const keys = createInMemoryTokenKeys();
    const { token } = await new ProviderTokens({ keys, clock: () => NOW }, settings).issue(await facts(), 'TesteCF');
    let reads = 0;
    const slow: TokenKeys = {
      ...keys,
      async all() {
        reads++;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return keys.all();
      },
    };
    const cold = new ProviderTokens({ keys: slow, clock: () => NOW }, settings);
    const kinds = await Promise.all(
      Array.from({ length: 64 }, () => refusalOf(cold.verify(`Bearer ${token}`, 'TesteCF', SENDER))),
    );
    expect([...new Set(kinds)]).toEqual(['none']);
    expect(reads).toBe(1);
  });

  it('a key that another instance made since the last reading waits for the next, beside a bounded number', async () => {
    const keys = createInMemoryTokenKeys();
    const { clock, pass } = clockAt();
    const pauses: Array<() => void> = [];
    const pause = (ms: number) =>
      new Promise<void>((resolve) => {
        pauses.push(() => {
          pass(ms);
          resolve();
        });
      });
    const tokens = new ProviderTokens({ keys, clock }, settings, pause);
    const bearer = (kid: string) =>
      `Bearer ${Buffer.from(JSON.stringify({ alg: 'ES256', kid })).toString('base64url')}.e30.`;
    expect(await refusalOf(tokens.verify(bearer('made-up'), 'TesteCF', SENDER))).toBe('token_refused');
    const { token } = await new ProviderTokens({ keys, clock }, settings).issue(await facts(), 'TesteCF');
    const of = (sender: string, count: number) =>
      Array.from({ length: count }, (_, n) => refusalOf(tokens.verify(bearer(`x${n}`), 'TesteCF', sender)));
    const flood = of('198.51.100.1', 256);
    expect(await flood.at(-1)).toBe('token.busy');
    // However many one sender has made wait, others wait beside them; many senders have no more than their bound together.
    const genuine = refusalOf(tokens.verify(`Bearer ${token}`, 'TesteCF', SENDER));
    const others = [...flood, ...Array.from({ length: 40 }, (_, n) => of(`203.0.113.${n}`, 40)).flat()];
    expect(await others.at(-1)).toBe('token.busy');
    expect(pauses).toHaveLength(1);
    pauses[0]?.();
    expect(await genuine).toBe('none');
    const told = await Promise.all(others);
    expect(new Set(told)).toEqual(new Set(['token_refused', 'token.busy']));
    expect(told.slice(0, 256).filter((one) => one === 'token_refused')).toHaveLength(85);
    expect(told.filter((one) => one === 'token_refused').length).toBeLessThan(256);
  });

  it('an unknown key id does not have the keys read again and again', async () => {
    const { clock, pass } = clockAt();
    const keys = createInMemoryTokenKeys();
    let reads = 0;
    const counted: TokenKeys = {
      ...keys,
      all() {
        reads++;
        return keys.all();
      },
    };
    let paused = 0;
    const pause = async (ms: number) => {
      paused += ms;
      pass(ms);
    };
    const tokens = new ProviderTokens({ keys: counted, clock }, settings, pause);
    const { token } = await tokens.issue(await facts(), 'TesteCF');
    const madeUp = token.replace(/^[^.]+/, Buffer.from('{"alg":"ES256","kid":"x"}').toString('base64url'));
    const before = reads;
    pass(10_000);
    for (let i = 0; i < 100; i++) await refusalOf(tokens.verify(`Bearer ${madeUp}`, 'TesteCF', SENDER));
    expect([reads - before, paused]).toEqual([100, 99 * 2_000]);
  });
});

it('a seed reads as its schema says', () => {
  const seed = seedsAt()
    .seeds.issue('TesteCF')
    .replace(/^<\?xml[^>]*\?>/, '');
  expect(readXml({ text: seed })).toMatchObject({
    SemillaModel: { valor: expect.any(String), fecha: expect.any(String) },
  });
  expect(verifyXml(Buffer.from(seed)).reason?.code).toBe('signature_missing');
});
