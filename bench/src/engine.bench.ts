// JSON → checked, written, signed; against the RSA operation that no implementation can avoid, xml-crypto and
// the npm library dgii-ecf.
import { sign as rsaSign } from 'node:crypto';
import { promisify } from 'node:util';
import { examineJson, parseDocument, writeXml } from '@ecf/ecf-xml';
import { signXml } from '@ecf/xml-signing';
import { Signature, Transformer } from 'dgii-ecf';
import { SignedXml } from 'xml-crypto';
import { compare, inTurn, median, repeat, seconds, together } from './harness/measure.js';
import { heading, line, reportComparison, reportProcessorRatio } from './harness/report.js';
import { certificate, invoice } from './inputs/sample.js';

const now = new Date();
const own = certificate().certificate;
const rawSign = promisify(rsaSign) as (algorithm: string, data: Buffer, key: typeof own.privateKey) => Promise<Buffer>;
const text = (lines: number): string => {
  const document = invoice('E310000000001', lines) as { ECF: Record<string, unknown> };
  document.ECF.FechaHoraFirma = '02-01-2026 10:00:00';
  return JSON.stringify(document);
};

/** Documents signed before the first round. The compiler still improves the code until about the 8,000th. */
const WARM_UP = 10_000;

const chain = async (json: string): Promise<string> => {
  const examined = examineJson(parseDocument(json), { now });
  if (!examined.tree || examined.faults.length > 0) throw new Error(JSON.stringify(examined.faults[0]));
  return (await signXml(writeXml(examined.tree), own)).xml;
};
const withoutSigning = (json: string): number => {
  const examined = examineJson(parseDocument(json), { now });
  if (!examined.tree) throw new Error('no document');
  return writeXml(examined.tree).canonical.length;
};
const xmlCrypto = (canonical: string): string => {
  const signer = new SignedXml({
    privateKey: own.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  });
  signer.addReference({
    xpath: '/*',
    isEmptyUri: true,
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature'],
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
  });
  signer.computeSignature(canonical, { location: { reference: '/*', action: 'append' } });
  return signer.getSignedXml();
};
const pem = own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const library = new Signature(pem, `-----BEGIN CERTIFICATE-----\n${own.certificate}\n-----END CERTIFICATE-----`);
const transformer = new Transformer();
const byLibrary = (json: string): string => library.signXml(transformer.json2xml(JSON.parse(json)), 'ECF');

heading('JSON → checked, written, signed e-CF of type 31');
const ten = text(10);
const canonicalTen = writeXml(examineJson(parseDocument(ten), { now }).tree as never).canonical;
const data = Buffer.from(canonicalTen);
// A running gateway has compiled its code: the first thousands of documents do not count.
await seconds(
  inTurn(() => chain(ten)),
  WARM_UP,
);
const raw = inTurn(() => rawSign('sha256', data, own.privateKey));
const inSequence = await compare(
  inTurn(() => chain(ten)),
  raw,
  500,
);
reportComparison('10 lines, one after the other', 'one raw RSA-2048 signature', inSequence, '≤ 1.35');
reportProcessorRatio(inSequence);
reportComparison(
  '10 lines',
  'signing alone by xml-crypto',
  await compare(
    inTurn(() => chain(ten)),
    repeat(() => xmlCrypto(canonicalTen)),
    60,
  ),
);
const besideLibrary = await compare(
  inTurn(() => chain(ten)),
  repeat(() => byLibrary(ten)),
  60,
);
reportComparison('10 lines', 'the same document built and signed by dgii-ecf, without a check', besideLibrary);
reportProcessorRatio(besideLibrary);

heading('time per byte of JSON, the raw signature subtracted (goal: flat)');
for (const lines of [1, 10, 100, 1000]) {
  const json = text(lines);
  const count = Math.max(10, Math.round(4000 / (lines + 3)));
  const rounds: number[] = [];
  await seconds(
    inTurn(() => chain(json)),
    Math.min(count, 200),
  );
  for (let round = 0; round < 7; round += 1) {
    const whole = await seconds(
      inTurn(() => chain(json)),
      count,
    );
    const bare = await seconds(raw, count);
    rounds.push(((whole - bare) / count / Buffer.byteLength(json)) * 1e9);
  }
  const pure =
    (await seconds(
      repeat(() => withoutSigning(json)),
      count,
    )) / count;
  line(
    `${lines} lines, ${Buffer.byteLength(json)} bytes: ${median(rounds).toFixed(1)} ns a byte (median of 7 rounds); check and write alone ${((pure / Buffer.byteLength(json)) * 1e9).toFixed(1)} ns a byte`,
  );
}

heading('both cores together');
const callers = 8;
const both = await compare(
  together(() => chain(ten), callers),
  together(() => rawSign('sha256', data, own.privateKey), callers),
  800,
  5,
);
reportComparison(`10 lines, ${callers} in flight`, 'raw signatures in flight as well', both);
reportProcessorRatio(both);
line(
  `documents a second: ${(1 / both.subject).toFixed(0)}; raw signatures a second: ${(1 / both.reference).toFixed(0)}`,
);
