import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { TaxpayerBody } from '@ecf/contracts';
import type { GatewayAdmin } from '../gateway-admin.js';
import { type Finding, fault, ok, reasonOf, skipped } from './finding.js';
import type { DoctorSettings } from './settings.js';

const DAY_MS = 86_400_000;
/** The alarm EcfCertificateExpiring has the same limit. */
const SOON_DAYS = 30;
const PAGE = 1_000;
const CONNECT_MS = 5_000;

/** The certificates in the files of the settings. A file that cannot be read is a fault of the settings. */
export function checkCertificateFiles(settings: DoctorSettings, now: Date): Finding[] {
  return (['TRUSTED_ISSUERS_FILE', 'KAFKA_SSL_CA_FILE'] as const).flatMap((variable) => {
    const file = settings[variable];
    if (file === undefined || !existsSync(file)) return [];
    return inFile(variable, readFileSync(file, 'utf8'), now);
  });
}

function inFile(variable: string, pem: string, now: Date): Finding[] {
  const blocks = pem.split(/(?=-----BEGIN CERTIFICATE-----)/).filter((text) => text.startsWith('-----BEGIN CERT'));
  if (blocks.length === 0)
    return [fault('certificates', variable, 'the file has no certificate', 'Put certificates in PEM form into it.')];
  try {
    const ends = blocks.map((block) => new Date(new X509Certificate(block).validTo));
    const first = new Date(Math.min(...ends.map(Number)));
    const detail = `${ends.length} certificates, the first ends on ${day(first)}`;
    if (!endsSoon(first, now)) return [ok('certificates', variable, detail)];
    return [
      fault('certificates', variable, detail, 'Replace the certificates that end, and start the services again.'),
    ];
  } catch (error) {
    return [fault('certificates', variable, reasonOf(error), 'Replace the damaged certificate in the file.')];
  }
}

/** The TLS certificate of the address of the gateway. */
export async function checkTls(url: string, now: Date): Promise<Finding[]> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:') return [];
  try {
    const ends = await endOfPeer(url);
    const detail = `the certificate ends on ${day(ends)}`;
    if (!endsSoon(ends, now)) return [ok('certificates', hostname, detail)];
    return [fault('certificates', hostname, detail, 'Renew it in the reverse proxy.')];
  } catch (error) {
    return [fault('certificates', hostname, reasonOf(error), 'Correct the certificate of the reverse proxy.')];
  }
}

function endOfPeer(url: string): Promise<Date> {
  return new Promise((resolve, reject) => {
    const request = https.request(url, { method: 'HEAD', agent: false, timeout: CONNECT_MS }, (response) => {
      resolve(new Date((response.socket as TLSSocket).getPeerCertificate().valid_to));
      response.destroy();
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${CONNECT_MS} ms`)));
    request.on('error', reject);
    request.end();
  });
}

/** The certificates of active taxpayers. */
export async function checkTaxpayers(admin: GatewayAdmin, now: Date): Promise<Finding[]> {
  const faults: Finding[] = [];
  let checked = 0;
  for await (const { id } of pages<{ id: string }>(admin, '/admin/accounts'))
    for await (const { rnc, active, certificate } of pages<TaxpayerBody>(admin, `/admin/accounts/${id}/taxpayers`)) {
      if (!active || certificate === null) continue;
      checked += 1;
      const end = new Date(certificate.not_after);
      if (endsSoon(end, now))
        faults.push(
          fault('certificates', rnc, `the certificate ends on ${day(end)}`, 'Request the next one and upload it.'),
        );
    }
  if (faults.length > 0) return faults;
  return [
    checked === 0
      ? skipped('certificates', 'taxpayers', 'no active taxpayer has a certificate')
      : ok('certificates', 'taxpayers', `${checked} are valid for more than ${SOON_DAYS} days`),
  ];
}

async function* pages<Row>(admin: GatewayAdmin, path: string): AsyncGenerator<Row> {
  for (let offset = 0; ; offset += PAGE) {
    const rows = (await admin.call('GET', `${path}?limit=${PAGE}&offset=${offset}`)) as Row[];
    yield* rows;
    if (rows.length < PAGE) return;
  }
}

const endsSoon = (end: Date, now: Date) => end.getTime() < now.getTime() + SOON_DAYS * DAY_MS;
const day = (date: Date) => date.toISOString().slice(0, 10);
