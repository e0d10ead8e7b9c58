import { expect, it } from '@jest/globals';
import { accessible, area } from '../../support/console.js';
import { Numbering } from '../../support/documents/documents.js';
import { until } from '../../support/until.js';

const NUMBER = 'E310000009999';

export const document = area('the page of an issued document', ({ deployment, signedIn, accepted }) => {
  const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
  const address = (encf: string) => `/console/invoices/${deployment.running.demo.issuer_rnc}/${encf}`;

  it('shows lines, totals, QR code and every step up to the approval, and opens the printed forms and the XML.', async () => {
    const encf = await accepted();
    const { issuer_rnc, buyer_rnc } = deployment.running.demo;
    const approval = {
      issuer_rnc,
      receiver_rnc: buyer_rnc,
      encf,
      authority_environment: 'TesteCF',
      approval_status: 1,
    };
    const { status } = await deployment.demo.call('POST', '/acecf', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(approval),
    });
    expect(status).toBe(201);
    await until(
      () => deployment.demo.call('GET', `/received-arecf/${encf}?issuer_rnc=${issuer_rnc}`),
      (answer) => answer.status === 200,
    );
    const page = await signedIn(address(encf));
    await page.getByText('Aprobado').waitFor();
    const entries = page.locator('.history').getByRole('listitem');
    await entries.nth(6).waitFor();
    const history = await entries.allInnerTexts();
    const steps = [
      'Recibido de su sistema',
      'Firmado',
      'Enviado a la DGII',
      'Consultado',
      'Decisión de la DGII',
      'Acuse del comprador',
      'Aprobación comercial',
    ];
    expect(history.map((entry) => entry.split('\n')[0])).toEqual(steps);
    expect(history.every((entry) => /202\d/.test(entry))).toBe(true);
    await page.getByText('Descuento: RD$ 500.00').waitFor();
    await page.getByText('RD$ 280.00').waitFor();
    await page.getByRole('img', { name: 'Código QR' }).waitFor();
    await accessible(page);
    const opened = (path: string) => page.waitForResponse((response) => response.url().includes(path));
    const [letter] = await Promise.all([
      opened('/pdf'),
      page.getByRole('button', { name: 'Abrir la representación impresa' }).click(),
    ]);
    expect(letter.headers()['content-type']).toBe('application/pdf');
    const [ticket] = await Promise.all([
      opened('/pdf?format=ticket'),
      page.getByRole('button', { name: 'Ticket' }).click(),
    ]);
    expect(ticket.status()).toBe(200);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Descargar XML' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${issuer_rnc}${encf}.xml`);
  });

  it('refreshes itself until the authority has decided, and says what to do about a rejection.', async () => {
    const waiting = await deployment.demo.fault({ operation: 'consultaresultado', kind: 'processing' });
    const { invoice, encf } = numbers.next('ecf-31', ({ Encabezado }) => {
      Encabezado.Comprador.RazonSocialComprador = `<script>alert(1)</script> ${'x'.repeat(110)} \u05d0`;
      Encabezado.IdDoc.eNCF = NUMBER;
    });
    const submitting = deployment.demo.submit(invoice);
    const page = await signedIn('/console/');
    await page.goto(deployment.running.demo.base_url + address(encf));
    await page.getByText('Esta página se actualiza sola.').waitFor();
    await accessible(page);
    const verdict = {
      codigo: '2',
      estado: 'Rechazado',
      mensajes: [{ codigo: '1209', valor: 'Este número de secuencia ya ha sido utilizado.' }],
      secuenciaUtilizada: true,
    };
    const rejecting = await deployment.demo.fault({ operation: 'consultaresultado', kind: 'verdict', verdict });
    await waiting();
    await page.getByText('El número pertenece a un envío anterior.').waitFor();
    await accessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    // Under another number the authority would have the same sale twice.
    expect(await page.getByText('necesita otro e-NCF').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Corregir y repetir' }).count()).toBe(0);
    await page.goto(`${deployment.running.demo.base_url}/console/invoices/new?repeat=${encf}`);
    await page.getByText('El número pertenece a un envío anterior.').waitFor();
    await rejecting();
    await submitting;
  });

  it('says what to do where no such document was issued, in English, on a narrow and dark screen.', async () => {
    const page = await signedIn(address('E310000099999'), {
      locale: 'en-US',
      colorScheme: 'dark',
      viewport: { width: 390, height: 844 },
    });
    await page.getByRole('heading', { name: 'There is no document E310000099999' }).waitFor();
    await accessible(page);
    await page.getByRole('link', { name: 'See the issued documents' }).click();
    await page.waitForURL(/\/console\/invoices$/);
  });
});
