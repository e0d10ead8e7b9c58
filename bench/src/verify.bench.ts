// Verifying a received document with its structure check; against the raw RSA verification and against xml-crypto.
import { createPublicKey, verify as rsaVerify, sign } from 'node:crypto';
import { checkXml, examineJson, parseXml, writeXml } from '@ecf/ecf-xml';
import { signXml, verifyXml } from '@ecf/xml-signing';
import { DOMParser } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import { compare, repeat } from './harness/measure.js';
import { heading, reportComparison, reportProcessorRatio } from './harness/report.js';
import { certificate, invoice } from './inputs/sample.js';

const own = certificate().certificate;
const document = invoice('E310000000001', 10) as { ECF: Record<string, unknown> };
document.ECF.FechaHoraFirma = '02-01-2026 10:00:00';
const written = writeXml(examineJson(document, { now: new Date() }).tree as never);
const signed = await signXml(written, own);
const bytes = Buffer.from(signed.xml);
const pem = `-----BEGIN CERTIFICATE-----\n${own.certificate}\n-----END CERTIFICATE-----`;
const key = createPublicKey(pem);
const data = Buffer.from(written.canonical);
const rawSignature = sign('sha256', data, own.privateKey);

const ours = (): void => {
  const parsed = parseXml(bytes);
  const verification = verifyXml(parsed);
  if (verification.signature !== 'valid') throw new Error(String(verification.reason));
  if (checkXml(parsed).faults.length > 0) throw new Error('faults');
};
const xmlCrypto = (): void => {
  const parsed = new DOMParser().parseFromString(signed.xml, 'text/xml');
  const node = parsed.getElementsByTagNameNS('http://www.w3.org/2000/09/xmldsig#', 'Signature')[0];
  const verifier = new SignedXml({ publicCert: pem });
  verifier.loadSignature(node as never);
  if (!verifier.checkSignature(signed.xml)) throw new Error('invalid');
};

heading(`verification with structure check, ${bytes.length} bytes`);
const againstRaw = await compare(
  repeat(ours),
  repeat(() => rsaVerify('sha256', data, key, rawSignature)),
  300,
);
reportComparison('verify and check', 'raw RSA verification', againstRaw);
reportProcessorRatio(againstRaw);
reportComparison(
  'verify and check',
  'verification alone by xml-crypto',
  await compare(repeat(ours), repeat(xmlCrypto), 60),
);
