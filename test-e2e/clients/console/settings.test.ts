import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Client, testCertificate } from '../../support/client.js';
import { accessible, type Console, describeConsole } from '../../support/console.js';

const SCOPES = ['submit', 'read', 'receive', 'approve', 'cancel', 'manage'];

/** A key of the demo account, made by an administrator. */
async function newKey({ deployment }: Console, scopes = SCOPES): Promise<string> {
  const { demo } = deployment;
  const { id } = (await demo.call('GET', '/account')).body.account;
  const { status, body, text } = await demo.admin('POST', `/accounts/${id}/api-keys`, {
    name: 'Gerencia',
    environments: ['TesteCF', 'CerteCF'],
    scopes,
  });
  if (status !== 201) throw new Error(text);
  return body.key;
}

/** Expects that a secret is neither on the page nor in the address or the storage of the browser. */
async function forgotten(page: Page, secret: string): Promise<void> {
  const places = await page.evaluate(
    'document.body.innerHTML + [...document.querySelectorAll("input")].map(({ value }) => value) + location.href + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie',
  );
  expect(places).not.toContain(secret);
}

describeConsole('the settings in the console', (console) => {
  const { deployment, signedIn } = console;

  it('says who can change the settings to a person whose key lacks the scope.', async () => {
    const page = await signedIn('/console/settings');
    await page.getByText('La crea un administrador del servicio').waitFor();
    await accessible(page);
  });

  it('replaces the certificate, says in words why a file is refused, and keeps no password.', async () => {
    const page = await signedIn('/console/settings', undefined, await newKey(console));
    await page.waitForURL(/\/settings\/certificate$/);
    await page.getByText(/Quedan .* días/).waitFor();
    await accessible(page);
    const { p12, password } = testCertificate(deployment.running.demo.issuer_rnc, { validToDays: 100 });
    await page.getByLabel('Archivo del certificado').setInputFiles({ name: 'a.p12', mimeType: '', buffer: p12 });
    await page.getByLabel('Contraseña del archivo').fill('otra');
    await page.getByRole('button', { name: 'Reemplazar certificado' }).click();
    await page.getByRole('alert').getByText('La contraseña no abre el archivo').waitFor();
    expect(await page.getByLabel('Contraseña del archivo').inputValue()).toBe('');
    await accessible(page);
    await page.getByLabel('Contraseña del archivo').fill(password);
    await page.getByLabel('Contraseña del archivo').press('Enter');
    await page.getByText('Certificado guardado').waitFor();
    await page.getByText('Quedan 99 días').waitFor();
    await forgotten(page, password);
  });

  it('creates a key, shows it once, replaces it with an overlap, and revokes it after a second step.', async () => {
    const page = await signedIn('/console/settings/keys', undefined, await newKey(console));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Crear clave' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Nombre').fill('ERP <script>alert(1)</script>');
    await dialog.getByLabel('Emitir comprobantes').uncheck();
    await dialog.getByLabel('CerteCF').uncheck();
    await accessible(page);
    await dialog.getByRole('button', { name: 'Crear clave' }).click();
    const made = await dialog.getByLabel('Secreto').inputValue();
    await accessible(page);
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Copiar' }).click();
    await dialog.getByRole('button', { name: 'Copiado' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(made);
    await dialog.getByRole('button', { name: 'Ya lo guardé' }).press('Enter');
    await forgotten(page, made);
    const own = new Client(deployment.running, made);
    expect((await own.call('GET', '/account')).body).toMatchObject({
      environments: ['TesteCF'],
      key: { expires_at: null },
    });
    expect((await own.call('GET', '/obtain_token')).body.code).toBe('missing_scope');

    const row = page.getByRole('row').filter({ hasText: 'ERP <script>' });
    await row.getByRole('checkbox').check();
    await row.getByRole('button', { name: 'Reemplazar' }).press('Enter');
    await dialog.getByLabel('La clave actual termina').selectOption('En una hora');
    await accessible(page);
    await dialog.getByRole('button', { name: 'Reemplazar' }).press('Enter');
    const next = await dialog.getByLabel('Secreto').inputValue();
    await dialog.getByRole('button', { name: 'Ya lo guardé' }).press('Enter');
    for (const key of [made, next])
      expect((await new Client(deployment.running, key).call('GET', '/account')).status).toBe(200);

    const newest = row.filter({ hasText: 'No vence' });
    await newest.getByRole('button', { name: 'Revocar' }).press('Enter');
    await dialog.getByText('¿Revocar la clave de ERP').waitFor();
    await accessible(page);
    await page.keyboard.press('Escape');
    expect((await new Client(deployment.running, next).call('GET', '/account')).status).toBe(200);
    await newest.getByRole('button', { name: 'Revocar' }).press('Enter');
    await dialog.getByRole('button', { name: 'Revocar clave' }).click();
    await newest.waitFor({ state: 'detached' });
    expect((await new Client(deployment.running, next).call('GET', '/account')).status).toBe(401);
    await page.getByRole('button', { name: 'Mostrar también' }).click();
    await page.getByText(/Revocada el/).waitFor();
    await accessible(page);
  });

  it('warns before the key of the session is revoked, and then asks for another sign-in.', async () => {
    const page = await signedIn('/console/settings/keys', undefined, await newKey(console));
    const row = page.getByRole('row').filter({ hasText: 'Usted entró con esta clave' });
    await row.getByRole('button', { name: 'Revocar' }).click();
    await page.getByText('su sesión termina también').waitFor();
    await page.getByRole('button', { name: 'Revocar clave' }).click();
    await page.getByText('La sesión terminó').waitFor();
  });
});
