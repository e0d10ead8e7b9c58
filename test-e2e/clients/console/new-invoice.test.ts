import { expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { accessible, describeConsole } from '../../support/console.js';

/** Moves the focus with the tabulator key until it is there. */
async function tabTo(target: Locator): Promise<void> {
  await target.waitFor();
  for (let steps = 0; steps < 80; steps++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await target.page().keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${target}`);
}

/** Types a text into the field of a label, with the keyboard alone. */
async function type(page: Page, label: string, text: string, line = 0): Promise<void> {
  await tabTo(page.getByLabel(label, { exact: true }).nth(line));
  await page.keyboard.type(text);
}

describeConsole('new documents in the console', ({ deployment, signedIn }) => {
  const issuer = () => deployment.running.demo.issuer_rnc;
  const get = async (path: string) =>
    (await deployment.demo.call('GET', path, { headers: { 'rnc-issuing': issuer() } })).body;

  it('makes an invoice with the keyboard alone, under the next number of a range, and names faults at their fields.', async () => {
    const { account } = await get('/account');
    const range = { env: 'TesteCF', ecf_type: '31', from: 'E310000005001', to: 'E310000005100', expires: '2028-12-31' };
    const put = await deployment.demo.admin('PUT', `/accounts/${account.id}/taxpayers/${issuer()}/ranges`, [range]);
    expect(put.status).toBe(200);
    const page = await signedIn('/console/invoices/new');
    await page.getByText('Próximo: E310000005001').waitFor();
    await accessible(page);
    await type(page, 'RNC o cédula', '18888888');
    await type(page, 'Descripción', 'Silla plegable');
    await type(page, 'Precio unitario', '1,000');
    await page.keyboard.press('Enter');
    await page.getByText('no tiene el formato esperado. 9 u 11 dígitos').waitFor();
    await accessible(page);
    // The first field with a fault has the focus.
    await page.keyboard.press('End');
    await page.keyboard.type('5');
    await page.waitForFunction(`document.body.innerText.includes('RD$ 1,180.00')`);
    await tabTo(page.getByRole('button', { name: 'Añadir línea' }));
    await page.keyboard.press('Enter');
    await type(page, 'Descripción', 'Libro', 1);
    await type(page, 'Precio unitario', '550.00', 1);
    await type(page, 'ITBIS', 'Ex', 1);
    await page.getByText('RD$ 1,730.00').waitFor();
    await tabTo(page.getByRole('button', { name: 'Revisar' }));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Listo para enviar a la DGII' }).waitFor();
    await accessible(page);
    await tabTo(page.getByRole('button', { name: 'Enviar' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'E310000005001' }).waitFor();
    expect(await get('/invoices/E310000005001')).toMatchObject({
      status: 'Aceptado',
      total_amount: '1730.00',
      buyer_name: 'Taller Caoba Imaginario, SRL',
    });
  });
});
