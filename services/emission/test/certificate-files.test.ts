import { createMasterKeys } from '@ecf/kit';
import { createCertificateFiles } from '@ecf/taxpayer-replica/certificate-files';
import { testKey } from '@ecf/test-support';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCertificates, type OpenCertificate } from '../src/credentials/certificates.js';

const now = new Date('2026-06-01T12:00:00Z');
const password = 'clave';
const authority = createCertificateAuthority({ key: testKey(1) });

function fileOf(rounds: number): Buffer {
  const holder = { commonName: 'JUANA PEREZ', holderId: '00100000009', password, key: testKey(0) };
  return authority.issue({ ...holder, notBefore: new Date('2026-01-01'), notAfter: new Date('2027-01-01'), rounds })
    .p12;
}

/** A file whose derivations have eight million rounds each. */
function costlyFile(): Buffer {
  const file = fileOf(33_000);
  const rounds = Buffer.from('02030080e8', 'hex');
  for (let at = file.indexOf(rounds); at >= 0; at = file.indexOf(rounds, at + 1)) file.writeUIntBE(0x7fffff, at + 2, 3);
  return file;
}

describe('certificate files', () => {
  const files = createCertificateFiles(() => undefined);
  const certificatesWith = (open: OpenCertificate, clock = () => now) =>
    createCertificates(createMasterKeys([Buffer.alloc(32, 7)]), clock, open);
  let file: Buffer;

  beforeAll(() => {
    file = fileOf(600_000);
  });
  afterAll(() => files.close());

  it('are opened outside the event loop, even with 600,000 rounds', async () => {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const certificate = await files.open(file, password, now);
    expect(certificate.holderId).toBe('00100000009');
    expect(turned).toBe(true);
  });

  it.each([
    ['a wrong password', () => fileOf(2048), 'otra', 'password', 'wrong_password', 'password'],
    ['more rounds than are accepted', costlyFile, password, 'certificate', 'unsupported_encryption', '-iter 2048'],
  ])('with %s are refused, and the answer names the part and the remedy', async (_, p12, word, part, type, remedy) => {
    const refused = certificatesWith(files.open).uploaded({ p12: p12(), password: word }, 'account');
    await expect(refused).rejects.toMatchObject({
      code: 'validation_error',
      items: [{ loc: ['body', part], type, msg: expect.stringContaining(remedy) }],
    });
  });

  it('that are equal and come together, or within a minute, are opened once', async () => {
    const p12 = fileOf(2048);
    let time = now.getTime();
    let opened = 0;
    const counted: OpenCertificate = (...parts) => {
      opened += 1;
      return files.open(...parts);
    };
    const { uploaded } = certificatesWith(counted, () => new Date(time));
    const [one, other] = await Promise.all([
      uploaded({ p12, password }, 'account'),
      uploaded({ p12, password }, 'account'),
    ]);
    expect(one).toBe(other);
    expect(opened).toBe(1);
    time += 61_000;
    await uploaded({ p12, password }, 'account');
    expect(opened).toBe(2);
  });

  it('are distinguished by the position where the password begins, and kept only if they were opened', async () => {
    const p12 = fileOf(2048);
    const asked: string[] = [];
    const { uploaded } = certificatesWith((bytes, word, at) => {
      asked.push(`${bytes.length} ${word}`);
      return files.open(bytes, word, at, 'account');
    });
    const split = { p12: p12.subarray(0, -1), password: p12.subarray(-1).toString('latin1') + password };
    await uploaded({ p12, password }, 'account');
    for (let times = 0; times < 2; times++) await expect(uploaded(split, 'account')).rejects.toThrow();
    expect(asked).toHaveLength(3);
  });

  it('of one account do not delay the files of another account', async () => {
    const { uploaded } = certificatesWith(files.open);
    const order: string[] = [];
    const upload = async (name: string, accountId: string) => {
      await uploaded({ p12: fileOf(2048), password }, accountId);
      order.push(name);
    };
    const ofOne = ['1', '2', '3', '4', '5'].map((name) => upload(name, 'one'));
    await Promise.all([...ofOne, upload('other', 'other')]);
    expect(order).toEqual(['1', '2', 'other', '3', '4', '5']);
  });
});
