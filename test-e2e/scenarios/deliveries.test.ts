import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { verifyXml } from '@ecf/xml-signing';
import { describe, expect, it } from '@jest/globals';
import { newAccount } from '../support/client.js';
import { useDeployment } from '../support/deployment.js';
import { Numbering } from '../support/documents.js';
import { until } from '../support/until.js';

const deployment = useDeployment();
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
const ECF = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../packages/cli/bin/ecf.mjs');

const invoice = async (encf: string) => {
  const headers = { 'rnc-issuing': deployment.running.demo.issuer_rnc };
  return (await deployment.demo.call('GET', `/invoices/${encf}`, { headers })).body;
};
const reaches = (encf: string, status: string) =>
  until(
    () => invoice(encf),
    (seen) => seen.delivery_status === status,
  );

/** The command as an operator runs it. */
async function ecf(...args: string[]) {
  const { base_url, admin_token } = deployment.running.demo;
  const env = { ...process.env, ECF_URL: base_url, ADMIN_TOKEN: admin_token };
  const { stdout } = await promisify(execFile)(process.execPath, [ECF, ...args, '--json'], { env });
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('an accepted e-CF', () => {
  it('is delivered to its buyer through the directory, and both sides have the same bytes', async () => {
    const { demo, running } = deployment;
    const { issuer_rnc, buyer_rnc } = running.demo;
    const { invoice: content, encf } = numbers.next();
    const issued = (await demo.submit(content)).body;
    expect(issued.status).toBe('Aceptado');
    await reaches(encf, 'delivered');

    const atBuyer = await demo.call('GET', `/fe/recepcion/api/invoices/${encf}`, {
      headers: { 'buyer-rnc': buyer_rnc },
    });
    expect([atBuyer.status, atBuyer.body]).toMatchObject([200, { encf, provider_rnc: issuer_rnc }]);
    const receivedXml = fs.readFileSync(path.join(deployment.dataDir, 'xml', atBuyer.body.xml_storage_path), 'utf8');
    expect(receivedXml).toBe(issued.xml);

    const one = await demo.call('GET', `/received-arecf/${encf}?issuer_rnc=${issuer_rnc}`);
    expect([one.status, one.body]).toMatchObject([200, { buyer_rnc, receipt_status: 0, valid: true }]);
    const listed = await demo.call('GET', `/received-arecf/?issuer_rnc=${issuer_rnc}&receipt_status=0&encf=${encf}`);
    expect(listed.body).toEqual([one.body]);
    const returned = await demo.call('GET', `/received-arecf/${encf}/xml?issuer_rnc=${issuer_rnc}`);
    const given = await demo.call('GET', `/arecf/${encf}?issuer_rnc=${issuer_rnc}`);
    expect(returned.text).toBe(given.text);
    expect(verifyXml(Buffer.from(returned.text)).signature).toBe('valid');
    expect(fs.readFileSync(path.join(deployment.dataDir, 'xml', one.body.xml_storage_path), 'utf8')).toBe(
      returned.text,
    );
  });

  it('whose buyer has no receiver waits; the operator sees it and sends it when there is one', async () => {
    const { demo, running } = deployment;
    const rnc = '144444446';
    const { invoice: content, encf } = numbers.next('ecf-31', (edited) => {
      edited.Encabezado.Comprador.RNCComprador = rnc;
    });
    expect((await demo.submit(content)).body.status).toBe('Aceptado');
    await reaches(encf, 'no_receiver');
    const [row] = await ecf('deliveries', 'list', '--status', 'no_receiver', '--buyer', rnc);
    expect(row).toMatchObject({ encf, buyer_rnc: rnc, delivery_status: 'no_receiver' });

    await newAccount(running, { rnc, name: 'Newcomer' });
    const { base_url: url } = running.demo;
    await demo.control('PUT', `/taxpayers/${rnc}`, { name: 'Newcomer', reception_url: url, authentication_url: url });
    await ecf('deliveries', 'retry', running.demo.issuer_rnc, encf, '--env', 'TesteCF');
    await reaches(encf, 'delivered');
    await expect(ecf('deliveries', 'retry', running.demo.issuer_rnc, encf, '--env', 'TesteCF')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not sent again'),
    });
  });

  it('of a type that goes to nobody is delivered to nobody', async () => {
    const { demo } = deployment;
    const { invoice: content, encf } = numbers.next('ecf-43');
    expect((await demo.submit(content)).body.status).toMatch(/^Aceptado/);
    await reaches(encf, 'not_required');
  });
});
