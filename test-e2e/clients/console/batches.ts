import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type Client, newAccount } from '../../support/client.js';
import { accessible, area, drop } from '../../support/console.js';
import { Numbering } from '../../support/documents/documents.js';
import { until } from '../../support/until.js';

const ISSUER = { rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' };
/** Has no token of the authority, so its documents do not begin while the authority is unreachable. */
const OTHER = { rnc: '101000163', name: 'Lotes Imaginarios, SRL' };
const [YEAR, MONTH, DAY] = new Date(Date.now() - 4 * 3_600_000).toISOString().slice(0, 10).split('-');
const HEADER =
  'reference;TipoeCF;FechaEmision;RNCEmisor;RazonSocialEmisor;DireccionEmisor;RNCComprador;RazonSocialComprador;NombreItem;IndicadorFacturacion;CantidadItem;PrecioUnitarioItem';

/** A row as a spreadsheet with a decimal comma writes it. */
const row = (reference: string, buyer: string, item: string) =>
  `${reference};31;${DAY}/${MONTH}/${YEAR};${ISSUER.rnc};${ISSUER.name};Calle Ejemplo 12;${buyer};Taller Caoba Imaginario, SRL;${item};1;2;1500,50`;

/** Answers once that a batch is not done yet although its lines are decided, as it is for a moment. */
async function doneLater(page: Page): Promise<void> {
  let wasEarly = false;
  await page.route(
    ({ pathname }) => /^\/batches\/\d+$/.test(pathname),
    async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const isEarly = !wasEarly && body.status === 'done';
      wasEarly ||= isEarly;
      await route.fulfill({ response, json: isEarly ? { ...body, status: 'processing', finished_at: null } : body });
    },
  );
}

async function saved(page: Page, button: string | RegExp): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).press('Enter'),
  ]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

export const batches = area('batches in the console', ({ deployment, signedIn }) => {
  const otherNumbers = new Numbering(OTHER);

  let other: Client;

  beforeAll(async () => {
    other = await newAccount(deployment.running, OTHER);
    const [account] = (await deployment.demo.admin('GET', '/accounts')).body;
    const path = `/accounts/${account.id}/taxpayers/${ISSUER.rnc}/ranges?remove=true`;
    const range = { env: 'TesteCF', ecf_type: '31', from: 'E310000000001', to: 'E310000001000', expires: '2028-12-31' };
    expect((await deployment.demo.admin('PUT', path, [range])).status).toBe(200);
  });

  it('a CSV is dropped and checked, its faulty invoices are saved to correct, and the others are sent once.', async () => {
    const page = await signedIn('/console/batches');
    await page.getByText('Aún no hay lotes').waitFor();
    await accessible(page);
    await page.getByRole('link', { name: 'Nuevo lote' }).click();
    await page.getByText('Elija un archivo').waitFor();
    await accessible(page);
    const template = await saved(page, 'Descargar la plantilla');
    expect(template.text).toContain(`FACT-1002,32,,,${DAY}-${MONTH}-${YEAR},${ISSUER.rnc}`);

    await drop(page, 'ventas.csv', Buffer.from('reference;TipoeCF;Precio\n1;31;5', 'latin1'));
    await page.getByText('Columnas desconocidas: Precio.').waitFor();
    await accessible(page);

    const [first, second, faulty] = [
      row('V-1', '188888885', 'Café molido'),
      row('V-2', '188888885', 'Azúcar'),
      row('V-3', '18888888', '=HYPERLINK("http://example.com")'),
    ];
    await drop(page, 'ventas.csv', Buffer.from([HEADER, first, faulty, second].join('\r\n'), 'latin1'));
    await page.getByText('se leyó como Windows-1252').waitFor();
    await page.getByRole('cell', { name: 'RD$ 10,623.54' }).waitFor();
    await page.getByRole('button', { name: 'Comprobar' }).click();
    await page.getByText('1 de 3 comprobantes tiene errores.').waitFor();
    await page
      .getByRole('row', { name: /^2 fila 3 Sin número V-3 .*no tiene el formato esperado.*RNCComprador/ })
      .waitFor();
    await accessible(page);
    const refused = await saved(page, 'Descargar los rechazados para corregirlos');
    expect(refused.name).toMatch(/^ventas-\d+\.csv$/);
    expect(refused.text).toMatch(
      /^\ufeffreference;.*;error\r\nV-3;.*'=HYPERLINK.*Comprador\.RNCComprador: El valor no tiene/,
    );
    expect(refused.text).not.toContain('V-1');

    await page.getByRole('button', { name: 'Continuar con los 2 válidos' }).click();
    await page.getByRole('button', { name: 'Comprobar' }).click();
    await doneLater(page);
    await page.getByLabel('Firmar también si la DGII no responde').check();
    const sending = page.waitForRequest((request) => request.method() === 'POST' && /batches$/.test(request.url()));
    await page.getByRole('button', { name: 'Enviar 2 comprobantes' }).click();
    expect((await sending).headers()['x-contingency']).toBe('true');
    await page.getByRole('heading', { name: /^Lote \d+$/ }).waitFor();
    await page.getByText('Terminado', { exact: true }).waitFor();
    await page.getByRole('link', { name: '2 Aceptados' }).click();
    await page.getByRole('row', { name: /V-2 Aceptado/ }).waitFor();
    await accessible(page);
    const batch = page.url().replace(/\?.*/, '');
    await page
      .getByRole('link', { name: /^E31000000000/ })
      .first()
      .click();
    await page.getByText('Café molido').or(page.getByText('Azúcar')).waitFor();

    await page.goto(batch.replace(/\d+$/, 'new'));
    await drop(page, 'otro nombre.csv', Buffer.from([HEADER, first, second].join('\r\n'), 'latin1'));
    await page.getByText('Este archivo ya se envió').waitFor();
    await page
      .locator('main')
      .getByRole('link', { name: /^Lote \d/ })
      .click();
    await page.waitForURL(batch);
    await page.getByRole('link', { name: 'Lotes' }).first().click();
    await page.getByRole('row', { name: /Solo comprobación.*Terminado.*3 de 3/ }).waitFor();
    await accessible(page);
  });

  it('NDJSON is sent with the keyboard alone, in English on a narrow dark screen, and what has not begun is cancelled.', async () => {
    const screen = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', reducedMotion: 'reduce' } as const;
    const page = await signedIn('/console/batches/new', { locale: 'en-US', ...screen }, other.apiKey);
    const lines = [otherNumbers.next(), otherNumbers.next()].map(({ invoice }) => JSON.stringify(invoice));
    await page.locator('input[type=file]').focus();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Space')]);
    await chooser.setFiles({ name: 'sales.ndjson', mimeType: '', buffer: Buffer.from(lines.join('\n')) });
    await page.getByRole('button', { name: 'Check' }).press('Enter');
    await page.getByText('All 2 documents are valid.').waitFor();
    await accessible(page);
    const release = await deployment.demo.fault({ operation: '*', kind: 'down' });
    await page.getByRole('button', { name: 'Send 2 documents' }).press('Enter');
    await page.getByText('In progress').waitFor();
    await accessible(page);
    await page.getByRole('button', { name: 'Cancel the batch' }).press('Enter');
    await page.getByText(/^Documents that have not begun/).waitFor();
    await accessible(page);
    await page.getByRole('button', { name: 'Cancel what is left' }).press('Enter');
    await page.getByText('Cancelled', { exact: true }).waitFor();
    await page.getByRole('link', { name: '2 With errors' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect((await saved(page, 'Download the refused ones to correct')).text).toBe(`${lines.join('\n')}\n`);
    await page.reload();
    const list = await saved(page, 'Download the errors (CSV)');
    expect(list.text).toMatch(/^\ufeffline,eNCF,reference,error\r\n1,E31\d{10},,/);
    await accessible(page);
    await release();
  });

  it('documents that wait for the authority are listed with their legend until it answers.', async () => {
    const page = await signedIn('/console/contingency', undefined, other.apiKey);
    await page.getByText('Ningún comprobante espera a la DGII.').waitFor();
    await page.getByText('Consultado el').waitFor();
    await accessible(page);
    const release = await deployment.demo.fault({ operation: '*', kind: 'down' });
    const { invoice, encf } = otherNumbers.next();
    const { body } = await other.submit(invoice, { 'x-contingency': 'true' });
    expect(body.status).toBe('EnProceso');
    await page.reload();
    await page.getByRole('link', { name: encf }).waitFor();
    await page.getByText('72 horas desde que la DGII responda').waitFor();
    await page.getByText('modalidad de Contingencia').waitFor();
    await accessible(page);
    await release();
    await until(
      () => other.call('GET', '/contingency'),
      (list) => list.body.total === 0,
    );
    await page.reload();
    await page.getByText('Ningún comprobante espera a la DGII.').waitFor();
  });
});
