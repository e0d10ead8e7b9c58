import { expect, it } from '@jest/globals';
import { accessible, area } from '../../support/console.js';

export const sessions = area('sessions of the console', ({ deployment, open, signedIn, signIn, accepted }) => {
  it('returns after the sign-in to the page that was visited, and keeps the session over a reload.', async () => {
    const encf = await accepted();
    const page = await open(`/console/invoices/${deployment.running.demo.issuer_rnc}/${encf}`);
    await page.getByRole('heading', { name: 'Comprobantes electrónicos' }).waitFor();
    await accessible(page);
    await page.locator('input[name=key]').fill('ecf_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: encf }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: encf }).waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  it('asks for a sign-in over the page when the session ended elsewhere, and continues with what was typed.', async () => {
    const page = await signedIn('/console/invoices');
    await page.getByLabel('Buscar comprobante').fill('#FACT-1000');
    await page.context().clearCookies();
    await page.getByLabel('Tipo').selectOption('31');
    await page.getByRole('button', { name: 'Buscar' }).click();
    await page.getByText('La sesión terminó').waitFor();
    await signIn(page);
    expect(await page.getByLabel('Buscar comprobante').inputValue()).toBe('#FACT-1000');
  });

  it('signs out in every tab.', async () => {
    const page = await signedIn('/console/');
    const other = await page.context().newPage();
    await other.goto(`${deployment.running.demo.base_url}/console/invoices`);
    await other.getByRole('heading', { name: 'Comprobantes emitidos' }).waitFor();
    await page.getByRole('button', { name: 'Salir' }).click();
    await page.locator('input[name=key]').waitFor();
    await other.locator('input[name=key]').waitFor();
  });
});
