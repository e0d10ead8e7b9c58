import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessible, area, type Console } from '../../support/console.js';
import { until } from '../../support/until.js';

/** A key of the demo account, made by an administrator, with its id. */
async function newKey({ deployment }: Console, scopes: readonly string[]): Promise<{ id: string; key: string }> {
  const { demo } = deployment;
  const { id } = (await demo.call('GET', '/account')).body.account;
  const settings = { name: 'Mostrador', environments: ['TesteCF'], scopes };
  return (await demo.admin('POST', `/accounts/${id}/api-keys`, settings)).body;
}

/** An account with more taxpayers than a list shows, and a key of it. */
async function accountOfMany({ deployment }: Console, count: number): Promise<string> {
  const { demo } = deployment;
  const account = (await demo.admin('POST', '/accounts', { name: 'Contadores <b>Unidos</b>' })).body;
  for (let index = 0; index < count; index += 1)
    await demo.admin('POST', `/accounts/${account.id}/taxpayers`, {
      rnc: String(131_500_000 + index),
      name: `Colmado Número ${index}`,
    });
  const settings = { name: 'Todo', environments: ['TesteCF'] };
  return (await demo.admin('POST', `/accounts/${account.id}/api-keys`, settings)).body.key;
}

const typed = (page: Page) => page.getByRole('searchbox');

export const frame = area('the frame of the console', (console) => {
  const { deployment, open, signIn, signedIn, accepted } = console;
  const path = (rest: string) => `${deployment.running.demo.base_url}/console/${rest}`;

  it('leads a keyboard past the side, to the heading of each page, and names the window.', async () => {
    const page = await signedIn('/console/');
    await page.getByRole('heading', { name: 'Resumen' }).waitFor();
    await until(page.title.bind(page), (title) => title === 'Resumen · Sandbox');
    await page.locator('body').press('Tab');
    await page.getByRole('link', { name: 'Ir al contenido' }).press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('page');
    await page.getByRole('link', { name: 'Emitidos' }).press('Enter');
    await page.locator('h1:focus').getByText('Comprobantes emitidos').waitFor();
    await until(page.title.bind(page), (title) => title === 'Emitidos · Sandbox');
    await page.goto(path('no/existe'));
    await page.getByRole('heading', { name: 'Esta página no existe' }).waitFor();
    await accessible(page);
    await page.getByRole('link', { name: 'Ir al resumen' }).press('Enter');
    await page.getByRole('heading', { name: 'Resumen' }).waitFor();
  });

  it('offers the pages of the scopes, and ends with a key that is revoked.', async () => {
    const { id, key } = await newKey(console, ['receive']);
    const page = await signedIn('/console/invoices', undefined, key);
    await page.getByText('no incluye esta página').waitFor();
    await accessible(page);
    expect(await page.getByRole('navigation').getByRole('link').allInnerTexts()).toEqual(['Resumen', 'Recibidos']);
    const { id: account } = (await deployment.demo.call('GET', '/account')).body.account;
    await deployment.demo.admin('DELETE', `/accounts/${account}/api-keys/${id}`);
    await page.getByRole('link', { name: 'Recibidos' }).click();
    await page.getByText('La sesión terminó').waitFor();
    await page.locator('input[name=key]').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('fue revocada').waitFor();
    await accessible(page);
  });

  it('keeps what was typed for the same key, in each tab, and shows nothing of it to another key.', async () => {
    const page = await signedIn('/console/invoices');
    const other = await page.context().newPage();
    await other.goto(path('invoices'));
    for (const tab of [page, other]) await typed(tab).fill('FACT-1000');
    await page.context().clearCookies();
    await page.getByRole('link', { name: 'Recibidos' }).hover();
    await page.evaluate("new BroadcastChannel('ecf.session').postMessage(null)");
    await other.getByText('La sesión terminó').waitFor();
    await signIn(other);
    expect(await typed(other).inputValue()).toBe('FACT-1000');
    const { key } = await newKey(console, ['read']);
    await other.context().clearCookies();
    await other.evaluate("new BroadcastChannel('ecf.session').postMessage(null)");
    await page.getByText('La sesión terminó').waitFor();
    await signIn(page, key);
    for (const tab of [page, other]) {
      await tab.getByText('Mostrador').waitFor();
      expect(await typed(tab).inputValue()).toBe('');
    }
  });

  it('asks for a sign-in over a dialog whose act was refused, which can then be repeated.', async () => {
    const encf = await accepted();
    const page = await signedIn('/console/received');
    await page.getByLabel('Contribuyente').selectOption(deployment.running.demo.buyer_rnc);
    const row = page.getByRole('row').filter({ hasText: encf });
    await row.getByRole('button', { name: 'Rechazar' }).click();
    await page.getByLabel('Otro motivo').fill('No es de nuestra orden.');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Rechazar por este motivo' }).click();
    await page.getByText('La sesión terminó').last().waitFor();
    await signIn(page);
    await page.getByRole('button', { name: 'Intentar de nuevo' }).click();
    await row.getByText('Rechazado').waitFor();
    await page.getByRole('link', { name: 'Resumen' }).click();
    await page.goBack();
    await row.getByText('Rechazado').waitFor();
  });

  it('says that the server is out of reach, keeps what was typed, and continues by itself.', async () => {
    const page = await signedIn('/console/invoices');
    await typed(page).fill('FACT-1000');
    await page.context().setOffline(true);
    await page.getByText('Sin conexión con el servidor').waitFor();
    await accessible(page);
    await page.context().setOffline(false);
    await page.getByText('Sin conexión con el servidor').waitFor({ state: 'detached' });
    expect(await typed(page).inputValue()).toBe('FACT-1000');
  });

  it('says how far the lists are behind.', async () => {
    const page = await open('/console/invoices');
    await page.route('**/invoices?*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), 'x-read-model-lag-ms': '42000' } });
    });
    await signIn(page);
    await page.getByText('el último cambio tardó 42 s').waitFor();
    await accessible(page);
  });

  it('offers to load a page whose file a newer version has replaced.', async () => {
    const page = await open('/console/');
    await page.route(/\/assets\/received-/, (route) => route.fulfill({ status: 404 }));
    await signIn(page);
    await page.getByRole('link', { name: 'Recibidos' }).click();
    await page.getByRole('heading', { name: 'No se pudo mostrar esta página' }).waitFor();
    await accessible(page);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Cargar de nuevo' }).click();
    await page.getByRole('heading', { name: 'Comprobantes recibidos' }).waitFor();
  });

  it('finds one of many taxpayers by its name or RNC, and shows names as text.', async () => {
    const page = await signedIn('/console/', undefined, await accountOfMany(console, 101));
    await page.getByText('Contadores <b>Unidos</b>').waitFor();
    await page.getByRole('button', { name: 'Contribuyente' }).press('Enter');
    await page.getByText('Se muestran los primeros 20 de 101').waitFor();
    await accessible(page);
    await page.getByLabel('Nombre o RNC').fill('1-31-50010-0');
    await page.getByText('1 contribuyente', { exact: true }).waitFor();
    await page.getByLabel('Nombre o RNC').fill('numero 100');
    await page.getByRole('button', { name: 'Colmado Número 100' }).press('Enter');
    await page.reload();
    await page.getByRole('button', { name: 'Contribuyente' }).getByText('Colmado Número 100').waitFor();
  });
});
