import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { qrPng } from '@ecf/printed-form';
import { testKey } from '@ecf/test-support';
import { openCertificate, signXml } from '@ecf/xml-signing';
import { createCertificateAuthority, fileOfSeveral } from '@ecf/xml-signing/certificate-authority';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ecf, program, rows } from './ecf.js';
import { consumerInvoice, creditInvoice } from './samples.js';

const folder = mkdtempSync(join(tmpdir(), 'ecf-documents-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

let signing: string[];
/** Each of the two invoices as JSON, as unsigned XML and as signed XML: the file and its text. */
let consumer: string;
let credit: string;
let builtConsumer: string;
let builtCredit: string;
let signedConsumer: string;
let signedCredit: string;
let creditFile: string;
let consumerFile: string;

beforeAll(async () => {
  const authority = createCertificateAuthority({ key: testKey(1) });
  const holder = {
    commonName: 'Juana Núñez',
    holderId: '00112345678',
    notBefore: new Date('2020-01-01'),
    notAfter: new Date('2045-01-01'),
    password: 'contraseña',
    key: testKey(0),
  };
  const { p12 } = authority.issue(holder);
  signing = ['--certificate', file('holder.p12', p12), '--password-file', file('password.txt', 'contraseña\n')];
  file('expired.p12', authority.issue({ ...holder, notAfter: new Date('2021-01-01') }).p12);
  consumer = file('consumer.json', JSON.stringify(consumerInvoice()));
  credit = file('credit.json', JSON.stringify(creditInvoice()));
  const made = await Promise.all([
    ecf(['build', consumer]),
    ecf(['build', credit]),
    program(['sign', ...signing, consumer]),
    ecf(['sign', ...signing, credit]),
  ]);
  for (const { code, stderr } of made) expect([code, stderr]).toEqual([0, '']);
  [builtConsumer, builtCredit, signedConsumer, signedCredit] = made.map(({ stdout }) => stdout) as [
    string,
    string,
    string,
    string,
  ];
  consumerFile = file('consumer.xml', signedConsumer);
  creditFile = file('credit.xml', signedCredit);
});

describe('ecf build', () => {
  it('writes compact unsigned XML in the authority’s order', async () => {
    const stdout = builtConsumer;
    expect(stdout).toMatch(/^<ECF xmlns:xsd="[^"]+" xmlns:xsi="[^"]+"><Encabezado><Version>1\.0<\/Version><IdDoc>/);
    expect(stdout).toContain('Ferretería &quot;El Ñandú&quot; &amp; Hijos');
    expect(stdout).not.toContain('FechaHoraFirma');
    expect(await program(['build'], JSON.stringify(consumerInvoice()))).toMatchObject({ code: 0, stdout });
    expect(await ecf(['build', '-'], stdout)).toMatchObject({ code: 0, stdout });
  });

  it('writes line feeds for carriage returns, leaves values of blanks out, and names both elements', async () => {
    const invoice = consumerInvoice();
    Object.assign(invoice.ECF.Encabezado.Emisor as object, {
      DireccionEmisor: 'Calle Uno 1\r\nEdificio Dos',
      NombreComercial: ' \t',
    });
    const xml = (await ecf(['build'], JSON.stringify(consumerInvoice()))).stdout.replace(
      /<DireccionEmisor>[^<]*/,
      '<NombreComercial> </NombreComercial><DireccionEmisor>Calle Uno 1&#13;\nEdificio Dos',
    );
    for (const input of [JSON.stringify(invoice), xml]) {
      const { code, stdout, stderr } = await ecf(['build'], input);
      expect(code).toBe(0);
      expect(stdout).toContain('<DireccionEmisor>Calle Uno 1\nEdificio Dos</DireccionEmisor>');
      expect(stdout).not.toContain('NombreComercial');
      expect(stderr).toContain(
        'warning: ECF.Encabezado.Emisor.DireccionEmisor: DireccionEmisor holds a carriage return',
      );
      expect(stderr).toContain('warning: ECF.Encabezado.Emisor.NombreComercial: NombreComercial holds only blanks');
      const signed = await ecf(['sign', ...signing], input);
      expect(signed.stdout).toContain('Calle Uno 1\nEdificio Dos');
    }
    const [row] = rows((await ecf(['build', '--json'], xml.replace(/(<RazonSocialEmisor>)[^<]*/, '$1 '))).stdout);
    expect(row).toMatchObject({ valid: false, faults: [{ rule: 'schema.required' }] });
  });

  it('refuses a number where leading zeros count', async () => {
    const text = JSON.stringify(creditInvoice()).replace(/"RNCComprador":"\d+"/, '"RNCComprador":120000229');
    const { code, stdout, stderr } = await ecf(['build'], text);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      'RNCComprador is the number 120000229; send it as text: a number loses its leading zeros.',
    );
  });

  it('writes nothing for an invalid document', async () => {
    const faulty = consumerInvoice();
    delete faulty.ECF.Encabezado.IdDoc.TipoPago;
    const { code, stdout, stderr } = await program(['build'], JSON.stringify(faulty));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('ECF.Encabezado.IdDoc.TipoPago');
    expect((await ecf(['build'], '{"ECF"')).stderr).toContain('column');
    const [row] = rows((await ecf(['build', '--json'], JSON.stringify(faulty))).stdout);
    expect(row).toMatchObject({ file: '-', valid: false, xml: null, faults: [{ rule: 'schema.required' }] });
  });
});

describe('ecf sign and verify', () => {
  it('signs JSON, and fills in the time of signing', async () => {
    const path = creditFile;
    const { code, stdout } = await program(['verify', '--json', path]);
    expect(code).toBe(0);
    expect(rows(stdout)).toEqual([
      {
        file: path,
        document: 'ECF',
        type: '31',
        encf: 'E310000000001',
        signature: 'valid',
        reason: null,
        canonical: 'as-is',
        certificate: expect.objectContaining({
          subject: expect.stringContaining('CN=Juana Núñez'),
          issuer: expect.any(String),
          serial_number: expect.stringMatching(/^[0-9A-F]+$/),
          not_before: '2019-12-31T20:00:00-04:00',
          not_after: '2044-12-31T20:00:00-04:00',
          valid_at_signing: true,
        }),
        schema_valid: true,
        faults: [],
        warnings: [],
      },
    ]);
    expect(rows((await ecf(['check', path])).stdout)).toMatchObject([{ valid: true }]);
  });

  it('signs unsigned XML, indented or not, and keeps a given time', async () => {
    const timed = builtConsumer.replace('</ECF>', '<FechaHoraFirma>23-06-2026 10:11:12</FechaHoraFirma></ECF>');
    const indented = timed.replace(/></g, '>\r\n  <');
    const [one, two] = await Promise.all([ecf(['sign', ...signing], timed), ecf(['sign', ...signing, '-'], indented)]);
    expect(one).toMatchObject({ code: 0, stderr: '' });
    expect(two.stdout).toBe(one.stdout);
    expect(one.stdout).toContain('<FechaHoraFirma>23-06-2026 10:11:12</FechaHoraFirma><Signature');
    expect(one.stdout.endsWith('</ECF>')).toBe(true);
  });

  it('warns of a time at which the certificate was not valid', async () => {
    const early = builtConsumer.replace('</ECF>', '<FechaHoraFirma>23-06-2001 10:11:12</FechaHoraFirma></ECF>');
    const { code, stdout } = await ecf(['sign', '--json', ...signing], early);
    expect([code, rows(stdout)]).toMatchObject([0, [{ warnings: [{ rule: 'business.signed-outside-validity' }] }]]);
  });

  it('are checked as every receiver reads them: comments warn, and ISO-8859-1 is ASCII or nothing', async () => {
    const check = async (xml: string) => rows((await ecf(['check', '--json', file('checked.xml', xml)])).stdout)[0];
    const commented = signedConsumer.replace('<Totales>', '<Totales><!-- a -->');
    expect(await check(commented)).toMatchObject({ valid: true, warnings: [{ rule: 'schema.unknown' }] });
    const declared = (xml: string) => `<?xml version="1.0" encoding="ISO-8859-1"?>${xml.replace(/^<\?xml[^>]*>/, '')}`;
    expect(await check(declared(signedCredit))).toMatchObject({ valid: /^[ -~\s]*$/.test(signedCredit) });
    expect(await check(declared(signedConsumer))).toMatchObject({ valid: false });
  });

  it('signs with the key for signatures of a file with several', async () => {
    const holder = {
      commonName: 'Juana Núñez',
      holderId: '00112345678',
      password: 'x',
      notAfter: new Date('2045-01-01'),
    };
    const authority = createCertificateAuthority({ key: testKey(1) });
    const [encryption, signer] = [
      authority.issue({ ...holder, key: testKey(2), notBefore: new Date('2021-01-01'), keyUsage: ['keyEncipherment'] }),
      authority.issue({ ...holder, key: testKey(0), notBefore: new Date('2020-01-01') }),
    ];
    const several = file('several.p12', fileOfSeveral([encryption, signer], 'x'));
    const password = file('x.txt', 'x');
    const { code, stdout } = await ecf(['sign', '--certificate', several, '--password-file', password, credit]);
    expect([code, stdout.includes(signer.pem.replace(/-----[^-]+-----|\s/g, ''))]).toEqual([0, true]);
  });

  it('does not sign a signed or invalid document, or another file', async () => {
    // The schema allows it, the authority does not.
    const emptyTag = builtConsumer.replace('<FechaEmision>', '<ZonaVenta></ZonaVenta><FechaEmision>');
    const inputs = [signedConsumer, '<a><b></a>', '<Factura/>', 'hello', emptyTag];
    const ran = await Promise.all(inputs.map((input) => ecf(['sign', ...signing], input)));
    for (const { code, stdout } of ran) expect([code, stdout]).toEqual([1, '']);
    expect(ran[0]?.stderr).toContain('signed already');
    expect(ran[4]?.stderr).toMatch(/ECF\.Encabezado\.\S+.*empty/);
  });

  it('reports errors of certificate and password, and shows neither', async () => {
    const wrong = file('wrong.txt', 'Otra-clave');
    const cases: [string, string, string][] = [
      ['holder.p12', wrong, 'password does not open'],
      ['expired.p12', join(folder, 'password.txt'), 'expired on 2021-01-01'],
      ['consumer.json', wrong, 'not a PKCS#12'],
      ['none.p12', wrong, 'does not exist'],
      ['holder.p12', join(folder, 'none.txt'), 'none.txt does not exist'],
    ];
    const ran = await Promise.all(
      cases.map(([name, password]) =>
        ecf(['sign', '--certificate', join(folder, name), '--password-file', password, consumer]),
      ),
    );
    for (const [i, [, , says]] of cases.entries()) {
      expect(ran[i]).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(says) });
      expect(ran[i]?.stderr).not.toContain('Otra-clave');
    }
  });

  it('reports an invalid signature, an indented document, a foreign one, and ends with 1', async () => {
    const [path, xml] = [creditFile, signedCredit];
    const tampered = file('tampered.xml', xml.replace('1180.00', '1180.01'));
    const indented = file('indented.xml', xml.replace(/></g, '>\n<'));
    const unsigned = file('unsigned.xml', builtCredit);
    const broken = file('broken.xml', '<ECF>');
    const { code, stdout } = await ecf(['verify', path, tampered, indented, unsigned, broken]);
    expect(code).toBe(1);
    expect(
      rows(stdout).map(({ file, signature, canonical, schema_valid }) => ({
        file,
        signature,
        canonical,
        schema_valid,
      })),
    ).toEqual([
      { file: path, signature: 'valid', canonical: 'as-is', schema_valid: true },
      { file: tampered, signature: 'invalid', canonical: null, schema_valid: true },
      { file: indented, signature: 'valid', canonical: 'whitespace-dropped', schema_valid: true },
      { file: unsigned, signature: 'invalid', canonical: null, schema_valid: false },
      { file: broken, signature: 'invalid', canonical: null, schema_valid: false },
    ]);
    const reasons = rows(stdout).map(({ reason }) => String(reason).split(':')[0]);
    expect(reasons).toEqual(['null', 'digest_mismatch', 'null', 'signature_missing', 'xml_refused']);
    const text = await ecf(['verify', '--text', path, tampered, indented]);
    expect(text.stdout).toMatch(/^valid {3}e-CF 31 E310000000001 .*\n {4}signed by .*CN=Juana Núñez/m);
    expect(text.stdout).toMatch(/^INVALID e-CF 31 .*\n {4}digest_mismatch: The document was changed/m);
  });

  it('warns of a signature that other software may refuse', async () => {
    const { p12, password } = createCertificateAuthority({ key: testKey(1) }).issue({
      commonName: 'Juana Núñez',
      holderId: '00112345678',
      notBefore: new Date('2020-01-01'),
      notAfter: new Date('2045-01-01'),
      password: 'x',
      key: testKey(0),
    });
    const indented = builtCredit
      .trim()
      .replace(/&(quot|apos);/g, '')
      .replaceAll('><', '>\n  <');
    const { xml } = await signXml({ canonical: indented, output: indented }, openCertificate(p12, password));
    const verified = await ecf(['verify', '--json', file('blanks.xml', xml)]);
    expect(rows(verified.stdout)).toMatchObject([
      { signature: 'valid', canonical: 'as-is', warnings: [{ rule: 'signature.blanks', path: 'ECF' }] },
    ]);
    const { stdout } = await ecf(['verify', '--text', file('blanks.xml', xml)]);
    expect(stdout).toContain('warning: ECF: The signature is valid only with the blank text between the elements.');
  });

  it('reads one document from standard input and names files it cannot read', async () => {
    expect(rows((await program(['verify', '-'], signedConsumer)).stdout)).toMatchObject([
      { file: '-', signature: 'valid' },
    ]);
    const missing = await ecf(['verify', join(folder, 'none.xml'), consumerFile]);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('none.xml does not exist');
    expect(rows(missing.stdout)).toMatchObject([{ signature: 'valid' }]);
  });
});

describe('ecf qr', () => {
  it('gives the address of a full document', async () => {
    const path = creditFile;
    const { code, stdout } = await program(['qr', path, '--env', 'eCF']);
    expect(code).toBe(0);
    const url = new URL(stdout.trim());
    expect(url.host).toMatch(/^ecf\./);
    expect(url.pathname.toLowerCase()).toBe('/ecf/consultatimbre');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      RncEmisor: '130000001',
      RncComprador: '131880681',
      ENCF: 'E310000000001',
      FechaEmision: '23-06-2026',
      MontoTotal: '1180.00',
    });
    const [row] = rows((await ecf(['qr', '--json', path])).stdout) as { security_code: string; qr_url: string }[];
    expect(url.searchParams.get('CodigoSeguridad')).toBe(row!.security_code);
    expect(row!.qr_url).toContain('/testecf/');
  });

  it('gives the same address for a summary as for its document', async () => {
    const path = consumerFile;
    const summary = (await ecf(['rfce', path])).stdout;
    const signedSummary = (await ecf(['sign', ...signing], summary)).stdout;
    const { stdout } = await ecf(['qr', path]);
    expect(new URL(stdout.trim()).host).toMatch(/^fc\./);
    expect((await ecf(['qr'], signedSummary)).stdout).toBe(stdout);
  });

  it('warns of a signature that does not verify, and refuses an unsigned document', async () => {
    const [tampered, two, unsigned, none] = await Promise.all([
      ecf(['qr'], signedCredit.replace('1180.00', '1180.01')),
      ecf(['qr', creditFile, 'b.xml']),
      ecf(['qr'], builtCredit),
      ecf(['qr'], 'no XML'),
    ]);
    expect(tampered).toMatchObject({ code: 0, stdout: expect.stringContaining('MontoTotal=1180.01') });
    expect(tampered.stderr).toContain('does not verify');
    expect(two).toMatchObject({ code: 2, stdout: '' });
    for (const refused of [unsigned, none]) expect(refused).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('ecf print', () => {
  it('writes a PDF, with a logo if one is given, and names what is wrong with a format, a logo or a document', async () => {
    const target = join(folder, 'printed.pdf');
    expect(await ecf(['print', '--format', 'ticket', creditFile, '-o', target])).toMatchObject({ code: 0, stderr: '' });
    const plain = readFileSync(target);
    expect(plain.subarray(0, 5).toString()).toBe('%PDF-');
    const logo = join(folder, 'logo.png');
    writeFileSync(logo, qrPng('https://example.com'));
    expect(await ecf(['print', '--format', 'ticket', '--logo', logo, creditFile, '-o', target])).toMatchObject({
      code: 0,
    });
    expect(readFileSync(target).length).toBeGreaterThan(plain.length);
    const [picture, missing, format, output, unsigned] = await Promise.all([
      ecf(['print', '--logo', creditFile, creditFile, '-o', target]),
      ecf(['print', '--logo', `${logo}.gone`, creditFile, '-o', target]),
      ecf(['print', '--format', 'a4', creditFile, '-o', target]),
      ecf(['print', creditFile]),
      ecf(['print', '-o', target], builtCredit),
    ]);
    expect(picture).toMatchObject({ code: 2, stderr: expect.stringContaining('neither a PNG nor a JPEG') });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') });
    expect(format).toMatchObject({ code: 2, stderr: expect.stringContaining('letter or ticket') });
    expect(output).toMatchObject({ code: 2, stderr: expect.stringContaining('-o names the PDF file') });
    expect(unsigned).toMatchObject({ code: 1, stderr: expect.stringContaining('not a signed e-CF') });
  });
});

describe('ecf rfce', () => {
  it('gives the unsigned summary, with the security code of the document', async () => {
    const path = consumerFile;
    const { code, stdout } = await program(['rfce', path]);
    expect(code).toBe(0);
    const [row] = rows((await ecf(['rfce', '--json', path])).stdout) as { security_code: string; xml: string }[];
    expect(stdout).toBe(`${row!.xml}\n`);
    expect(stdout).toContain(`<CodigoSeguridadeCF>${row!.security_code.replace('&', '&amp;')}</CodigoSeguridadeCF>`);
    const summary = await ecf(['sign', ...signing], stdout);
    expect(rows((await ecf(['verify'], summary.stdout)).stdout)).toMatchObject([
      { document: 'RFCE', signature: 'valid', schema_valid: true },
    ]);
  });

  it('refuses documents that have none', async () => {
    const large = consumerInvoice();
    Object.assign(large.ECF.Encabezado.Totales, { MontoTotal: '250000.00' });
    const { stdout: xml } = await ecf(['sign', '--schema-only', ...signing], JSON.stringify(large));
    const tooLarge = await ecf(['rfce'], xml);
    expect(tooLarge).toMatchObject({ code: 1, stdout: '' });
    expect(tooLarge.stderr).toContain('250,000.00');
    expect((await ecf(['rfce', creditFile])).stderr).toContain('type 32');
    expect(await ecf(['rfce'], builtConsumer)).toMatchObject({ code: 1, stdout: '' });
  });
});
