import { testKey } from '@ecf/test-support';
import { createCertificateAuthority, type IssuedCertificate } from '../src/certificates/certificate-authority.js';
import { openCertificate, type SigningCertificate } from '../src/index.js';

/** The present time of all tests. */
export const now = new Date('2026-06-23T12:00:00-04:00');

export const authority = createCertificateAuthority({ key: testKey(1) });
export const issued: IssuedCertificate = authority.issue({
  commonName: 'José Ñandú Pérez',
  holderId: '00112345678',
  notBefore: new Date('2020-01-01T00:00:00Z'),
  notAfter: new Date('2045-01-01T00:00:00Z'),
  password: 'clave',
  key: testKey(0),
});
export const certificate: SigningCertificate = openCertificate(issued.p12, issued.password, now);

const DECLARATIONS =
  ' xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

/** A document in the two forms that the writer produces; its texts have every kind that is often mistreated. */
export function written(root: string, signingTime = ''): { canonical: string; output: string } {
  const canonical = `<${root}${DECLARATIONS}><Encabezado><Version>1.0</Version><RazonSocial>"Ñandú" &amp; 'Hijos' &lt;S.R.L.&gt; 😀</RazonSocial><Nota>una&#xD;\ndos\ttres  </Nota></Encabezado><MontoTotal>118.00</MontoTotal>${signingTime}</${root}>`;
  return { canonical, output: canonical.replaceAll('"Ñandú"', '&quot;Ñandú&quot;').replaceAll("'", '&apos;') };
}

export const ecf = written('ECF', '<FechaHoraFirma>23-06-2026 10:00:00</FechaHoraFirma>');
