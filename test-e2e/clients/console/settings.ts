import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { Client, testCertificate } from '../../support/client.js';
import { accessible, area, type Console, drop } from '../../support/console.js';
import { until } from '../../support/until.js';

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

export const settings = area('the settings in the console', (console) => {
  const { accepted, deployment, signedIn } = console;

  it('says who can change the settings to a person whose key lacks the scope.', async () => {
    const page = await signedIn('/console/settings');
    await page.getByText('pida al responsable de la cuenta').waitFor();
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

  it('registers a range after a look at what changes, and removes used numbers only with express consent.', async () => {
    const page = await signedIn('/console/settings/ranges', undefined, await newKey(console));
    const dialog = page.getByRole('dialog');
    const describe = async (from: string, to: string) => {
      await dialog.getByLabel('Primera secuencia').fill(from);
      await dialog.getByLabel('Última secuencia').fill(to);
      await dialog.getByRole('button', { name: 'Revisar' }).press('Enter');
    };
    await page.getByText('No hay rangos registrados').waitFor();
    await accessible(page);
    await page.getByRole('button', { name: 'Agregar rango' }).press('Enter');
    await describe('20', 'E310000000010');
    await dialog.getByText('no puede ser mayor que la última').waitFor();
    await accessible(page);
    await describe('1', 'E310000001000');
    await dialog.getByText('Se registran 1,000 secuencias más.').waitFor();
    await accessible(page);
    await dialog.getByRole('button', { name: 'Agregar rango' }).press('Enter');
    const row = page.getByRole('row').filter({ hasText: 'E310000000001' });
    await row.getByText('999', { exact: true }).waitFor();
    await accessible(page);

    await accepted();
    await page.reload();
    await row.getByText('998', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Cambiar' }).press('Enter');
    await describe('501', 'E310000001000');
    await dialog.getByText('500 secuencias dejan de estar registradas').waitFor();
    await dialog.getByRole('button', { name: 'Cambiar' }).press('Enter');
    await dialog.getByRole('alert').getByText('deja fuera secuencias que ya se usaron').waitFor();
    expect(await dialog.getByRole('button', { name: 'Cambiar' }).isDisabled()).toBe(true);
    await accessible(page);
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Cambiar' }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    const changed = page.getByRole('row').filter({ hasText: 'E310000000501 a' });
    await changed.getByRole('button', { name: 'Quitar' }).press('Enter');
    await dialog.getByText('Es el único rango').waitFor();
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Quitar' }).press('Enter');
    await page.getByText('No hay rangos registrados').waitFor();
  });

  it('does not overwrite ranges that another person changed meanwhile.', async () => {
    const key = await newKey(console);
    const page = await signedIn('/console/settings/ranges', undefined, key);
    await page.getByRole('button', { name: 'Agregar rango' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Primera secuencia').fill('1');
    await dialog.getByLabel('Última secuencia').fill('5');
    await dialog.getByRole('button', { name: 'Revisar' }).click();
    const client = new Client(deployment.running, key);
    const path = `/account/taxpayers/${deployment.running.demo.issuer_rnc}/ranges`;
    const put = (body: object[]) =>
      client.call('PUT', `${path}?remove=true`, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const other = { env: 'TesteCF', ecf_type: '44', from: 'E440000000001', to: 'E440000000009' };
    expect((await put([other])).status).toBe(200);
    await dialog.getByRole('button', { name: 'Agregar rango' }).click();
    await dialog.getByText('Otra persona cambió los rangos').waitFor();
    expect((await client.call('GET', path)).body).toMatchObject([other]);
    await put([]);
  });

  it('stores a logo, shows it on a printed form, says in words why a file is refused, and removes it.', async () => {
    const encf = await accepted();
    const page = await signedIn('/console/settings/logo', undefined, await newKey(console));
    const choose = (name: string, mimeType: string, buffer: Buffer) =>
      page.getByLabel('Imagen').setInputFiles({ name, mimeType, buffer });
    await page.getByText('no tiene logo').waitFor();
    await choose('logo.gif', 'image/gif', Buffer.from('GIF89a'));
    await page.getByRole('alert').getByText('no es PNG ni JPEG').waitFor();
    const png = PNG.sync.write(new PNG({ width: 90, height: 30, fill: true }));
    const interlaced = Buffer.from(png);
    interlaced.writeUInt8(1, 28);
    await choose('logo.png', 'image/png', interlaced);
    await page.getByRole('button', { name: 'Guardar logo' }).press('Enter');
    await page.getByRole('alert').getByText('El PNG es entrelazado').waitFor();
    await accessible(page);
    await drop(page, 'logo.png', png, 'image/png');
    await page.getByRole('img', { name: 'Logo elegido' }).waitFor();
    await page.getByRole('button', { name: 'Guardar logo' }).press('Enter');
    await page.getByText('Logo guardado').waitFor();
    await page.getByRole('img', { name: 'Logo actual' }).waitFor();
    await accessible(page);
    const [printed] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/pdf')),
      page.getByRole('button', { name: `Ver impreso en ${encf}` }).click(),
    ]);
    expect(printed.headers()['content-type']).toBe('application/pdf');
    await page.getByRole('button', { name: 'Quitar logo' }).click();
    await accessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Quitar logo' }).click();
    await page.getByText('no tiene logo').waitFor();
  });

  it('creates a webhook, tests it, replays events, changes its secret, deactivates and deletes it.', async () => {
    const calls: { type: string; id: string }[] = [];
    const receiver = createServer(async (req, res) => {
      calls.push(JSON.parse(Buffer.concat(await req.toArray()).toString()));
      res.writeHead(204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
      const page = await signedIn('/console/settings/webhooks', undefined, await newKey(console));
      const dialog = page.getByRole('dialog');
      const act = async (name: string) => {
        await dialog.waitFor({ state: 'detached' });
        await page.getByRole('article').getByRole('button', { name, exact: true }).press('Enter');
      };
      await page.getByText('No hay webhooks').waitFor();
      await accessible(page);
      await page.getByRole('button', { name: 'Crear webhook' }).press('Enter');
      await dialog.getByLabel('Dirección').fill(url);
      await dialog.getByLabel('Todos los eventos').uncheck();
      await dialog.getByLabel('Comprobante aceptado', { exact: true }).check();
      await accessible(page);
      await dialog.getByRole('button', { name: 'Guardar webhook' }).press('Enter');
      const secret = await dialog.getByLabel('Secreto').inputValue();
      expect(secret).toMatch(/^whsec_/);
      await dialog.getByRole('button', { name: 'Ya lo guardé' }).press('Enter');
      await page.getByText('Todavía sin entregas').waitFor();
      await forgotten(page, secret);

      await act('Probar');
      await page.getByText(/Su sistema respondió 204 en .* ms/).waitFor();
      expect(calls.map(({ type }) => type)).toEqual(['webhook.test']);
      await accessible(page);
      await accepted();
      await page.getByText('Funciona').waitFor();
      await act('Reenviar eventos');
      await dialog.getByLabel('Último evento que tiene su sistema').fill('900-00000000');
      await page.keyboard.press('Enter');
      await dialog.getByText('No existe ningún evento con ese identificador').waitFor();
      await accessible(page);
      const { events } = (await deployment.demo.call('GET', '/events?limit=1')).body;
      await dialog.getByLabel('Último evento que tiene su sistema').fill(events[0].id);
      await page.keyboard.press('Enter');
      await until(
        async () => calls.filter(({ id }, index) => calls.findIndex((one) => one.id === id) < index),
        ({ length }) => length > 0,
      );

      await act('Cambiar secreto');
      await accessible(page);
      await dialog.getByRole('button', { name: 'Cambiar secreto' }).press('Enter');
      const next = await dialog.getByLabel('Secreto').inputValue();
      expect(next).not.toBe(secret);
      await dialog.getByRole('button', { name: 'Ya lo guardé' }).press('Enter');
      await act('Cambiar');
      await dialog.getByLabel('Todos los eventos').check();
      await dialog.getByRole('button', { name: 'Guardar webhook' }).press('Enter');
      await page.getByRole('article').getByText('Todos los eventos').waitFor();
      await act('Desactivar');
      await dialog.getByRole('button', { name: 'Desactivar' }).press('Enter');
      await page.getByText('Inactivo').waitFor();
      await accessible(page);
      await act('Activar');
      await page.getByText('Inactivo').waitFor({ state: 'detached' });
      await act('Eliminar');
      await dialog.getByRole('button', { name: 'Eliminar' }).press('Enter');
      await page.getByText('No hay webhooks').waitFor();
      await page.getByRole('link', { name: 'Logo' }).click();
      for (const one of [secret, next]) await forgotten(page, one);
    } finally {
      receiver.close();
    }
  });

  it('begins a certification run in TesteCF, after it said what happens to the documents.', async () => {
    await accepted();
    const page = await signedIn('/console/settings/runs', undefined, await newKey(console));
    await page.getByLabel('Motivo').fill('La DGII reinició el set.');
    await accessible(page);
    await page.getByRole('button', { name: 'Iniciar corrida' }).press('Enter');
    await page.getByText('Sus secuencias quedan libres').waitFor();
    await accessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Iniciar corrida' }).press('Enter');
    await page.getByText(/Empezó la corrida 2 en TesteCF\. [1-9]\d* comprobantes? pertenecen? ahora/).waitFor();
  });

  it('is in English for an English browser, and fits a narrow, dark screen.', async () => {
    const narrow = { locale: 'en-US', colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const;
    const page = await signedIn('/console/settings', narrow, await newKey(console));
    const parts = page.getByRole('navigation', { name: 'Settings' }).getByRole('link');
    await parts.first().waitFor();
    for (const name of await parts.allInnerTexts()) {
      await parts.filter({ hasText: name }).press('Enter');
      await page.getByRole('heading', { level: 2 }).first().waitFor();
      await page.getByText('Loading…').waitFor({ state: 'detached' });
      await accessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    }
  });
});
