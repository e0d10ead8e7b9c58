import { randomBytes } from 'node:crypto';
import { readXml } from '@ecf/ecf-xml';
import { trustCheck } from '@ecf/public-ingress/signed-document';
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
import { ReceptionError } from '../src/errors.js';
import type { TokenKeys } from '../src/tokens/ports.js';
import { createProviderTokens } from '../src/tokens/provider-tokens.js';
import { createSeeds, SEED_LIFE_MS } from '../src/tokens/seeds.js';
import { readSignedSeed } from '../src/tokens/signed-seed.js';
import { authority, expired, issue, NOW, provider } from './support/senders.js';
import { createInMemorySpentSeeds } from './support/spent-seeds.in-memory.js';
import { createInMemoryTokenKeys } from './support/token-keys.in-memory.js';

const KEY = randomBytes(32);
/** Validates in this thread. */
const validation = { seed: async (bytes: Uint8Array, now: Date) => readSignedSeed(bytes, now) };

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

/** Redeems a seed for its certificate. */
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

function seedsAt(time = clockAt(), trust = trustCheck({ issuers: null }), spent = createInMemorySpentSeeds()) {
  return {
    ...time,
    spent,
    seeds: createSeeds({ spent, clock: time.clock, validation }, [KEY], trust),
  };
}

describe('seeds', () => {
  it('have the form of the authority’s SemillaModel, and each is new', () => {
    const { seeds } = seedsAt();
    const [one, other] = [seeds.issue('TesteCF'), seeds.issue('TesteCF')];
    expect(one).toMatch(
      /^<\?xml version="1\.0" encoding="utf-8"\?><SemillaModel [^>]*><valor>[A-Za-z0-9+/=]+<\/valor><fecha>2026-06-23T12:00:00\.0000000-04:00<\/fecha><\/SemillaModel>$/,
    );
    expect(one).not.toBe(other);
  });

  it('give one token, once', async () => {
    const { seeds } = seedsAt();
    const signed = await sign(seeds.issue('TesteCF'));
    expect(await seeds.redeem(signed, 'TesteCF', keep)).toMatchObject({ holderId: '00100000001' });
    expect(await refusalOf(seeds.redeem(signed, 'TesteCF', keep))).toBe('seed.used');
  });

  it('succeed in one of fifty simultaneous redemptions', async () => {
    const { seeds } = seedsAt();
    const signed = await sign(seeds.issue('TesteCF'));
    const kinds = await Promise.all(Array.from({ length: 50 }, () => refusalOf(seeds.redeem(signed, 'TesteCF', keep))));
    expect(kinds.filter((kind) => kind === 'none')).toHaveLength(1);
    expect(new Set(kinds)).toEqual(new Set(['none', 'seed.used']));
  });

  it('expire after five minutes', async () => {
    const { seeds, pass } = seedsAt();
    const [first, second] = [await sign(seeds.issue('TesteCF')), await sign(seeds.issue('TesteCF'))];
    pass(SEED_LIFE_MS);
    expect(await refusalOf(seeds.redeem(first, 'TesteCF', keep))).toBe('none');
    pass(1);
    expect(await refusalOf(seeds.redeem(second, 'TesteCF', keep))).toBe('seed.expired');
  });

  it('are accepted by every instance with the same key, and by no other', async () => {
    const { seeds } = seedsAt();
    const stranger = createSeeds(
      { spent: createInMemorySpentSeeds(), clock: () => NOW, validation },
      [randomBytes(32)],
      trustCheck({ issuers: null }),
    );
    expect(await refusalOf(seedsAt().seeds.redeem(await sign(seeds.issue('eCF')), 'eCF', keep))).toBe('none');
    expect(await refusalOf(stranger.redeem(await sign(seeds.issue('eCF')), 'eCF', keep))).toBe('seed.unknown');
  });

  it('are valid in their environment only', async () => {
    const { seeds } = seedsAt();
    expect(await refusalOf(seeds.redeem(await sign(seeds.issue('TesteCF')), 'eCF', keep))).toBe(
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
    ['stuffed', (seed: string) => seed.replace('<valor>', `${'<a/>'.repeat(5_000)}<valor>`), 'seed.signature'],
    [
      'of many namespaces',
      (seed: string) => seed.replace('<valor>', `${'<a xmlns="x"/>'.repeat(9)}<valor>`),
      'seed.signature',
    ],
  ])('are refused if they are %s', async (_, change, kind) => {
    const { seeds } = seedsAt();
    const signed = (await sign(seeds.issue('TesteCF'))).toString('utf8');
    expect(await refusalOf(seeds.redeem(Buffer.from(change(signed), 'utf8'), 'TesteCF', keep))).toBe(kind);
  });

  it('are accepted with line ends before them, declared UTF-16, or with a comment after them', async () => {
    const { seeds } = seedsAt();
    const signed = (await sign(seeds.issue('TesteCF'))).toString('utf8').replace(/^<\?xml[^>]*\?>/, '');
    const sent = `\r\n<?xml version="1.0" encoding="utf-16"?>${signed}\n<!-- x -->`;
    expect(await refusalOf(seeds.redeem(Buffer.from(sent, 'utf8'), 'TesteCF', keep))).toBe('none');
  });

  it('are accepted if the client pretty-printed them before signing', async () => {
    const { seeds } = seedsAt();
    const pretty = seeds
      .issue('TesteCF')
      .replace(/<(valor|fecha)>/g, '\n  <$1>')
      .replace('</SemillaModel>', '\n</SemillaModel>');
    expect(await refusalOf(seeds.redeem(await sign(pretty), 'TesteCF', keep))).toBe('none');
  });

  it('are refused if their value is invented, though the signature is valid', async () => {
    const { seeds } = seedsAt();
    const invented = seeds.issue('TesteCF').replace(/<valor>[^<]*/, `<valor>${randomBytes(57).toString('base64')}`);
    expect(await refusalOf(seeds.redeem(await sign(invented), 'TesteCF', keep))).toBe('seed.unknown');
  });

  it('need a certificate that is valid now, and trusted if issuers are configured', async () => {
    const { seeds } = seedsAt();
    expect(
      await refusalOf(seeds.redeem(await sign(seeds.issue('TesteCF'), expired.certificate), 'TesteCF', keep)),
    ).toBe('seed.certificate_not_valid');
    const strict = seedsAt(clockAt(), trustCheck({ issuers: readTrustedIssuers(authority.pem) }));
    const own = issue({
      commonName: 'Own Authority',
      holderId: '00900000009',
      by: createCertificateAuthority({ key: testKey(3) }),
    });
    const seed = strict.seeds.issue('TesteCF');
    expect(await refusalOf(strict.seeds.redeem(await sign(seed, own.certificate), 'TesteCF', keep))).toBe(
      'seed.certificate_not_trusted',
    );
    expect(await refusalOf(strict.seeds.redeem(await sign(seed), 'TesteCF', keep))).toBe('none');
  });

  it('are not used up by a refused attempt', async () => {
    const { seeds } = seedsAt();
    const seed = seeds.issue('TesteCF');
    await refusalOf(seeds.redeem(await sign(seed, expired.certificate), 'TesteCF', keep));
    expect(await refusalOf(seeds.redeem(await sign(seed), 'TesteCF', keep))).toBe('none');
  });
});

describe('tokens', () => {
  const settings = { lifeSeconds: 1_800, rotationMs: 24 * 3_600_000 };
  const facts = async () => {
    const { seeds } = seedsAt();
    return seeds.redeem(await sign(seeds.issue('TesteCF')), 'TesteCF', keep);
  };

  it('name the holder and end after their time', async () => {
    const { clock, pass } = clockAt();
    const tokens = createProviderTokens({ keys: createInMemoryTokenKeys(), clock }, settings);
    const issued = await tokens.issue(await facts(), 'TesteCF');
    expect(decodeJwt(issued.token)).toMatchObject({
      sub: '00100000001',
      'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name': '00100000001',
    });
    expect(issued.expiresAt.getTime() - issued.issuedAt.getTime()).toBe(1_800_000);
    expect(await tokens.verify(`bEaReR ${issued.token}`, 'TesteCF')).toBe('00100000001');
    pass(1_800_000 + 31_000);
    expect(await refusalOf(tokens.verify(`Bearer ${issued.token}`, 'TesteCF'))).toBe('token_refused');
  });

  it.each([
    ['nothing', undefined],
    ['another scheme', 'Basic abcdefgh'],
    ['no token', 'Bearer '],
    ['no JWT', 'Bearer abc'],
    ['a token without signature', `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`],
  ])('are refused if the header has %s', async (_, header) => {
    const tokens = createProviderTokens({ keys: createInMemoryTokenKeys(), clock: () => NOW }, settings);
    expect(await refusalOf(tokens.verify(header, 'TesteCF'))).toBe('token_refused');
  });

  it('of another environment, or forged with our key id, are refused', async () => {
    const tokens = createProviderTokens({ keys: createInMemoryTokenKeys(), clock: () => NOW }, settings);
    const { token } = await tokens.issue(await facts(), 'TesteCF');
    expect(await refusalOf(tokens.verify(`Bearer ${token}`, 'eCF'))).toBe('token_refused');
    const { kid } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
    const forged = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', kid })
      .setSubject('x')
      .sign(randomBytes(32));
    expect(await refusalOf(tokens.verify(`Bearer ${forged}`, 'TesteCF'))).toBe('token_refused');
  });

  it('stay valid after the rotation of their key until they expire', async () => {
    const { clock, pass } = clockAt();
    const keys = createInMemoryTokenKeys();
    const [one, other] = [
      createProviderTokens({ keys, clock }, settings),
      createProviderTokens({ keys, clock }, settings),
    ];
    const certificate = await facts();
    const first = await one.issue(certificate, 'TesteCF');
    pass(settings.rotationMs - 1_000);
    const late = await other.issue(certificate, 'TesteCF');
    pass(2_000);
    const next = await one.issue(certificate, 'TesteCF');
    expect(await keys.all()).toHaveLength(2);
    expect(await refusalOf(one.verify(`Bearer ${first.token}`, 'TesteCF'))).toBe('token_refused');
    for (const instance of [one, other]) {
      expect(await refusalOf(instance.verify(`Bearer ${late.token}`, 'TesteCF'))).toBe('none');
      expect(await refusalOf(instance.verify(`Bearer ${next.token}`, 'TesteCF'))).toBe('none');
    }
  });

  it('get one new key from instances that rotate at the same moment', async () => {
    const keys = createInMemoryTokenKeys();
    const instances = Array.from({ length: 4 }, () => createProviderTokens({ keys, clock: () => NOW }, settings));
    const certificate = await facts();
    const issued = await Promise.all(instances.map((instance) => instance.issue(certificate, 'TesteCF')));
    expect(await keys.all()).toHaveLength(1);
    for (const instance of instances) {
      for (const { token } of issued)
        expect(await refusalOf(instance.verify(`Bearer ${token}`, 'TesteCF'))).toBe('none');
    }
  });

  it('that reach an instance before it has read its keys are all accepted after one read', async () => {
    const keys = createInMemoryTokenKeys();
    const { token } = await createProviderTokens({ keys, clock: () => NOW }, settings).issue(await facts(), 'TesteCF');
    let reads = 0;
    const slow: TokenKeys = {
      ...keys,
      async all() {
        reads++;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return keys.all();
      },
    };
    const cold = createProviderTokens({ keys: slow, clock: () => NOW }, settings);
    const kinds = await Promise.all(
      Array.from({ length: 64 }, () => refusalOf(cold.verify(`Bearer ${token}`, 'TesteCF'))),
    );
    expect([...new Set(kinds)]).toEqual(['none']);
    expect(reads).toBe(1);
  });

  it('with a key made since the last read wait for the next read, in a bounded number', async () => {
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
    const tokens = createProviderTokens({ keys, clock }, settings, pause);
    const bearer = (kid: string) =>
      `Bearer ${Buffer.from(JSON.stringify({ alg: 'ES256', kid })).toString('base64url')}.e30.`;
    expect(await refusalOf(tokens.verify(bearer('made-up'), 'TesteCF'))).toBe('token_refused');
    const { token } = await createProviderTokens({ keys, clock }, settings).issue(await facts(), 'TesteCF');
    const genuine = refusalOf(tokens.verify(`Bearer ${token}`, 'TesteCF'));
    const flood = Array.from({ length: 300 }, (_, n) => refusalOf(tokens.verify(bearer(`x${n}`), 'TesteCF')));
    expect(await flood.at(-1)).toBe('token.busy');
    expect(pauses).toHaveLength(1);
    pauses[0]?.();
    expect(await genuine).toBe('none');
    const kinds = await Promise.all(flood);
    expect(kinds.filter((kind) => kind === 'token_refused')).toHaveLength(255);
    expect(kinds.filter((kind) => kind === 'token.busy')).toHaveLength(45);
  });

  it('with unknown key ids do not cause repeated reads of the keys', async () => {
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
    const tokens = createProviderTokens({ keys: counted, clock }, settings, pause);
    const { token } = await tokens.issue(await facts(), 'TesteCF');
    const madeUp = token.replace(/^[^.]+/, Buffer.from('{"alg":"ES256","kid":"x"}').toString('base64url'));
    const before = reads;
    pass(10_000);
    for (let i = 0; i < 100; i++) await refusalOf(tokens.verify(`Bearer ${madeUp}`, 'TesteCF'));
    expect([reads - before, paused]).toEqual([100, 99 * 2_000]);
  });
});

it('a seed has the form of its schema', () => {
  const seed = seedsAt()
    .seeds.issue('TesteCF')
    .replace(/^<\?xml[^>]*\?>/, '');
  expect(readXml({ text: seed })).toMatchObject({
    SemillaModel: { valor: expect.any(String), fecha: expect.any(String) },
  });
  expect(verifyXml(Buffer.from(seed)).reason?.code).toBe('signature_missing');
});
