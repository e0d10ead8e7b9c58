import { X509Certificate } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createMetrics } from '@ecf/kit/telemetry';
import { testKey } from '@ecf/test-support';
import { silentLogger } from '@ecf/test-support/services';
import { type CertificateFacts, readTrustedIssuers } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { afterAll, describe, expect, it } from '@jest/globals';
import { openRevocations, reportRevocations } from '../src/signers/revocations.js';
import { trustCheck } from '../src/signers/trust.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-trust-'));
afterAll(() => rmSync(folder, { recursive: true }));

const authority = createCertificateAuthority({ key: testKey(1) });
const END = new Date('2025-12-31T00:00:00Z');
const { pem } = authority.issue({
  commonName: 'Holder',
  holderId: '00100000001',
  notBefore: new Date('2024-01-01T00:00:00Z'),
  notAfter: END,
  password: 'x',
  key: testKey(0),
});
const der = pem.replace(/-----[^-]+-----|\s/g, '');
const fingerprint = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(der, 'base64'))).toString('hex');
const facts: CertificateFacts = {
  subject: 'CN=Holder',
  serial_number: '1',
  issuer: 'CN=Issuer',
  not_before: '2023-12-31T20:00:00-04:00',
  not_after: '2025-12-30T20:00:00-04:00',
  valid_at_signing: true,
  fingerprint,
  keyFingerprint: 'k',
  holderId: '00100000001',
  der,
  others: [],
};
const SIGNED = new Date('2025-12-30T00:00:00Z');
const after = (seconds: number) => new Date(END.getTime() + seconds * 1_000);

describe('trust', () => {
  it('a signing time before the end of a certificate counts only for a while after it', () => {
    const trust = trustCheck({ issuers: null, signingTimeToleranceMs: 3_600_000 });
    expect(trust(facts, SIGNED, after(3_600))).toEqual({ trusted: null, doubt: null });
    expect(trust(facts, SIGNED, after(3_601)).doubt).toMatch(
      /expired at 2025-12-30.*3600 seconds.*SIGNING_TIME_TOLERANCE/,
    );
    expect(trust({ ...facts, valid_at_signing: false }, SIGNED, after(0)).doubt).toMatch(/outside of/);
    const strict = trustCheck({ issuers: readTrustedIssuers(authority.pem), signingTimeToleranceMs: 0 });
    expect(strict(facts, SIGNED, END)).toEqual({ trusted: true, doubt: null });
    expect(strict(facts, SIGNED, after(1))).toMatchObject({ trusted: true, doubt: expect.any(String) });
  });

  it('a signing time before the end of an issuer counts only for a while after it, too', () => {
    const expires = new Date(new X509Certificate(authority.pem).validTo);
    const { pem: longer } = authority.issue({
      commonName: 'Longer',
      holderId: '00100000001',
      notBefore: new Date('2024-01-01T00:00:00Z'),
      notAfter: new Date(expires.getTime() + 86_400_000),
      password: 'x',
      key: testKey(0),
    });
    const signer = { ...facts, not_after: '2099-01-01T00:00:00Z', der: longer.replace(/-----[^-]+-----|\s/g, '') };
    const trust = trustCheck({ issuers: readTrustedIssuers(authority.pem), signingTimeToleranceMs: 3_600_000 });
    const trusted = (seconds: number) =>
      trust(signer, new Date(expires.getTime() - 60_000), new Date(expires.getTime() + seconds * 1_000));
    expect(trusted(3_599)).toEqual({ trusted: true, doubt: null });
    expect(trusted(3_602)).toEqual({ trusted: false, doubt: expect.stringContaining('issuer that is expired') });
  });

  it('the file of revoked certificates is read again when it changes; a malformed file changes nothing and is reported', async () => {
    const file = path.join(folder, 'revoked');
    writeFileSync(file, `${'0'.repeat(64)}\n`);
    let elapsed = 0;
    const revocations = openRevocations(file, { elapsed: () => elapsed });
    const trust = trustCheck({ issuers: readTrustedIssuers(authority.pem), revocations });
    const metrics = createMetrics();
    const end = reportRevocations(revocations, { service: 'reception', metrics, logger: silentLogger });
    const pass = () => {
      elapsed += 6_000;
      return trust(facts, SIGNED, END).doubt;
    };
    expect(pass()).toBeNull();
    writeFileSync(`${file}.new`, `# stolen\n${fingerprint}\n`);
    renameSync(`${file}.new`, file);
    expect(trust(facts, SIGNED, END).doubt).toBeNull();
    expect(pass()).toMatch(/^the certificate of CN=Holder is revoked$/);
    writeFileSync(file, 'not a list');
    expect(pass()).toMatch(/revoked/);
    expect(revocations.problem()).toMatch(/not a list/);
    expect(await metrics.render()).toMatch(/ecf_revocation_file_unreadable\{service="reception"\} 1/);
    rmSync(file);
    expect(pass()).toMatch(/revoked/);
    writeFileSync(file, `${'0'.repeat(64)}\n`);
    expect(pass()).toBeNull();
    expect(await metrics.render()).toMatch(/ecf_revocation_file_unreadable\{service="reception"\} 0/);
    end();
    expect(() => openRevocations(path.join(folder, 'missing'))).toThrow(/ENOENT/);
  });
});
