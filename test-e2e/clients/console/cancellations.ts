import fs from 'node:fs';
import { expect, it } from '@jest/globals';
import { accessible, area } from '../../support/console.js';
import { until } from '../../support/until.js';

export const cancellations = area('cancellations in the console', ({ deployment, signedIn }) => {
  const listed = async () =>
    (await deployment.demo.call('GET', `/anecf?issuer_rnc=${deployment.running.demo.issuer_rnc}&limit=100`)).body;

  it('cancels several ranges in two steps with the keyboard alone, and sends a double click once.', async () => {
    const page = await signedIn('/console/cancellations');
    await page.getByText('No hay anulaciones.').waitFor();
    await accessible(page);
    await page.getByRole('link', { name: 'Anular números' }).press('Enter');
    await page.getByText('La anulación es definitiva').waitFor();
    const range = (number: number) => page.getByRole('group', { name: `Rango ${number}` });
    await range(1).getByLabel('Desde').fill('E310000008010');
    await range(1).getByLabel('Hasta').fill('8000');
    await page.getByRole('button', { name: 'Agregar rango' }).press('Enter');
    await range(2).getByLabel('Tipo').selectOption('32');
    await range(2).getByLabel('Desde').fill('E310000008005');
    await range(2).getByLabel('Desde').press('Enter');
    await page.getByText('El primer número es mayor que el último.').waitFor();
    await page.getByText('El e-NCF es de otro tipo.').waitFor();
    await accessible(page);
    await range(1).getByLabel('Desde').fill('8000');
    await range(1).getByLabel('Hasta').fill('8010');
    await range(2).getByLabel('Tipo').selectOption('31');
    await range(2).getByLabel('Desde').press('Enter');
    await page.getByText('Algunos de estos números ya están en otro rango.').waitFor();
    await range(2).getByLabel('Tipo').selectOption('32');
    await range(2).getByLabel('Desde').fill('77');
    await range(2).getByLabel('Desde').press('Enter');
    await page.getByRole('row', { name: 'E310000008000 E310000008010 31 Factura de crédito fiscal 11' }).waitFor();
    await page.getByRole('row', { name: 'E320000000077 E320000000077 32 Factura de consumo 1' }).waitFor();
    await accessible(page);
    expect(await listed()).toEqual([]);
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await page.getByRole('button', { name: 'Anular 12 números' }).dblclick();
    await page.getByText('Todos los números quedaron anulados.').waitFor();
    expect(sent).toHaveLength(1);
    await accessible(page);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Descargar XML' }).click(),
    ]);
    expect(fs.readFileSync(await file.path(), 'utf8')).toContain('E320000000077');
    expect(await listed()).toMatchObject([{ total_encf_canceled: 12, authority_status: 'Aceptado' }]);
    // “Back” leads to the list, not to the form that was sent.
    await page.goBack();
    await page.getByRole('row').filter({ hasText: 'E310000008000 – E310000008010' }).getByText('Aceptada').waitFor();
    await accessible(page);
  });

  it('says that a refused cancellation cancelled nothing, and that one without an answer may have been sent.', async () => {
    const page = await signedIn('/console/cancellations/new', {
      locale: 'en-US',
      colorScheme: 'dark',
      viewport: { width: 390, height: 844 },
    });
    await page.getByLabel('From').fill('8005');
    await page.getByLabel('Reason').fill(`<script>alert(1)</script> ${'W'.repeat(900)}`);
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Cancel 1 number' }).click();
    await page.getByRole('alert').getByText('No number was cancelled.').waitFor();
    await accessible(page);
    await page.getByRole('button', { name: 'Correct' }).click();
    await page.getByLabel('From').fill('8600');
    await page.getByRole('button', { name: 'Review' }).click();
    // The gateway takes the cancellation, but its answer is lost.
    await page.route('**/anecf', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Cancel 1 number' }).click();
    await page.getByText('The cancellation may have been sent.').waitFor();
    await page.unroute('**/anecf');
    await page.getByRole('button', { name: 'Cancel 1 number' }).click();
    await page.getByRole('alert').getByText('No number was cancelled.').waitFor();
    await until(listed, (all) => all.length === 2);
    await page.getByRole('alert').getByRole('link', { name: 'Cancellations' }).click();
    await page.getByText('<script>alert(1)</script>').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    await accessible(page);
    await page
      .getByRole('link', { name: /^Cancellation \d/ })
      .first()
      .click();
    await page.getByText('All numbers are cancelled.').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    await accessible(page);
    // What is left of a registered range is cancelled with one click.
    const [{ id }] = (await deployment.demo.admin('GET', '/accounts')).body;
    const ranges = `/accounts/${id}/taxpayers/${deployment.running.demo.issuer_rnc}/ranges`;
    const range = { env: 'TesteCF', ecf_type: '33', from: 'E330000000001', to: 'E330000000050' };
    expect((await deployment.demo.admin('PUT', ranges, [range])).status).toBe(200);
    await page.goto(`${deployment.running.demo.base_url}/console/cancellations/new`);
    await page.getByRole('button', { name: 'Cancel the rest' }).click();
    await accessible(page);
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('row', { name: 'E330000000001 E330000000050' }).waitFor();
    await page.getByRole('button', { name: 'Cancel 50 numbers' }).waitFor();
    // A key that only reads sees the list without the form.
    const rights = { name: 'auditoría', environments: ['TesteCF'], scopes: ['read'] };
    const { key } = (await deployment.demo.admin('POST', `/accounts/${id}/api-keys`, rights)).body;
    const reader = await signedIn('/console/cancellations', {}, key);
    await reader.getByRole('row').nth(2).waitFor();
    expect(await reader.getByRole('link', { name: /Anular números|Cancel numbers/ }).count()).toBe(0);
  });
});
