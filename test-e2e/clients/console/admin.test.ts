import { expect, it } from '@jest/globals';
import { accessible, describeConsole } from '../../support/console.js';

describeConsole('the administration in the console', ({ deployment, open }) => {
  it('lets an owner create an account and a taxpayer, and refuses the key of an account.', async () => {
    const page = await open('/console/admin/');
    await page.getByText('Use su token de administrador').waitFor();
    await accessible(page);
    await page.locator('input[name=key]').fill(deployment.running.demo.api_key);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.locator('input[name=key]').fill(deployment.running.demo.admin_token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Cuentas' }).waitFor();
    await accessible(page);

    await page.getByRole('button', { name: 'Crear cuenta' }).click();
    await page.getByLabel('Nombre').fill('Ferretería Ficticia');
    await accessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Ferretería Ficticia' }).click();
    await page.getByRole('heading', { name: 'Ferretería Ficticia' }).waitFor();
    await page.getByRole('button', { name: 'Crear contribuyente' }).click();
    await page.getByLabel('RNC o cédula').fill('1-31-88888-2');
    await page.getByLabel('Nombre').fill('Ferretería Ficticia, SRL');
    await page.keyboard.press('Enter');
    await page.getByRole('row').filter({ hasText: 'Ferretería Ficticia, SRL' }).waitFor();
    await accessible(page);
    expect(new URL(page.url()).pathname).toMatch(/^\/console\/admin\/accounts\//);
  });
});
