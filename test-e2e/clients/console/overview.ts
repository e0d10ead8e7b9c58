import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessible, area } from '../../support/console.js';
import { Numbering } from '../../support/documents/documents.js';
import { until } from '../../support/until.js';

const REJECTION = {
  codigo: '2',
  estado: 'Rechazado',
  mensajes: [{ codigo: '1209', valor: 'Este número de secuencia ya ha sido utilizado.' }],
  secuenciaUtilizada: false,
};

export const overview = area('the overview, the invoices and the deliveries', ({ deployment, signedIn, accepted }) => {
  const others = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' }, 5_000);

  /** A document of the demo issuer for a buyer that the directory does not list. */
  async function undeliverable(): Promise<string> {
    const { invoice, encf } = others.next('ecf-31', ({ Encabezado: { Comprador } }) => {
      Object.assign(Comprador, { RNCComprador: '101010102', RazonSocialComprador: 'Ferretería Ñáñez, SRL' });
    });
    const { body } = await deployment.demo.submit(invoice, { 'x-reference': 'FACT-77' });
    expect(body.status).toBe('Aceptado');
    const headers = { 'rnc-issuing': deployment.running.demo.issuer_rnc };
    await until(
      () => deployment.demo.call('GET', `/invoices/${encf}`, { headers }),
      ({ status, body }) => status === 200 && body.delivery_status === 'no_receiver',
    );
    return encf;
  }

  async function rejected(): Promise<string> {
    await deployment.demo.fault({ operation: 'recepcion', kind: 'verdict', times: 1, verdict: REJECTION });
    const { invoice, encf } = others.next();
    expect((await deployment.demo.submit(invoice)).body.status).toBe('Rechazado');
    return encf;
  }

  const rows = (page: Page) => page.getByRole('table').last().getByRole('row');

  it('shows what happened and what to do, and each number opens the list behind it.', async () => {
    await accepted();
    const [lost, refused] = [await undeliverable(), await rejected()];
    const page = await signedIn('/console/');
    await page.getByRole('heading', { name: 'Servicios de la DGII' }).waitFor();
    await page.getByText('TesteCF está disponible').waitFor();
    await page.getByText('Consulte ese comprobante').waitFor();
    await accessible(page);

    for (const table of await page.getByRole('button', { name: 'Como tabla' }).all()) await table.click();
    await page.getByRole('table', { name: 'Últimos 30 días por estado' }).waitFor();
    await accessible(page);
    await page
      .getByRole('table', { name: 'Últimos 30 días por estado' })
      .getByRole('row', { name: /Rechazado/ })
      .getByRole('link')
      .click();
    await page.getByRole('link', { name: refused }).waitFor();
    expect(await rows(page).count()).toBe(2);

    await page.getByRole('link', { name: 'Resumen' }).click();
    await page.getByRole('row', { name: /1209/ }).getByRole('link', { name: '1' }).click();
    await page.getByText('1 comprobante', { exact: true }).waitFor();
    expect(page.url()).toContain('code=1209');

    await page.getByRole('link', { name: 'Resumen' }).click();
    await page.getByRole('link', { name: '1 entrega por atender' }).click();
    await page.getByRole('row', { name: lost }).getByText('no tiene dirección').waitFor();
    await accessible(page);
    await page.getByRole('button', { name: `Ver el acuse ${lost}` }).click();
    await page.getByText('El comprador no ha devuelto un acuse.').waitFor();
    await accessible(page);
    await page.keyboard.press('Escape');
    await page.getByLabel('Entrega', { exact: true }).selectOption('Pendiente');
    await page.getByText('Ninguna entrega está en este estado').waitFor();
    await accessible(page);

    await page.getByLabel('Contribuyente').selectOption(deployment.running.demo.buyer_rnc);
    await page.getByRole('link', { name: 'Resumen' }).click();
    await page.getByRole('link', { name: /^\d+ por responder$/ }).click();
    await page.waitForURL(/received\?status=pending/);
    await page.goBack();
    await page.getByRole('table', { name: 'Mayores suplidores, 30 días' }).getByRole('link').click();
    await page.waitForURL((url) => url.search.includes(`provider=${deployment.running.demo.issuer_rnc}`));
    await page.getByRole('row').nth(1).waitFor();
  });

  it('shows the acknowledgement that a buyer returned, and saves its XML.', async () => {
    const encf = await accepted();
    const page = await signedIn(`/console/deliveries?state=delivered`);
    await page.getByRole('button', { name: `Ver el acuse ${encf}` }).click();
    await page.getByText('188888885').first().waitFor();
    await accessible(page);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Descargar XML del acuse' }).click(),
    ]);
    expect(await readFile(await file.path(), 'utf8')).toContain('<ARECF');
  });

  it('opens an invoice by its e-NCF or trackId, and finds others by RNC, name, reference and amount.', async () => {
    const encf = await accepted();
    const other = await undeliverable();
    const headers = { 'rnc-issuing': deployment.running.demo.issuer_rnc };
    const { track_id: trackId } = (await deployment.demo.call('GET', `/invoices/${encf}`, { headers })).body;
    const page = await signedIn('/console/invoices');
    const find = async (text: string) => {
      await page.getByLabel('Buscar comprobante').fill(text);
      await page.keyboard.press('Enter');
    };
    for (const text of [encf.toLowerCase(), trackId]) {
      await find(text);
      await page.getByRole('heading', { name: encf }).waitFor();
      await page.getByRole('link', { name: 'Emitidos' }).first().click();
    }
    await find('00000000-0000-4000-8000-000000000000');
    await page.getByText('No se encontró lo que busca').waitFor();
    await accessible(page);

    for (const [text, address] of [
      ['1-01-01010-2', 'buyer=101010102'],
      ['ferreteria nanez', 'name=ferreteria+nanez'],
      ['#FACT-77', 'reference=FACT-77'],
    ] as const) {
      await find(text);
      await page.waitForURL((url) => url.search.includes(address));
      await page.getByRole('link', { name: other }).waitFor();
      await page.getByRole('link', { name: encf }).waitFor({ state: 'detached' });
    }
    await find('FACT-77');
    await page.getByText('Ningún comprobante cumple').waitFor();
    await page.getByRole('link', { name: 'como referencia' }).click();
    await page.getByRole('link', { name: other }).waitFor();

    await page.getByText('Más filtros').click();
    await page.getByLabel('Monto mínimo').fill('0.01');
    await page.getByLabel('Entrega', { exact: true }).selectOption('El comprador no tiene receptor');
    await page.getByLabel('Fechas').selectOption('De emisión');
    await page.getByLabel('Desde').fill('2026-01-01');
    await page.getByRole('button', { name: 'Buscar', exact: true }).click();
    await page.waitForURL(/delivery=no_receiver/);
    await page.reload();
    expect(await page.getByLabel('Monto mínimo').inputValue()).toBe('0.01');
    await accessible(page);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Descargar CSV' }).click(),
    ]);
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n');
    expect(lines.slice(1).map((line) => line.includes('FACT-77'))).toEqual(lines.slice(1).map(() => true));

    await page.getByRole('row', { name: other }).click();
    await page.getByRole('heading', { name: other }).waitFor();
  });

  it('is in English, narrow and dark, and offers only what the scopes of the key allow.', async () => {
    const { body } = await deployment.demo.call('GET', '/account');
    const created = await deployment.demo.admin('POST', `/accounts/${body.account.id}/api-keys`, {
      name: 'receives only',
      environments: ['TesteCF'],
      scopes: ['receive'],
    });
    const narrow = {
      ...({ locale: 'en-US', colorScheme: 'dark', reducedMotion: 'reduce' } as const),
      viewport: { width: 390, height: 844 },
    };
    const page = await signedIn('/console/', narrow, created.body.key);
    await page.getByRole('heading', { name: 'Approvals awaited' }).waitFor();
    await page.getByRole('heading', { name: 'Largest providers' }).waitFor();
    for (const name of ['Last 30 days by status', 'Rejections by code', 'Services of the DGII', 'Largest buyers'])
      expect(await page.getByRole('heading', { name }).count()).toBe(0);
    await accessible(page);

    const full = await signedIn('/console/', narrow);
    await full.getByRole('heading', { name: 'Services of the DGII' }).waitFor();
    await full.getByRole('button', { name: 'Menu' }).click();
    await accessible(full);
    await full.getByRole('button', { name: 'Close the menu' }).click();
    for (const [link, heading] of [
      ['Overview', 'Overview'],
      ['Issued', 'Issued receipts'],
      ['Received', 'Received receipts'],
      ['Deliveries', 'Deliveries to buyers'],
    ] as const) {
      await full.getByRole('button', { name: 'Menu' }).click();
      await full.getByRole('link', { name: link, exact: true }).click();
      await full.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'hidden' });
      await full.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await accessible(full);
      expect(await full.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    }
  });
});
