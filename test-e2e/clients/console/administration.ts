import { expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { testCertificate } from '../../support/client.js';
import { accessible, area } from '../../support/console.js';
import { embeddedDatabase } from '../../support/deployment/embedded-database.js';
import { Numbering } from '../../support/documents/documents.js';
import { until } from '../../support/until.js';

const ENGLISH: BrowserContextOptions = {
  locale: 'en-GB',
  viewport: { width: 390, height: 800 },
  colorScheme: 'dark',
};

export const administration = area('the administration in the console', ({ deployment, open, signedIn }) => {
  async function enter(page: Page, token = deployment.running.demo.admin_token): Promise<void> {
    await page.locator('input[name=key]').fill(token);
    await page.keyboard.press('Enter');
  }

  async function administration(path = '', options?: BrowserContextOptions): Promise<Page> {
    const page = await signedIn(`/console/admin/${path}`, options);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    return page;
  }

  /** Opens the taxpayer of an account, and stores its certificate and a range. */
  async function settleTaxpayer(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Ferretería Ficticia, SRL' }).press('Enter');
    await page.getByText('no tiene certificado').waitFor();
    const { p12, password } = testCertificate('131888882');
    await page.getByLabel('Archivo del certificado').setInputFiles({ name: 'a.p12', mimeType: '', buffer: p12 });
    await page.getByLabel('Contraseña del archivo').fill(password);
    await page.getByRole('button', { name: 'Guardar certificado' }).press('Enter');
    await page.getByText('Certificado guardado').waitFor();
    await page.getByRole('button', { name: 'Agregar rango' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Primera secuencia').fill('1');
    await dialog.getByLabel('Última secuencia').fill('50');
    await dialog.getByRole('button', { name: 'Revisar' }).press('Enter');
    await dialog.getByRole('button', { name: 'Agregar rango' }).press('Enter');
    await row(page, 'E310000000001').waitFor();
    await accessible(page);
  }

  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

  it('opens to the token of an administrator only, and not to the key of an account.', async () => {
    const page = await open('/console/admin/');
    await page.getByText('Use su token de administrador').waitFor();
    await accessible(page);
    await enter(page, deployment.running.demo.api_key);
    await page.getByRole('alert').waitFor();
    // A session of an account does not open it either.
    await page.goto(`${deployment.running.demo.base_url}/console/`);
    await enter(page, deployment.running.demo.api_key);
    await page.getByRole('heading', { name: 'Resumen' }).waitFor();
    await page.goto(`${deployment.running.demo.base_url}/console/admin/accounts`);
    await page.getByText('Use su token de administrador').waitFor();
    await enter(page);
    await page.getByRole('heading', { name: 'Cuentas' }).waitFor();
  });

  it('lets an owner make an account, a taxpayer and a viewer, with the keyboard; the viewer sees no acts.', async () => {
    const page = await administration('accounts');
    await page.getByRole('button', { name: 'Crear cuenta' }).press('Enter');
    await page.keyboard.type('Ferretería Ficticia');
    await accessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Ferretería Ficticia' }).press('Enter');
    await page.getByRole('heading', { name: 'Ferretería Ficticia' }).waitFor();
    await page.getByRole('button', { name: 'Crear contribuyente' }).press('Enter');
    await page.keyboard.type('1-31-88888-2');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Ferretería Ficticia, SRL');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await settleTaxpayer(page);
    await page.goBack();
    await row(page, 'Ferretería Ficticia, SRL').getByRole('button', { name: 'Desactivar' }).press('Enter');
    await page.getByRole('dialog').getByText('No se borra nada').waitFor();
    await accessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Desactivar' }).press('Enter');
    await row(page, 'Ferretería Ficticia, SRL').getByText('Inactivo').waitFor();
    await accessible(page);

    await page.getByRole('button', { name: 'Crear clave' }).press('Enter');
    await page.getByRole('dialog').getByLabel('Nombre').fill('Facturación');
    await accessible(page);
    await page.keyboard.press('Enter');
    const key = await page.getByLabel('Secreto').inputValue();
    await page.getByRole('button', { name: 'Ya lo guardé' }).click();
    await row(page, 'Facturación').waitFor();
    await page.getByRole('button', { name: 'Crear webhook' }).press('Enter');
    await page.getByRole('dialog').getByLabel('Dirección').fill('http://127.0.0.1:9/events');
    await page.getByRole('dialog').getByRole('button', { name: 'Guardar webhook' }).press('Enter');
    await page.getByRole('button', { name: 'Ya lo guardé' }).click();
    await page.getByText('Todavía sin entregas').waitFor();
    expect(await page.content()).not.toContain(key);
    const own = await deployment.demo.call('GET', '/account', { headers: { 'x-api-key': key } });
    expect(own.body).toMatchObject({ account: { name: 'Ferretería Ficticia' }, environments: ['TesteCF', 'CerteCF'] });

    await page.getByRole('link', { name: 'Administradores' }).press('Enter');
    await page.getByRole('button', { name: 'Crear administrador' }).press('Enter');
    await page.getByLabel('Nombre').fill('Vera');
    await accessible(page);
    await page.keyboard.press('Enter');
    const token = await page.getByLabel('Secreto').inputValue();
    await accessible(page);
    await page.getByRole('button', { name: 'Ya lo guardé' }).click();
    await row(page, 'Vera').getByText('Consulta').waitFor();
    expect(await page.content()).not.toContain(token);
    await accessible(page);

    await page.getByRole('button', { name: 'Salir' }).click();
    await page.getByText('Use su token de administrador').waitFor();
    await enter(page, token);
    await page.getByRole('link', { name: 'Cuentas' }).click();
    await page.getByRole('link', { name: 'Ferretería Ficticia' }).click();
    await row(page, 'Ferretería Ficticia, SRL').waitFor();
    await page.getByText('Vera').waitFor();
    await page.getByText('Todavía sin entregas').waitFor();
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual([]);
    expect(await page.getByRole('link', { name: 'Administradores' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Ferretería Ficticia, SRL' }).click();
    await row(page, 'E310000000001').waitFor();
    await page.getByText('no tiene logo').waitFor();
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual([]);
    await accessible(page);
  });

  it('verifies the audit log as a chain of hashes, filters it, and names an entry that was changed.', async () => {
    await deployment.demo.admin('POST', '/accounts', { name: 'Cuenta para la auditoría' });
    const page = await administration('audit');
    await page.getByText(/Las entradas 1 a \d+ están íntegras y en orden/).waitFor();
    await page.getByRole('button', { name: 'Verificar toda la cadena' }).click();
    await page.getByText(/La cadena está íntegra de la entrada 1 a la \d+/).waitFor();
    await page.locator('summary').first().click();
    await accessible(page);
    await page.getByLabel('Acción').fill('account.create');
    await page.keyboard.press('Enter');
    await page.waitForURL(/action=account\.create/);
    await page.getByText(/entradas mostradas están íntegras/).waitFor();
    await until(
      () => page.locator('tbody tr').evaluateAll((rows) => rows.map((one) => one.textContent ?? '')),
      (rows) => rows.length > 0 && rows.every((text) => text.includes('account.create')),
    );
    await accessible(page);

    await page.route('**/admin/audit?*', async (route) => {
      const answer = await route.fetch();
      const body = await answer.json();
      body.entries.at(-1).actor = 'Somebody else';
      await route.fulfill({ response: answer, json: body });
    });
    await page.goto(`${deployment.running.demo.base_url}/console/admin/audit`);
    await page.getByText(/La entrada \d+ fue cambiada/).waitFor();
    await page.getByRole('button', { name: 'Verificar toda la cadena' }).click();
    await until(
      () => page.getByText(/La entrada \d+ fue cambiada/).count(),
      (count) => count === 2,
    );
    await accessible(page);
  });

  it('shows what needs a person, in English on a narrow, dark screen, and records what the person found.', async () => {
    const { demo, running } = deployment;
    const { issuer_rnc } = running.demo;
    // In CerteCF the authority cannot be queried after a lost answer.
    const { invoice, encf } = new Numbering({ rnc: issuer_rnc, name: 'Comercial Palma Ficticia, SRL' }).next();
    await demo.fault({ operation: 'recepcion', kind: 'reset-after', times: 1 });
    await demo.submit(invoice, { env: 'CerteCF' });
    const numbers = { encf_desde: 'E310000500001', encf_hasta: 'E310000500009' };
    await demo.fault({ operation: 'anulacionrangos', kind: 'reset-after', times: 1 });
    await demo.call('POST', '/anecf', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        issuer_rnc,
        authority_environment: 'TesteCF',
        detail_lines: [{ line_number: 1, ecf_type: '31', sequence_ranges: [numbers] }],
      }),
    });
    await addDeadLetter();
    const listed = async (path: string, list: string) => (await demo.admin('GET', path)).body?.[list]?.length > 0;
    await until(() => listed('/documents/alarmed', 'documents'), Boolean);
    await until(() => listed('/cancellations/doubtful', 'cancellations'), Boolean);

    const page = await administration('', ENGLISH);
    await page.getByText('A service could not handle events').waitFor();
    const runbook = page.getByRole('link', { name: /What to do EcfDocumentNeedsPerson/ });
    expect(await runbook.getAttribute('href')).toBe('/docs/guide/runbooks/submissions#ecfdocumentneedsperson');
    await accessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await row(page, 'made-up').getByRole('button', { name: 'Dismiss' }).click();
    await page.getByLabel('Reason').fill('A later event has the same content.');
    await accessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('The services handled all events.').waitFor();

    const to = (path: string) => page.goto(`${running.demo.base_url}/console/admin/${path}`);
    // A document that was not sent because its file is lost has no outcome to record.
    const lost = { encf: 'E310000000909', alarm: 'document-lost', state: 'committed' };
    await page.route('**/admin/documents/alarmed*', async (route) => {
      const response = await route.fetch();
      const { documents, next } = await response.json();
      const all = documents.flatMap((document: object) => [document, { ...document, ...lost }]);
      await route.fulfill({ response, json: { documents: all, next } });
    });
    await to('documents');
    await row(page, lost.encf).getByText('The stored XML cannot be read.').waitFor();
    expect(await row(page, lost.encf).getByRole('button').count()).toBe(0);
    await row(page, encf).getByRole('button', { name: 'Resolve' }).click();
    await page.getByLabel('What did you find?').selectOption('resend');
    await accessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('No receipt waits for a person.').waitFor();

    await to('cancellations');
    await row(page, 'E310000500001').getByRole('button', { name: 'Settle' }).click();
    await page.getByLabel('What did you find?').selectOption('partial');
    await page.getByLabel('Numbers that are not annulled').fill('E310000500001\nE310000500003 E310000500004');
    await page.getByLabel('Reason').fill('The portal shows six numbers.');
    await accessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Settle' }).click();
    await page.getByText('No cancellations.').waitFor();
    await page.getByRole('link', { name: 'Settled' }).click();
    await row(page, 'The portal shows six numbers.').waitFor();
    await accessible(page);

    await to('deployment');
    await page.getByText('Everything is sealed with it').waitFor();
    await accessible(page);
    await page.getByRole('button', { name: 'Rebuild' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rebuild' }).click();
    await until(
      async () => (await demo.admin('GET', '/rebuilds/query')).body,
      ({ building, finished_at }) => !building && finished_at !== null,
    );
    await page.getByText('Complete').waitFor();
    for (const path of ['deliveries', 'approvals', 'approvals?show=undelivered']) {
      await to(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await accessible(page);
    }
  });

  /** Adds an event that no consumer handles. */
  async function addDeadLetter(): Promise<void> {
    const database = embeddedDatabase(deployment.dataDir, 'approvals');
    const event = { id: 'made-up', topic: 'invoices.v1', type: 'invoice.changed', key: 'TesteCF:made-up' };
    await database.query(
      `INSERT INTO dead_letters (consumer_group, event_id, topic, event, reason, attempts)
       VALUES ('made-up', $1, $2, $3, 'Error: made up', 6)`,
      [event.id, event.topic, JSON.stringify(event)],
    );
    await database.close();
  }
});
