import { expect, it } from '@jest/globals';
import { accessible, describeConsole } from '../../support/console.js';

describeConsole('the console in Chromium', ({ deployment, open, signIn, accepted }) => {
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

  it('shows the overview, finds an invoice by its filters, and opens its printed form.', async () => {
    const encf = await accepted();
    const page = await open('/console/');
    await signIn(page);
    await page.getByRole('heading', { name: 'Resumen' }).waitFor();
    await page.getByRole('heading', { name: 'Mayores compradores' }).waitFor();
    await accessible(page);
    await page.getByRole('link', { name: 'Emitidos' }).click();
    await page.getByLabel('Estado', { exact: true }).selectOption('Aceptado');
    await page.getByRole('button', { name: 'Buscar' }).click();
    await page.waitForURL(/status=Aceptado/);
    await accessible(page);
    await page.getByRole('link', { name: encf }).click();
    await page.getByText('Enviado a la DGII').waitFor();
    await accessible(page);
    const [printed] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith(`/invoices/${encf}/pdf`)),
      page.getByRole('button', { name: 'Abrir la representación impresa' }).click(),
    ]);
    expect(printed.headers()['content-type']).toBe('application/pdf');
  });

  it('asks for a sign-in over the page when the session ended elsewhere, and continues with what was typed.', async () => {
    const page = await open('/console/invoices');
    await signIn(page);
    await page.getByLabel('Buscar comprobante').fill('#FACT-1000');
    await page.context().clearCookies();
    await page.getByLabel('Tipo').selectOption('31');
    await page.getByRole('button', { name: 'Buscar' }).click();
    await page.getByText('La sesión terminó').waitFor();
    await signIn(page);
    expect(await page.getByLabel('Buscar comprobante').inputValue()).toBe('#FACT-1000');
  });

  it('signs out in every tab.', async () => {
    const page = await open('/console/');
    await signIn(page);
    const other = await page.context().newPage();
    await other.goto(`${deployment.running.demo.base_url}/console/invoices`);
    await other.getByRole('heading', { name: 'Comprobantes emitidos' }).waitFor();
    await page.getByRole('button', { name: 'Salir' }).click();
    await page.locator('input[name=key]').waitFor();
    await other.locator('input[name=key]').waitFor();
  });

  it('is in English for an English browser, and fits a narrow, dark screen without a scroll bar below.', async () => {
    const page = await open('/console/', {
      locale: 'en-US',
      colorScheme: 'dark',
      reducedMotion: 'reduce',
      viewport: { width: 390, height: 844 },
    });
    await signIn(page);
    for (const link of ['Overview', 'Issued', 'Received']) {
      await page.getByRole('button', { name: 'Menu' }).click();
      await accessible(page);
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'hidden' });
      await accessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    }
  });
});
