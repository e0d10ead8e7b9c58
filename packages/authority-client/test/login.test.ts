/** A complete login: pretty-printed seed, signature, token. The server checks the signature as a receiver does. */

import { testKey } from '@ecf/test-support';
import { openCertificate, verifyXml } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { describe, expect, it } from '@jest/globals';
import { authorityEndpoints, createAuthorityClient, createTokenProvider, inMemoryTokenCache } from '../src/index.js';
import { httpAnswer, startRawServer } from './raw-server.js';

const clock = () => new Date('2026-06-23T12:00:00Z');
const SEED = `<?xml version="1.0" encoding="utf-8"?>\r
<SemillaModel xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">\r
  <valor>q83vEjRWeJASNFZ4kKvN7w+/==&amp;&lt;"'</valor>\r
  <fecha>2026-06-23T08:00:00.8617792-04:00</fecha>\r
</SemillaModel>`;

describe('a login', () => {
  it('signs the seed compactly, and the signature verifies', async () => {
    const issued = createCertificateAuthority({ key: testKey(1) }).issue({
      commonName: 'Ana Pérez',
      holderId: '00112345678',
      notBefore: new Date('2026-01-01T00:00:00Z'),
      notAfter: new Date('2027-01-01T00:00:00Z'),
      password: 'secret-password',
      key: testKey(0),
    });
    const certificate = openCertificate(issued.p12, issued.password, clock());
    const server = await startRawServer((request, socket) =>
      socket.write(
        request.method === 'GET'
          ? httpAnswer('200 OK', 'application/xml', SEED)
          : httpAnswer(
              '200 OK',
              'application/json',
              '{"token":"t1","expira":"2026-06-23T13:00:00Z","expedido":"2026-06-23T12:00:00Z"}',
            ),
      ),
    );
    const client = createAuthorityClient({ endpoints: authorityEndpoints(server.url), userAgent: 'test', clock });
    const tokens = createTokenProvider({ client, cache: inMemoryTokenCache(clock), clock });

    const token = await tokens.get({ env: 'CerteCF', account: 'a', rnc: '131000001', certificate });
    expect(token).toEqual({ token: 't1', expiresAt: new Date('2026-06-23T13:00:00Z') });

    const body = server.requests[1]!.body.toString('utf8');
    const signed = body.slice(body.indexOf('\r\n\r\n') + 4, body.lastIndexOf('\r\n--'));
    expect(signed).toContain('<valor>q83vEjRWeJASNFZ4kKvN7w+/==&amp;&lt;');
    expect(signed).toMatch(/<SemillaModel [^>]*><valor>[^<]*<\/valor><fecha>[^<]*<\/fecha><Signature/);
    expect(verifyXml(Buffer.from(signed), clock())).toMatchObject({
      signature: 'valid',
      canonical: 'as-is',
      certificate: { holderId: '00112345678' },
    });
    client.close();
    await server.stop();
  });

  it('names no secret when it fails', async () => {
    const server = await startRawServer((_, socket) => socket.destroy());
    const client = createAuthorityClient({ endpoints: authorityEndpoints(server.url), userAgent: 'test', clock });
    const tokens = createTokenProvider({ client, cache: inMemoryTokenCache(clock), clock });
    const certificate = { fingerprint: 'f1' } as Parameters<typeof tokens.get>[0]['certificate'];
    await expect(tokens.get({ env: 'TesteCF', account: 'a', rnc: '131000001', certificate })).rejects.toMatchObject({
      code: 'authority_unreachable',
      message: expect.stringMatching(/^no login at the authority: /),
    });
    client.close();
    await server.stop();
  });
});
